"""The recorded results of one lane, in the order of the queries asked."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import RUN_SCHEMA, Run

ROWS_AT_ONCE = 200_000
"""Results that are listed at once: the memory used beside what is kept of them."""
RARE = 0.05
"""The share of steps against the direction that the scores of a lane may have."""

ScoreOrder = Literal["scores", "distances", "equal", "unrelated", "none"]
"""What the scores of a lane are: they fall down its lists, they rise (distances, which
are turned), those of each list are equal, they follow no order, or not every result has one."""

_PLACE = ("document", "page", "start", "end")
"""What tells results apart that have neither an id nor a text."""


@dataclass(frozen=True, eq=False)
class ListedLane:
    """The results of one lane: each item of a query once, queries in the order asked."""

    rows: pl.DataFrame
    """One row per result, with its item and other columns but for score and rank."""
    score: Floats | None
    """The score of each result, from high to low; NaN where there is none."""
    start: Ints
    """The first row of each query; the last entry is the number of rows."""
    order: ScoreOrder

    @classmethod
    def of(cls, run: Run, asked: pl.Series) -> "ListedLane":
        """List what a run has for the queries asked, some rows at a time."""
        try:
            pieces = list(_pieces(run, asked))
        except NotGroupedError:
            pieces = list(_pieces(run.grouped(), asked))
        if not pieces:
            empty = pl.DataFrame(schema={"item": pl.String})
            return cls(empty, None, np.zeros(len(asked) + 1, dtype=np.int64), "scores")
        numbers = np.concatenate([piece.numbers for piece in pieces])
        counts = np.concatenate([piece.counts for piece in pieces])
        rows = pl.concat([piece.rows for piece in pieces])
        by_query = np.zeros(len(asked), dtype=np.int64)
        by_query[numbers] = counts
        start = np.concatenate([[0], np.cumsum(by_query)])
        if (np.diff(numbers) < 0).any():
            rows = rows[_sorted_rows(numbers, counts)]
        score = None
        order = score_order(rows.get_column("score", default=None), start)
        if "score" in rows.columns:
            score = rows["score"].fill_null(np.nan).to_numpy()
            score = -score if order == "distances" else score
        return cls(rows.drop("score", strict=False), score, start, order)

    @property
    def unscored(self) -> int:
        """How many results have no score."""
        return self.rows.height if self.score is None else int(np.isnan(self.score).sum())

    @property
    def depth(self) -> int:
        """The deepest rank."""
        return int(np.diff(self.start).max(initial=0))

    def slice(self, first: int, last: int) -> pl.DataFrame:
        """The number, key and rank of the results of some queries, in their order."""
        start = self.start[first : last + 1]
        counts = np.diff(start)
        rows = self.rows[int(start[0]) : int(start[-1])]
        rank = np.arange(1, rows.height + 1) - np.repeat(start[:-1] - start[0], counts)
        return rows.select(
            pl.Series("number", np.repeat(np.arange(first, last), counts)),
            key_of(rows.columns),
            pl.Series("rank", rank),
        )

    def at(self, query: Ints, rank: Ints) -> pl.DataFrame:
        """The results of these ranks of these queries."""
        places = self.start[query] + rank - 1
        if not places.size:
            return self.rows[:0]
        low = int(places.min())
        # To take rows out of a small part is quicker than out of all.
        return self.rows[low : int(places.max()) + 1][places - low]

    def scores_at(self, query: Ints, rank: Ints) -> Floats:
        """The scores of these ranks of these queries; NaN for rank 0 and without scores."""
        if self.score is None or not self.score.size:
            return np.full(rank.shape, np.nan)
        places = self.start[query] + rank - 1
        return np.where(rank > 0, self.score[np.where(rank > 0, places, 0)], np.nan)


@dataclass(frozen=True, eq=False)
class _Piece:
    """Whole queries of a run, listed."""

    numbers: Ints
    """The queries, by their place among those asked."""
    counts: Ints
    """How many results each has."""
    rows: pl.DataFrame


def _pieces(run: Run, asked: pl.Series) -> Iterator[_Piece]:
    """Yield the queries asked of a run, as they come."""
    names = asked.alias("query")
    places = pl.DataFrame([names, pl.Series("number", np.arange(len(asked)))])
    for batch in run.ranked(rows=ROWS_AT_ONCE):
        piece = _piece(batch, places)
        if piece.counts.size:
            yield piece


def _piece(batch: RankedBatch, places: pl.DataFrame) -> _Piece:
    """The queries of one batch that were asked, each item of a query once."""
    numbers = batch.queries.to_frame("query").join(
        places, on="query", how="left", maintain_order="left"
    )["number"]
    of_row = pl.Series("number", np.repeat(numbers.fill_null(-1), batch.lengths))
    kept = [
        name
        for name in RUN_SCHEMA
        if name in batch.frame.columns and name not in ("query", "rank", "call")
    ]
    frame = batch.frame.select(kept)
    if "item" not in kept:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("item"))
    if "text" in kept:
        frame = frame.with_columns(pl.coalesce("item", "text").alias("item"))
    frame = (
        frame.with_columns(of_row, key_of(frame.columns))
        .filter(pl.col("number") >= 0)
        .unique(["number", "key"], keep="first", maintain_order=True)
    )
    listed, counts = _run_lengths(frame["number"].to_numpy())
    return _Piece(listed, counts, frame.drop("number", "key"))


def _run_lengths(numbers: Ints) -> tuple[Ints, Ints]:
    """The numbers that follow one another, each once, and how often each stands."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    return numbers[starts], np.diff(starts, append=numbers.size)


def _sorted_rows(numbers: Ints, counts: Ints) -> Ints:
    """The rows of queries in the order of their numbers."""
    starts = np.cumsum(counts) - counts
    order = np.argsort(numbers, kind="stable")
    sizes = counts[order]
    shift = starts[order] - (np.cumsum(sizes) - sizes)
    rows: Ints = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
    return rows


def key_of(columns: Sequence[str]) -> pl.Expr:
    """What makes two results the same: the item, else the place in the document."""
    if "document" not in columns:
        return pl.col("item").alias("key")
    place = [
        pl.col(name).cast(pl.String).fill_null("")
        if name in columns
        else pl.lit("", pl.String)
        for name in _PLACE
    ]
    span = pl.when(pl.col("item").is_null()).then(pl.format("{}#{}:{}-{}", *place))
    return pl.coalesce("item", span).alias("key")


def score_order(scores: pl.Series | None, start: Ints) -> ScoreOrder:
    """What the scores of a lane are, whose results stand in their order."""
    if scores is None or scores.null_count():
        return "none"
    values = scores.to_numpy()
    steps = np.diff(values)
    within = np.ones(steps.size, dtype=np.bool_)
    borders = start[(start > 0) & (start < values.size)]
    within[borders - 1] = False
    rises = int(((steps > 0) & within).sum())
    falls = int(((steps < 0) & within).sum())
    if not rises + falls:
        return "equal" if within.any() else "scores"
    if rises <= RARE * (rises + falls):
        return "scores"
    return "distances" if falls <= RARE * (rises + falls) else "unrelated"
