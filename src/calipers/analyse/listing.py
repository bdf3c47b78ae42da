"""The results of every query as one table, with repetitions marked."""

from collections.abc import Sequence

import polars as pl

from calipers.model.matches import FAILED, Matches
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import RUN_SCHEMA, Run

KEPT = ("item", "text", "document")


def list_results(
    run: Run,
    matches: Matches,
    ties: Ties | None = None,
    depth: int | None = None,
    columns: Sequence[str] = KEPT,
) -> pl.DataFrame:
    """The first results of every query that the ground truth knows, down to ``depth``.

    Columns: ``query`` (its code), ``rank``, what is known of the result (``columns``: item and
    text at least); ``repeated``: the same id or the same text stood above it; ``repeats``: how
    many such stand above it. A query on which the retriever failed has no results.
    """
    known = (
        matches.queries.select("query", "status")
        .with_row_index("code")
        .filter(pl.col("status") != FAILED)
        .select("query", pl.col("code").cast(pl.Int64))
    )
    try:
        tables = [_listed(batch, known, depth, columns) for batch in run.ranked(ties)]
    except NotGroupedError:
        tables = [_listed(batch, known, depth, columns) for batch in run.grouped().ranked(ties)]
    return pl.concat(tables) if tables else _listed_nothing(columns)


def _listed(
    batch: RankedBatch, known: pl.DataFrame, depth: int | None, columns: Sequence[str]
) -> pl.DataFrame:
    frame = batch.frame.with_columns(pl.Series("rank", batch.rank, dtype=pl.Int64))
    if depth is not None:
        frame = frame.filter(pl.col("rank") <= depth)
    frame = frame.with_columns(
        pl.col(name).cast(RUN_SCHEMA[name])
        if name in frame.columns
        else pl.lit(None, dtype=RUN_SCHEMA[name]).alias(name)
        for name in columns
    )
    return (
        frame.join(known, on="query", how="inner", maintain_order="left")
        .select(pl.col("code").alias("query"), "rank", *columns)
        .with_columns(repeated=_again("item") | _again("text"))
        .with_columns(
            repeats=pl.col("repeated").cast(pl.Int64).cum_sum().over("query")
            - pl.col("repeated").cast(pl.Int64)
        )
    )


def _again(column: str) -> pl.Expr:
    return pl.col(column).is_not_null() & ~pl.struct("query", column).is_first_distinct()


def _listed_nothing(columns: Sequence[str]) -> pl.DataFrame:
    known = {name: RUN_SCHEMA[name] for name in columns}
    return pl.DataFrame(
        schema={
            "query": pl.Int64(), "rank": pl.Int64(), **known,
            "repeated": pl.Boolean(), "repeats": pl.Int64(),
        }
    )  # fmt: skip
