"""The recorded results of several lanes as one table of candidates per query."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.run import RUN_SCHEMA, Run

AT_ONCE = 300_000
"""Cells of a block of queries: the memory used beside the lists themselves."""
QUERIES_AT_ONCE = 500
"""Queries whose candidates are merged at once, for the same reason."""


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

    The candidates of a query are sorted by their best rank, then by lane. Ties of a setting keep
    this order.
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    rows: pl.DataFrame
    """One row per candidate: number (of the query), item, and its other columns; the candidates of
    a query are consecutive."""
    rank: Ints
    """candidate × lane; 0 if the lane did not return it."""
    score: Floats
    """The same; NaN where there is none."""
    start: Ints
    """The first row of each query; the last entry is the number of rows."""
    scored: bool
    """Whether every lane has a score for every result."""

    @classmethod
    def of(cls, runs: Mapping[str, Run], asked: pl.Series) -> "Lanes":
        """Collect the lanes of some runs for the queries asked, in their order."""
        parts = [_listed(run, asked) for run in runs.values()]
        _check_lanes(parts, tuple(runs))
        bounds = range(0, len(asked) + QUERIES_AT_ONCE, QUERIES_AT_ONCE)
        cuts = [np.searchsorted(part["number"].to_numpy(), bounds) for part in parts]
        blocks = [
            _merged([part[cut[i] : cut[i + 1]] for part, cut in zip(parts, cuts, strict=True)])
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
            all("score" in part.columns and not part["score"].null_count() for part in parts),
        )

    @property
    def n(self) -> int:
        """The number of lanes."""
        return len(self.names)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The deepest rank of each lane."""
        return tuple(map(int, self.rank.max(axis=0, initial=0)))

    @cached_property
    def silent(self) -> tuple[int, ...]:
        """For how many queries each lane returned nothing."""
        firsts = (self.rank == 1).sum(axis=0)
        return tuple(len(self.queries) - int(answered) for answered in firsts)

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

    def run_of(self, rows: Ints, scores: Floats | None = None) -> Run:
        """Some candidates as a run, in the given order; those of a query must be consecutive."""
        chosen = self.rows[rows]
        names = pl.Series("query", self.queries, pl.String)[chosen["number"]]
        ranks = (pl.int_range(pl.len()).over("number") + 1).alias("rank")
        frame = chosen.select(names, ranks, pl.exclude("number"))
        if scores is not None:
            frame = frame.with_columns(pl.Series("score", scores))
        asked = pl.DataFrame({"query": self.queries}, {"query": pl.String})
        return Run.from_frame(frame, order="rank", queries=asked)


def _merged(parts: list[pl.DataFrame]) -> tuple[pl.DataFrame, Ints, Floats]:
    """The candidates of some queries, with their rank and score in each lane."""
    rows = (
        pl.concat(parts, how="diagonal")
        .sort("number", "rank", maintain_order=True)
        .unique(["number", "item"], keep="first", maintain_order=True)
        .drop("query", "rank", "score", strict=False)
    )
    rank = np.zeros((rows.height, len(parts)), dtype=np.int64)
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
    frame = run.frame
    if "item" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("item"))
    if "text" in frame.columns:
        frame = frame.with_columns(pl.coalesce("item", "text").alias("item"))
    kept = [name for name in frame.columns if name in RUN_SCHEMA and name != "call"]
    numbers = pl.DataFrame({"query": asked, "number": np.arange(len(asked), dtype=np.int64)})
    return (
        frame.select(kept)
        .join(numbers, on="query", how="inner", maintain_order="left")
        .unique(["number", "item"], keep="first", maintain_order=True)
        .with_columns((pl.int_range(pl.len()).over("number") + 1).alias("rank"))
        .sort("number", maintain_order=True)
    )


def _check_lanes(parts: list[pl.DataFrame], names: tuple[str, ...]) -> None:
    """Reject lanes that are empty, identical, or differ in their queries or ids."""
    first, of_first = parts[0], set(parts[0]["number"])
    keys = ["number", "item", "rank"]
    for name, part in zip(names, parts, strict=True):
        if not part.height:
            raise InvalidInput(
                f"{name} has no results for the queries of the ground truth; give runs of the same "
                "queries."
            )
        if part is first:
            continue
        if part.select(keys).equals(first.select(keys)):
            raise InvalidInput(
                f"{names[0]} and {name} hold the same results in the same order; give two "
                "different lanes."
            )
        others = len(of_first ^ set(part["number"]))
        if others > len(of_first) / 2:
            raise InvalidInput(
                f"{names[0]} and {name} answer different queries: {others:,} have results in one "
                "of them only; record both lanes for the same questions."
            )
        shared = part.join(first, on=["number", "item"], how="semi").height
        if not shared and min(part.height, first.height) > 20:
            raise InvalidInput(
                f"{names[0]} and {name} share no result at all: their ids look like "
                f"{first['item'][0]!r:.40} and {part['item'][0]!r:.40}. Give both lanes the same "
                "ids (calipers convert --map-ids)."
            )
