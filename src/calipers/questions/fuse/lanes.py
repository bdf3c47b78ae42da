"""The recorded results of several lanes, side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.run import RUN_SCHEMA, Run

AT_ONCE = 300_000
"""Cells of a block of queries: the memory used beside the lists themselves."""
QUERIES_AT_ONCE = 500
"""Queries whose candidates are merged at once, for the same reason."""
FEW_RESULTS = 20
"""So few results may share nothing by chance."""
RARE = 0.05
"""The share of steps against the direction that a list of distances may have."""

Ranks: TypeAlias = NDArray[np.int32]
"""Half the memory of other whole numbers: there is one for each candidate and lane."""

ScoreOrder = Literal["scores", "distances", "unrelated", "none"]
"""What the scores of a lane are: they fall down its lists, they rise (distances, which
are turned), they follow no order, or not every result has one."""


@dataclass(frozen=True, eq=False)
class CandidateBlock:
    """Some queries as matrices: a row per query, a column per candidate, a layer per lane."""

    first: int
    """The index of its first query."""
    there: Bools
    """Which cells have a candidate: rows are padded to the widest."""
    rank: Ints
    """lane × query × candidate; 0 if the lane did not return it."""
    score: Floats
    """The same; NaN where there is none."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The candidates that several lanes returned for the same queries.

    The candidates of a query are sorted by their best rank, then by lane. Ties of a
    setting keep this order.
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    rows: pl.DataFrame
    """One row per candidate: number (of the query), item, and its other columns; the
    candidates of a query are consecutive."""
    rank: Ranks
    """candidate × lane; 0 if the lane did not return it."""
    score: Floats
    """The same; NaN where there is none."""
    start: Ints
    """The first row of each query; the last entry is the number of rows."""
    scores: tuple[ScoreOrder, ...]
    """What the scores of each lane are, by the order of its results."""

    @classmethod
    def of(cls, runs: Mapping[str, Run], asked: pl.Series) -> "Lanes":
        """Collect the lanes of some runs for the queries asked, in their order."""
        parts = [_listed(run, asked) for run in runs.values()]
        scores = tuple(score_order(part) for part in parts)
        for lane, order in enumerate(scores):
            if order == "distances":
                parts[lane] = parts[lane].with_columns(-pl.col("score"))
        bounds = range(0, len(asked) + QUERIES_AT_ONCE, QUERIES_AT_ONCE)
        cuts = [np.searchsorted(part["number"].to_numpy(), bounds) for part in parts]
        blocks = [
            _merged(
                [part[cut[i] : cut[i + 1]] for part, cut in zip(parts, cuts, strict=True)]
            )
            for i in range(len(bounds) - 1)
        ]
        rows, rank, score = zip(*blocks, strict=True)
        table = pl.concat(rows)
        counts = np.bincount(table["number"].to_numpy(), minlength=len(asked))
        return cls(
            tuple(runs),
            tuple(asked),
            table,
            np.concatenate(rank),
            np.concatenate(score),
            np.concatenate([[0], np.cumsum(counts)]),
            scores,
        )

    @property
    def n(self) -> int:
        """The number of lanes."""
        return len(self.names)

    @property
    def scored(self) -> bool:
        """Whether every lane has scores that can be summed."""
        return all(order in ("scores", "distances") for order in self.scores)

    @cached_property
    def answered(self) -> Bools:
        """lane × query: whether the lane returned anything for the query."""
        has_results = np.zeros((self.n, len(self.queries)), dtype=np.bool_)
        row, lane = np.nonzero(self.rank)
        has_results[lane, self.rows["number"].to_numpy()[row]] = True
        return has_results

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The deepest rank of each lane."""
        return tuple(map(int, self.rank.max(axis=0, initial=0)))

    @cached_property
    def silent(self) -> tuple[int, ...]:
        """For how many queries each lane returned nothing."""
        return tuple(int(missing) for missing in (~self.answered).sum(axis=1))

    def twin(self, lane: int) -> int | None:
        """An earlier lane with the same results in the same order; None without one."""
        own = self.rank[:, lane]
        before = (
            other for other in range(lane) if np.array_equal(self.rank[:, other], own)
        )
        return next(before, None)

    def items(self, lane: int, most: int) -> list[str]:
        """The ids of the first results of a lane."""
        rows = np.flatnonzero(self.rank[:, lane])[:most]
        return self.rows["item"][rows].to_list()

    def blocks(self) -> Iterator[CandidateBlock]:
        """Yield all queries in blocks that fit in memory."""
        widest = max(1, int(np.diff(self.start).max(initial=0)))
        step = max(1, AT_ONCE // (widest * self.n))
        for first in range(0, len(self.queries), step):
            start = self.start[first : first + step + 1]
            sizes = np.diff(start)
            there = np.arange(int(sizes.max(initial=0)))[None, :] < sizes[:, None]
            rank = np.zeros((self.n, *there.shape), dtype=np.int64)
            score = np.full((self.n, *there.shape), np.nan)
            for lane in range(self.n):
                rank[lane][there] = self.rank[start[0] : start[-1], lane]
                score[lane][there] = self.score[start[0] : start[-1], lane]
            yield CandidateBlock(first, there, rank, score)

    def as_merged(self) -> Iterator[tuple[Ints, None]]:
        """Yield all candidates in their order, in blocks of queries."""
        for first in range(0, len(self.queries), QUERIES_AT_ONCE):
            ends = self.start[first : first + QUERIES_AT_ONCE + 1]
            yield np.arange(ends[0], ends[-1]), None

    def run_of(self, blocks: Callable[[], Iterator[tuple[Ints, Floats | None]]]) -> Run:
        """A run of some candidates, in the given order; those of a query are consecutive.

        ``blocks`` yields rows and scores, and is asked again whenever the run is read: a
        second table of all candidates would take as much memory as they do.
        """
        queries = pl.DataFrame({"query": self.queries}, {"query": pl.String})

        def scan() -> Iterator[pl.DataFrame]:
            for rows, scores in blocks():
                yield self._results(queries["query"], rows, scores)

        return Run(scan, "rank", "input", queries=queries, stays=True, is_grouped=True)

    def _results(
        self, names: pl.Series, rows: Ints, scores: Floats | None
    ) -> pl.DataFrame:
        """Some candidates as results."""
        chosen = self.rows[rows]
        ranks = (pl.int_range(pl.len()).over("number") + 1).alias("rank")
        query = names.gather(chosen["number"]).alias("query")
        frame = chosen.select(query, ranks, pl.exclude("number"))
        if scores is not None:
            frame = frame.with_columns(pl.Series("score", scores))
        columns = [name for name in RUN_SCHEMA if name in frame.columns]
        return frame.select(pl.col(name).cast(RUN_SCHEMA[name]) for name in columns)


def _merged(parts: list[pl.DataFrame]) -> tuple[pl.DataFrame, Ranks, Floats]:
    """The candidates of some queries, with their rank and score in each lane."""
    rows = (
        pl.concat(parts, how="diagonal")
        .sort("number", "rank", maintain_order=True)
        .unique(["number", "item"], keep="first", maintain_order=True)
        .drop("rank", "score", strict=False)
    )
    rank = np.zeros((rows.height, len(parts)), dtype=np.int32)
    score = np.full((rows.height, len(parts)), np.nan)
    key = rows.select("number", "item").with_row_index("row")
    for lane, part in enumerate(parts):
        placed = part.join(key, on=["number", "item"], maintain_order="left")
        at = placed["row"].to_numpy()
        rank[at, lane] = placed["rank"].to_numpy()
        if "score" in placed.columns:
            score[at, lane] = placed["score"].fill_null(np.nan).to_numpy()
    return rows, rank, score


def _listed(run: Run, asked: pl.Series) -> pl.DataFrame:
    """The results of the queries asked, in their order, each item once.

    The text stands in for a missing id.
    """
    frame = run.first(None)
    if "item" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("item"))
    if "text" in frame.columns:
        frame = frame.with_columns(pl.coalesce("item", "text").alias("item"))
    kept = [name for name in frame.columns if name in RUN_SCHEMA and name != "call"]
    numbers = pl.DataFrame(
        {"query": asked, "number": np.arange(len(asked), dtype=np.int64)}
    )
    return (
        frame.select(kept)
        .join(numbers, on="query", how="inner", maintain_order="left")
        .unique(["number", "item"], keep="first", maintain_order=True)
        .with_columns((pl.int_range(pl.len()).over("number") + 1).alias("rank"))
        .sort("number", maintain_order=True)
        .drop("query")
    )


def score_order(listed: pl.DataFrame) -> ScoreOrder:
    """What the scores of a lane are, whose results stand in their order."""
    if not listed.height:
        return "scores"  # a lane without results stands in nobody's way
    if "score" not in listed.columns or listed["score"].null_count():
        return "none"
    steps = listed["score"].diff().filter(listed["number"] == listed["number"].shift())
    rises = int((steps > 0).sum())
    falls = int((steps < 0).sum())
    if rises <= falls:
        return "scores"
    return "distances" if falls <= RARE * (rises + falls) else "unrelated"


def check_lanes(lanes: Lanes, idle: Sequence[int]) -> None:
    """Reject lanes that differ in their queries or ids from the first of those not ``idle``."""
    first, *others = [lane for lane in range(lanes.n) if lane not in idle]
    counts = (lanes.rank > 0).sum(axis=0)
    for lane in others:
        names = f"{lanes.names[first]} and {lanes.names[lane]}"
        apart = int((lanes.answered[first] ^ lanes.answered[lane]).sum())
        if apart > lanes.answered[first].sum() / 2:
            raise InvalidInput(
                f"{names} answer different queries: {apart:,} have results in one of "
                "them only; record both lanes for the same questions."
            )
        shared = ((lanes.rank[:, first] > 0) & (lanes.rank[:, lane] > 0)).any()
        if not shared and min(counts[first], counts[lane]) > FEW_RESULTS:
            raise InvalidInput(
                f"{names} share no result at all: their ids look like "
                f"{lanes.items(first, 1)[0]!r:.40} and {lanes.items(lane, 1)[0]!r:.40}. "
                "Give both lanes the same ids (calipers convert --map-ids)."
            )
