"""The results of every query as one table, with repetitions marked."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from calipers.model.arrays import Bools, Ints
from calipers.model.fingerprint import mixed_hashes, suspected_duplicates
from calipers.model.matches import FAILED, Matches
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import RUN_SCHEMA, Run

KEPT = ("item", "text", "document")
UNKNOWN = -1
"""The code of a query that the ground truth does not have, or on which the retriever failed."""


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
    codes = batch.queries.to_frame("query").join(
        known, on="query", how="left", maintain_order="left"
    )
    code = np.repeat(codes["code"].fill_null(UNKNOWN).to_numpy(), batch.lengths)
    again = repeated(np.repeat(np.arange(batch.starts.size), batch.lengths), batch.frame)
    # How many stand above a row in the batch, less those that stand above its query.
    above: Ints = np.cumsum(again, dtype=np.int64) - again.astype(np.int64)
    above = above - np.repeat(above[batch.starts], batch.lengths)
    shown = code != UNKNOWN
    if depth is not None:
        shown &= batch.rank <= depth
    rows = np.flatnonzero(shown)
    frame = batch.frame if rows.size == shown.size else batch.frame[rows]
    return frame.select(
        pl.Series("query", code[rows], dtype=pl.Int64),
        pl.Series("rank", batch.rank[rows], dtype=pl.Int64),
        *(
            pl.col(name).cast(RUN_SCHEMA[name])
            if name in frame.columns
            else pl.lit(None, dtype=RUN_SCHEMA[name]).alias(name)
            for name in columns
        ),
        pl.Series("repeated", again[rows]),
        pl.Series("repeats", above[rows], dtype=pl.Int64),
    )


def repeated(query: Ints, results: pl.DataFrame) -> Bools:
    """Which results have the id or the text of one that stood above it for the same query."""
    again = np.zeros(results.height, dtype=np.bool_)
    for column in ("item", "text"):
        if column not in results.columns or results[column].null_count() == results.height:
            continue
        known = np.flatnonzero(results[column].is_not_null().to_numpy())
        values = results[column].gather(known)
        # The few whose hashes meet are looked at; of most results there is one.
        hashes = mixed_hashes(query[known].astype(np.uint64), values.hash().to_numpy())
        few = suspected_duplicates(hashes)
        pairs = pl.DataFrame({"query": query[known[few]], "value": values.gather(few)})
        again[known[few]] |= (
            ~pairs.select(pl.struct("query", "value").is_first_distinct()).to_series().to_numpy()
        )
    return again


def _listed_nothing(columns: Sequence[str]) -> pl.DataFrame:
    known = {name: RUN_SCHEMA[name] for name in columns}
    return pl.DataFrame(
        schema={
            "query": pl.Int64(),
            "rank": pl.Int64(),
            **known,
            "repeated": pl.Boolean(),
            "repeats": pl.Int64(),
        }
    )
