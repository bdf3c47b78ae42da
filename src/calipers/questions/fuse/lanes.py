"""The recorded results of several lanes, the ways to fuse them, and what each way is worth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars as pl

from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.match.pair import match_again
from calipers.measures import Metric
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matched, Matches
from calipers.model.run import RUN_SCHEMA, Run
from calipers.statistics.clusters import exact_mean

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


Kind = Literal["alone", "rrf", "sum", "mnz", "interleave"]
Norm = Literal["min-max", "z", "rank"]
DEFAULT_CONSTANT = 60
CONSTANTS = (5, 20, 60, 120)
_SMALLEST = 1e-9
"""The smallest spread, for lists whose scores are all equal."""


@dataclass(frozen=True)
class Way:
    """One setting: how lanes are fused, with which weights."""

    kind: Kind
    weights: tuple[float, ...]
    """One per lane; 0 leaves a lane out."""
    constant: int | None = None
    """The constant of reciprocal rank fusion."""
    norm: Norm | None = None
    """How scores are made comparable."""

    def called(self, names: Sequence[str]) -> str:
        """The setting in words.

        >>> Way("rrf", (0.5, 0.5), 60).called(["bm25", "dense"])
        'RRF 60'
        >>> Way("sum", (0.3, 0.7), norm="min-max").called(["bm25", "dense"])
        'min-max sum, bm25 0.3, dense 0.7'
        """
        if self.kind == "alone":
            return f"{names[self.weights.index(1.0)]} alone"
        if self.kind == "interleave":
            return "interleaving"
        head = {
            "rrf": f"RRF {self.constant}",
            "sum": f"{self.norm} sum",
            "mnz": f"CombMNZ ({self.norm})",
        }[self.kind]
        if len(set(self.weights)) == 1:
            return head
        return ", ".join(
            [head, *(f"{n} {w:.2g}" for n, w in zip(names, self.weights, strict=True))]
        )

    def without(self, lane: int) -> "Way":
        """The same setting with one lane left out."""
        left = [0.0 if i == lane else weight for i, weight in enumerate(self.weights)]
        return replace(self, weights=tuple(left))


def alone(lane: int, lanes: int) -> Way:
    """The setting that uses one lane only."""
    return Way("alone", tuple(float(i == lane) for i in range(lanes)))


def every_way(lanes: int, scored: bool) -> list[Way]:
    """All settings to try; the first is the default of most engines, RRF with 60.

    >>> len(every_way(2, scored=True)), len(every_way(2, scored=False)), len(every_way(3, True))
    (68, 49, 55)
    """
    weights, equal = _weights(lanes), (1.0 / lanes,) * lanes
    found = [Way("rrf", equal, DEFAULT_CONSTANT), *(alone(lane, lanes) for lane in range(lanes))]
    found += [Way("rrf", each, constant) for constant in CONSTANTS for each in weights]
    found += [Way("sum", each, norm=norm) for norm in get_args(Norm) for each in weights]
    found += [Way("mnz", equal, norm=norm) for norm in ("min-max", "rank")]
    found += [Way("interleave", equal)]
    return [way for way in dict.fromkeys(found) if scored or way.norm in (None, "rank")]


def _weights(lanes: int) -> list[tuple[float, ...]]:
    """Weights that sum to 1: steps of 0.1 for two lanes; for more, one lane doubled or halved."""
    if lanes == 2:
        return [(round(i / 10, 1), round(1 - i / 10, 1)) for i in range(1, 10)]
    more = [tuple(2 if i == lane else 1 for i in range(lanes)) for lane in range(lanes)]
    less = [tuple(1 if i == lane else 2 for i in range(lanes)) for lane in range(lanes)]
    found = [tuple(one / sum(step) for one in step) for step in (*more, *less)]
    return [(1.0 / lanes,) * lanes, *found]


class Fuser:
    """Fuses one block by any setting; what settings share is computed once."""

    def __init__(self, block: CandidateBlock, depths: Sequence[int | None] = ()) -> None:
        self._score = block.score
        limit = np.array([_FAR if depth is None else depth for depth in depths] or [_FAR])
        self._rank = np.where(block.rank > limit[:, None, None], 0, block.rank)
        self._parts: dict[tuple[object, ...], Floats] = {}

    def __call__(self, way: Way) -> Floats:
        """One score per candidate; minus infinity if no lane with a weight returned it."""
        lanes = [lane for lane, weight in enumerate(way.weights) if weight]
        here = self._rank[lanes] > 0
        if way.kind in ("alone", "interleave"):
            # By best rank, then by lane, which is the order of the candidates.
            fused = -np.where(here, self._rank[lanes], _FAR).min(axis=0, initial=_FAR) * 1.0
        else:
            fused = np.zeros(here.shape[1:])
            for lane in lanes:
                fused += way.weights[lane] * self._part(lane, way)
        if way.kind == "mnz":
            fused *= here.sum(axis=0)
        return np.where(here.any(axis=0), fused, -np.inf)

    def _part(self, lane: int, way: Way) -> Floats:
        """The contribution of one lane to each candidate; 0 if it did not return it."""
        key = (lane, way.constant, way.norm)
        if key not in self._parts:
            rank = self._rank[lane]
            here: Bools = rank > 0
            if way.constant is not None:
                value: Floats = 1.0 / (way.constant + np.maximum(rank, 1))
            elif way.norm == "rank":
                value = 1.0 - (rank - 1) / np.maximum(here.sum(axis=1, keepdims=True), 1)
            else:
                value = _normed(self._score[lane], here, way.norm)
            self._parts[key] = np.where(here, value, 0.0)
        return self._parts[key]


_FAR = np.iinfo(np.int64).max


def _normed(score: Floats, here: Bools, norm: Norm | None) -> Floats:
    """Normalise the scores of each query to 0 to 1, or by mean and spread."""
    if norm == "min-max":
        centre = np.where(here, score, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        high = np.where(here, score, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        spread = high - centre
    else:
        count = np.maximum(here.sum(axis=1, keepdims=True), 1)
        centre = np.where(here, score, 0.0).sum(axis=1, keepdims=True) / count
        away = np.where(here, (score - centre) ** 2, 0.0)
        spread = np.sqrt(away.sum(axis=1, keepdims=True) / count)
    with np.errstate(invalid="ignore"):
        found: Floats = (score - centre) / np.maximum(spread, _SMALLEST)
    return found


def ranks_of(fused: Floats, row: Ints, column: Ints) -> Ints:
    """The rank of some candidates in a block, 0 if not returned; ties keep their order."""
    own = fused[row, column][:, None]
    others = fused[row]
    before = (others > own) | ((others == own) & (np.arange(others.shape[1]) < column[:, None]))
    return np.where(np.isneginf(own[:, 0]), 0, 1 + before.sum(axis=1))


def first_of(fused: Floats, k: int | None) -> list[Ints]:
    """The candidates of each query in order, at most k."""
    order = np.argsort(-fused, axis=1, kind="stable")
    counts = (~np.isneginf(fused)).sum(axis=1)
    return [
        one[: count if k is None else min(k, count)]
        for one, count in zip(order, counts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Bench:
    """The lanes, and all their candidates as one run, matched."""

    lanes: Lanes
    pair: Matched
    metrics: tuple[Metric, ...]
    k: int

    @classmethod
    def of(cls, pairs: Mapping[str, Matched], metrics: Sequence[Metric], k: int) -> "Bench":
        """Build a bench from matched pairs with the same ground truth."""
        first = next(iter(pairs.values()))
        asked = first.ground_truth.queries["query"]
        lanes = Lanes.of({name: pair.as_read[1] for name, pair in pairs.items()}, asked)
        run = lanes.run_of(np.arange(lanes.rows.height))
        return cls(lanes, match_again(first, run), tuple(metrics), k)

    def values(self, ways: Sequence[Way], depths: Sequence[int | None] = ()) -> Floats:
        """The value of each setting, query and metric."""
        # A metric without a cut-off looks at the whole list.
        k = self.k if all(metric.k for metric in self.metrics) else None
        every = self.matches(ways, depths, k)
        return np.stack([compute(one, self.metrics, self.pair.policy) for one in every])

    def matches(
        self, ways: Sequence[Way], depths: Sequence[int | None] = (), k: int | None = None
    ) -> list[Matches]:
        """The matches of each setting, at least those in its first k results."""
        known = self.pair.matches
        if self.pair.settings["match"] != "id" or known.leaked is not None:
            # A quote may be split over several results, so edges depend on what stands beside.
            every = (self.lanes.run_of(self.ranking(way, k, depths)[0]) for way in ways)
            return [match_again(self.pair, run).matches for run in every]
        ranks = np.zeros((len(ways), known.edge_query.size), dtype=np.int64)
        for block in self.lanes.blocks():
            ends = [block.first, block.first + len(block.there)]
            edges = slice(*np.searchsorted(known.edge_query, ends))
            row, column = known.edge_query[edges] - block.first, known.edge_rank[edges] - 1
            fuser = Fuser(block, depths)
            for at, way in enumerate(ways):
                ranks[at, edges] = ranks_of(fuser(way), row, column)
        return [at_ranks(known, one) for one in ranks]

    def ranking(
        self, way: Way, k: int | None, depths: Sequence[int | None] = ()
    ) -> tuple[Ints, Floats]:
        """The rows of the first k candidates of each query under a setting, and their scores."""
        rows, scores = [], []
        for block in self.lanes.blocks():
            fused = Fuser(block, depths)(way)
            for at, order in enumerate(first_of(fused, k)):
                rows.append(self.lanes.start[block.first + at] + order)
                scores.append(fused[at, order])
        return np.concatenate(rows), np.concatenate(scores)

    def measured(self, matches: Matches) -> dict[str, float]:
        """The mean of each metric over matches."""
        return self.means(compute(matches, self.metrics, self.pair.policy))

    def means(self, values: Floats) -> dict[str, float]:
        """The mean of each metric over the queries that have a value."""
        columns = {str(one): column for one, column in zip(self.metrics, values.T, strict=True)}
        return {
            name: exact_mean(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0
            for name, column in columns.items()
        }


def at_ranks(known: Matches, rank: Ints) -> Matches:
    """The same matches with edges at new ranks, without those that are not returned."""
    kept = np.flatnonzero(rank > 0)
    order = kept[np.lexsort((rank[kept], known.edge_query[kept]))]
    return replace(
        known,
        edge_query=known.edge_query[order],
        edge_rank=rank[order],
        edge_target=known.edge_target[order],
        edge_overlap=known.edge_overlap[order],
    )
