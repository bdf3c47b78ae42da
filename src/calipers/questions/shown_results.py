"""What a language model gets to read: the results of every query, with what each holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fingerprint import mixed_hashes, suspected_duplicates
from calipers.model.matched import FAILED, Matches
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import RUN_SCHEMA, Run
from calipers.questions.tokens import TokenCounts, Tokenizer, count_tokens

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


@dataclass(frozen=True, eq=False)
class Context:
    """The results of the queries of the ground truth, sorted by query and rank."""

    frame: pl.DataFrame
    """code (of the query), rank, and item, text, document, tokens where the run has them."""
    matches: Matches
    rel: float | None = None

    @classmethod
    def of(cls, run: Run, matches: Matches, *, ties: Ties | None, rel: float | None) -> Self:
        """The results of a run, as they were ranked for its matches."""
        frame = replace(run, ties=ties or run.ties).frame
        known = matches.queries.select("query", "status").with_row_index("code")
        frame = (
            frame.join(known.filter(pl.col("status") != FAILED), on="query", how="inner")
            .with_columns(pl.col("code").cast(pl.Int64))
            .sort("code", "rank")
            .drop("query", "status")
        )
        return cls(frame, matches, rel)

    @cached_property
    def code(self) -> Ints:
        """The query of each result."""
        return self.frame["code"].to_numpy().astype(np.int64)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each result."""
        return self.frame["rank"].to_numpy().astype(np.int64)

    @cached_property
    def holds_target(self) -> Bools:
        """Which results hold a relevant target."""
        matches = self.matches
        relevant = matches.relevant(self.rel)[matches.edge_target]
        edges = pl.DataFrame(
            {"code": matches.edge_query[relevant], "rank": matches.edge_rank[relevant]}
        ).unique()
        held = self.frame.select("code", "rank").join(
            edges.with_columns(held=pl.lit(True)),
            on=["code", "rank"],
            how="left",
            maintain_order="left",
        )
        mask: Bools = held["held"].fill_null(False).to_numpy()
        return mask

    @cached_property
    def repeats(self) -> Bools:
        """Which results were returned before for the same query, by id or word for word."""
        return repeated(self.code, self.frame)

    def tokens(self, tokenizer: Tokenizer | None = None) -> TokenCounts | None:
        """The tokens of every result, or None where nothing is known of them."""
        return count_tokens(self.frame, tokenizer)

    def summed(self, weights: Ints | Bools, k: int) -> Floats:
        """Per query, the sum over its first k results."""
        within = self.rank <= k
        sums = np.bincount(
            self.code[within], weights[within].astype(np.float64), self.matches.n_queries
        )
        return sums.astype(np.float64)


def wanted_per_query(matches: Matches, rel: float | None = None) -> Ints:
    """How many targets each query has to find; alternatives count as one."""
    relevant = matches.relevant(rel)
    first = np.unique(matches.target_unit[relevant], return_index=True)[1]
    counts = np.bincount(matches.target_query[relevant][first], minlength=matches.n_queries)
    return counts.astype(np.int64)
