"""The recorded results of several lanes, side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.run import RUN_SCHEMA, Run
from calipers.questions.fuse.listed import ListedLane, key_of

AT_ONCE = 300_000
"""Cells of a block of queries: the memory used beside the lists themselves."""
QUERIES_AT_ONCE = 500
"""Queries whose candidates are merged at once, for the same reason."""
FEW_RESULTS = 20
"""So few results may share nothing by chance."""

Ranks: TypeAlias = NDArray[np.int16] | NDArray[np.int32]
"""Whole numbers as small as the lists allow: there is one for each candidate and lane."""


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
    listed: tuple[ListedLane, ...]
    """The results of each lane; they are not copied: a rank in a lane says where its item
    and its score stand."""
    rank: Ranks
    """candidate × lane; 0 if the lane did not return it. The candidates of a query are
    consecutive."""
    start: Ints
    """The first candidate of each query; the last entry is the number of candidates."""

    @classmethod
    def of(cls, runs: Mapping[str, Run], asked: pl.Series) -> "Lanes":
        """Collect the lanes of some runs for the queries asked, in their order."""
        listed = tuple(ListedLane.of(run, asked) for run in runs.values())
        deepest = max(lane.depth for lane in listed)
        small = np.int16 if deepest <= np.iinfo(np.int16).max else np.int32
        ranks = []
        counts = []
        for first in range(0, len(asked), QUERIES_AT_ONCE):
            last = min(first + QUERIES_AT_ONCE, len(asked))
            number, rank = _merged([lane.slice(first, last) for lane in listed])
            ranks.append(rank.astype(small))
            counts.append(np.bincount(number - first, minlength=last - first))
        return cls(
            tuple(runs),
            tuple(asked),
            listed,
            np.concatenate([np.zeros((0, len(listed)), dtype=small), *ranks]),
            np.concatenate([[0], np.cumsum(np.concatenate([[], *counts]))]).astype(
                np.int64
            ),
        )

    @property
    def n(self) -> int:
        """The number of lanes."""
        return len(self.names)

    @property
    def scored(self) -> bool:
        """Whether every lane has scores that can be summed."""
        return all(lane.order in ("scores", "distances") for lane in self.listed)

    @cached_property
    def answered(self) -> Bools:
        """lane × query: whether the lane returned anything for the query."""
        return np.stack([np.diff(lane.start) > 0 for lane in self.listed])

    @property
    def depths(self) -> tuple[int, ...]:
        """The deepest rank of each lane."""
        return tuple(lane.depth for lane in self.listed)

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
        return self.keys(np.flatnonzero(self.rank[:, lane])[:most])

    def keys(self, rows: Ints) -> list[str]:
        """The ids of some candidates, or their places where they have none."""
        chosen = self.candidates(rows)
        return chosen.select(key_of(chosen.columns)).to_series().to_list()

    def candidates(self, rows: Ints) -> pl.DataFrame:
        """Some candidates as the lane that has them first returned them, with their numbers."""
        rank = self.rank[rows].astype(np.int64)
        query = np.searchsorted(self.start, rows, side="right") - 1
        best = np.argmin(np.where(rank > 0, rank, np.iinfo(np.int64).max), axis=1)
        frames = []
        places = []
        for lane, listed in enumerate(self.listed):
            here = np.flatnonzero(best == lane)
            frames.append(listed.at(query[here], rank[here, lane]))
            places.append(here)
        together = pl.concat(frames, how="diagonal")
        order = np.argsort(np.concatenate(places), kind="stable")
        return together[order].with_columns(pl.Series("number", query))

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
            query = np.repeat(np.arange(first, first + sizes.size), sizes)
            for lane, listed in enumerate(self.listed):
                ranks = self.rank[start[0] : start[-1], lane].astype(np.int64)
                rank[lane][there] = ranks
                score[lane][there] = listed.scores_at(query, ranks)
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
        chosen = self.candidates(rows)
        ranks = (pl.int_range(pl.len()).over("number") + 1).alias("rank")
        query = names.gather(chosen["number"]).alias("query")
        frame = chosen.select(query, ranks, pl.exclude("number"))
        if scores is not None:
            frame = frame.with_columns(pl.Series("score", scores))
        columns = [name for name in RUN_SCHEMA if name in frame.columns]
        return frame.select(pl.col(name).cast(RUN_SCHEMA[name]) for name in columns)


def _merged(parts: Sequence[pl.DataFrame]) -> tuple[Ints, Ints]:
    """The candidates of some queries: the query of each, and its rank in each lane."""
    rows = (
        pl.concat(parts)
        .sort("number", "rank", maintain_order=True)
        .unique(["number", "key"], keep="first", maintain_order=True)
        .drop("rank")
        .with_row_index("row")
    )
    rank = np.zeros((rows.height, len(parts)), dtype=np.int64)
    for lane, part in enumerate(parts):
        placed = part.join(
            rows, on=["number", "key"], maintain_order="left", nulls_equal=True
        )
        rank[placed["row"].to_numpy(), lane] = placed["rank"].to_numpy()
    return rows["number"].to_numpy(), rank


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
                "Give both lanes the same ids (--map-ids says what does not count in them)."
            )
