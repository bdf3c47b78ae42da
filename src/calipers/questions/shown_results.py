"""What a language model gets to read: the results of every query, with what each holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from calipers.match.tally import QueryPlaces
from calipers.model.arrays import Bools, Ints
from calipers.model.fingerprint import mixed_hashes, suspected_duplicates
from calipers.model.matched import FAILED, Matched, Matches
from calipers.model.policy import Ties
from calipers.model.ranking import RankedBatch
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
    among: Bools | None = None,
) -> pl.DataFrame:
    """The first results of every query that the ground truth knows, down to ``depth``.

    ``among``: of these queries alone.

    Columns: ``query`` (its code), ``rank``, what is known of the result (``columns``: item and
    text at least); ``repeated``: the same id or the same text stood above it; ``repeats``: how
    many such stand above it. A query on which the retriever failed has no results.
    """
    known = (
        matches.queries.select("query", "status")
        .with_row_index("code")
        .filter((pl.col("status") != FAILED) & (True if among is None else pl.Series(among)))
        .select("query", pl.col("code").cast(pl.Int64))
    )
    kinds = {name: RUN_SCHEMA[name] for name in columns}
    schema = {"query": pl.Int64(), "rank": pl.Int64(), **kinds}
    nothing = pl.DataFrame(schema={**schema, "repeated": pl.Boolean(), "repeats": pl.Int64()})
    return pl.concat([nothing, *(_listed(one, known, depth, columns) for one in run.ranked(ties))])


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


@dataclass(frozen=True, eq=False)
class Context:
    """The results of some whole queries, sorted by query and rank, and what these should find.

    What a question wants to know of results, it asks of one of these at a time: of a block of the
    run here, of a partition elsewhere. Plain values only, so that it can be made anywhere.
    """

    frame: pl.DataFrame
    """code (of the query among these), rank, and item, text, document, tokens where known."""
    matches: Matches
    """Of these queries alone."""
    targets: pl.DataFrame
    """In the order in which the matches number them."""
    rel: float | None = None
    codes: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The rows of these queries among all of the ground truth."""
    target_rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The rows of their targets among all."""

    @classmethod
    def of(cls, pair: Matched) -> "Context":
        """All results of a pair, which is small."""
        found = list(contexts(pair, rows=MOST_ROWS))
        nothing = np.empty(0, dtype=np.int64)
        return found[0] if found else cls(_NO_RESULTS, *_cut(pair, pair.targets, nothing))

    @cached_property
    def code(self) -> Ints:
        """The query of each result."""
        return self.frame["code"].to_numpy()

    @cached_property
    def rank(self) -> Ints:
        """The rank of each result."""
        return self.frame["rank"].to_numpy()

    @cached_property
    def holds_target(self) -> Bools:
        """Which results hold a relevant target."""
        relevant: Bools = self.matches.relevant(self.rel)[self.matches.edge_target]
        return self._at_edges(relevant)

    @cached_property
    def judged(self) -> Bools:
        """Which results hold any target, also one that is not relevant."""
        return self._at_edges(np.ones(self.matches.edge_query.size, dtype=np.bool_))

    def _at_edges(self, which: Bools) -> Bools:
        query, rank = self.matches.edge_query[which], self.matches.edge_rank[which]
        starts, lengths = self._stretches
        there = rank <= lengths[query]
        mask = np.zeros(self.frame.height, dtype=np.bool_)
        mask[(starts[query] + rank - 1)[there]] = True
        return mask

    @cached_property
    def repeats(self) -> Bools:
        """Which results were returned before for the same query, by id or word for word."""
        return repeated(self.code, self.frame)

    @cached_property
    def _stretches(self) -> tuple[Ints, Ints]:
        """Where the results of each query begin, and how many there are."""
        lengths = np.bincount(self.code, minlength=self.matches.n_queries)
        return np.cumsum(lengths) - lengths, lengths

    def summed(self, weights: Ints | Bools, ks: Sequence[int]) -> Ints:
        """The sum over the first k results: one row per query, one column per k."""
        before = np.concatenate([[0], np.cumsum(weights, dtype=np.int64)])
        starts, lengths = self._stretches
        ends = starts[:, np.newaxis] + np.minimum(lengths[:, np.newaxis], np.array(ks))
        sums: Ints = before[ends] - before[starts][:, np.newaxis]
        return sums

    def place(self, query: Ints, rank: Ints) -> Ints:
        """The rows in which results stand."""
        return self._stretches[0][query] + rank - 1

    def above(self, weights: Bools, query: Ints, rank: Ints) -> Ints:
        """The sum over the results above a rank of a query."""
        before = np.concatenate([[0], np.cumsum(weights, dtype=np.int64)])
        starts, lengths = self._stretches
        sums: Ints = before[starts[query] + np.minimum(rank - 1, lengths[query])]
        sums -= before[starts[query]]
        return sums

    def near(self, k: int, named: pl.DataFrame | None = None) -> Bools:
        """Which targets have a chunk of their document among the first k results of their query.

        ``named``: the documents of items, for results that say none.
        """
        shown = self.first(k)
        if named is not None and not named.is_empty():
            known = shown.select("item").join(named, on="item", how="left", maintain_order="left")
            own = shown["document"] if "document" in shown.columns else pl.Series([None])
            shown = shown.with_columns(document=pl.coalesce(own, known["document"]))
        if "document" not in shown.columns:
            return np.zeros(self.targets.height, dtype=np.bool_)
        wanted = {"code": self.matches.target_query, "document": self.targets["document"]}
        there = shown.select("code", "document").drop_nulls().unique().with_columns(near=True)
        near = pl.DataFrame(wanted).join(
            there, on=["code", "document"], how="left", maintain_order="left"
        )
        return near["near"].fill_null(False).to_numpy()

    def first(self, k: int) -> pl.DataFrame:
        """The first k results of each query."""
        return self.frame.filter(pl.col("rank") <= k)


ROWS_AT_ONCE = 1 << 17
"""Results that are looked at together."""
MOST_ROWS = 1 << 62
_NO_RESULTS = pl.DataFrame(
    schema={"code": pl.Int64(), "rank": pl.Int64(), "item": pl.String(), "text": pl.String()}
)


def contexts(
    pair: Matched, rows: int | None = None, targets: pl.DataFrame | None = None
) -> Iterator[Context]:
    """The results of every query that the ground truth knows, some whole queries at a time.

    In the order of the run, which is read once more: nothing of it stays in memory. A query on
    which the retriever failed has no results. ``targets`` stand in for those of the pair, where
    more is known of them.
    """
    targets = pair.targets if targets is None else targets
    places = QueryPlaces(pair.matches.asked["query"])
    failed = pair.matches.having_status(FAILED)
    for batch in pair.run.ranked(pair.policy.ties, rows or ROWS_AT_ONCE):
        found = places.following(batch.queries)
        kept = np.flatnonzero((found >= 0) & ~failed[found])
        kept = kept[np.argsort(found[kept], kind="stable")]
        frame, lengths = batch.frame, batch.lengths[kept]
        if kept.size < found.size or (kept[1:] < kept[:-1]).any():
            within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            frame = frame[np.repeat(batch.starts[kept], lengths) + within]
            rank = within + 1
        else:
            rank = batch.rank
        if kept.size:
            numbers = [
                pl.Series("code", np.repeat(np.arange(kept.size), lengths), dtype=pl.Int64),
                pl.Series("rank", rank, dtype=pl.Int64),
            ]
            others = frame.drop("query", "rank", strict=False)
            yield Context(pl.DataFrame([*numbers, *others]), *_cut(pair, targets, found[kept]))


def _cut(
    pair: Matched, targets: pl.DataFrame, codes: Ints
) -> tuple[Matches, pl.DataFrame, float | None, Ints, Ints]:
    """What some queries should find, and what was found of it."""
    matches, rows = pair.matches.some(codes)
    together = rows.size and rows[-1] - rows[0] + 1 == rows.size
    part = targets[int(rows[0]) : int(rows[-1]) + 1] if together else targets[rows]
    return matches, part, pair.rel, codes, rows


def wanted_per_query(matches: Matches, rel: float | None = None) -> Ints:
    """How many targets each query has to find; alternatives count as one."""
    relevant = matches.relevant(rel)
    first = np.unique(matches.target_unit[relevant], return_index=True)[1]
    counts = np.bincount(matches.target_query[relevant][first], minlength=matches.n_queries)
    return counts.astype(np.int64)
