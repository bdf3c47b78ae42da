"""The ranking of every query as it was, each result with what it holds."""

import polars as pl

from calipers.model.matches import FAILED, Matches
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import RUN_SCHEMA, Run

SHOWN = ("item", "score", "text", "document", "start", "end")


def rank_table(
    run: Run, matches: Matches, *, ties: Ties | None, depth: int, rel: float | None
) -> pl.DataFrame:
    """The first ``depth`` results of every query that the ground truth knows.

    Columns: ``query`` (its code), ``rank``, what is known of the result, ``targets`` (the numbers
    of the targets that it holds), ``grade`` (the highest of them) and ``state``: relevant, not
    relevant (judged so), repeated (stood above already) or unjudged.
    """
    known = (
        matches.queries.select("query", "status")
        .with_row_index("code")
        .filter(pl.col("status") != FAILED)
        .select("query", pl.col("code").cast(pl.Int64))
    )
    try:
        tables = [_listed(batch, known, depth) for batch in run.ranked(ties)]
    except NotGroupedError:
        tables = [_listed(batch, known, depth) for batch in run.grouped().ranked(ties)]
    listed = pl.concat(tables) if tables else _nothing()
    held = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "targets": matches.edge_target,
                "grade": matches.target_grade[matches.edge_target],
                "useful": matches.relevant(rel)[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg("targets", pl.col("grade").max(), pl.col("useful").any())
    )
    return (
        listed.join(held, on=["query", "rank"], how="left", maintain_order="left")
        .with_columns(
            state=pl.when(pl.col("useful")).then(pl.lit("relevant"))
            .when(pl.col("useful").is_not_null()).then(pl.lit("not relevant"))
            .when(pl.col("repeated")).then(pl.lit("repeated"))
            .otherwise(pl.lit("unjudged"))
        )
        .drop("useful", "repeated")
        .sort("query", "rank")
    )  # fmt: skip


def _listed(batch: RankedBatch, known: pl.DataFrame, depth: int) -> pl.DataFrame:
    frame = batch.frame.with_columns(pl.Series("rank", batch.rank, dtype=pl.Int64))
    frame = frame.filter(pl.col("rank") <= depth).with_columns(
        pl.lit(None, dtype=RUN_SCHEMA[name]).alias(name)
        for name in SHOWN
        if name not in frame.columns
    )
    return (
        frame.join(known, on="query", how="inner", maintain_order="left")
        .select(
            pl.col("code").alias("query"), "rank",
            *(pl.col(name).cast(RUN_SCHEMA[name]) for name in SHOWN),
        )
        .with_columns(repeated=_again("item") | _again("text"))
    )  # fmt: skip


def _again(column: str) -> pl.Expr:
    return pl.col(column).is_not_null() & ~pl.struct("query", column).is_first_distinct()


def _nothing() -> pl.DataFrame:
    columns = {name: RUN_SCHEMA[name] for name in SHOWN}
    return pl.DataFrame(
        schema={"query": pl.Int64(), "rank": pl.Int64(), **columns, "repeated": pl.Boolean()}
    )
