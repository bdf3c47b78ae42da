"""The lanes beside the ground truth: what each way to fuse them is worth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calipers.engines.scoring import compute
from calipers.frozen import dataclass
from calipers.match.pair import match_again, match_call
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import Matched, Matches
from calipers.model.run import Run
from calipers.questions.fuse.fuser import Fuser, first_of, ranks_of
from calipers.questions.fuse.lanes import CandidateBlock, Lanes
from calipers.questions.fuse.ways import Way
from calipers.statistics.clusters import exact_mean

WAYS_AT_ONCE = 20
"""Settings whose ranks are in memory at once."""


@dataclass(frozen=True, eq=False)
class Bench:
    """The lanes, and all their candidates as one run, matched."""

    lanes: Lanes
    pair: Matched
    metrics: tuple[Metric, ...]
    k: int

    @classmethod
    def of(
        cls, pairs: Mapping[str, Matched], metrics: Sequence[Metric], k: int
    ) -> "Bench":
        """Build a bench from matched pairs with the same ground truth."""
        first = next(iter(pairs.values()))
        asked = first.ground_truth.queries["query"]
        lanes = Lanes.of({name: pair.as_read[1] for name, pair in pairs.items()}, asked)
        run = lanes.run_of(lanes.as_merged)
        return cls(lanes, match_again(first, run), tuple(metrics), k)

    def values(self, ways: Sequence[Way], depths: Sequence[int | None] = ()) -> Floats:
        """The value of each setting, query and metric."""
        values = self.room_for(len(ways))
        self.measure(ways, values, depths)
        return values

    def room_for(self, settings: int) -> Floats:
        """An empty table for the values of so many settings."""
        return np.empty((settings, len(self.lanes.queries), len(self.metrics)))

    def measure(
        self, ways: Sequence[Way], values: Floats, depths: Sequence[int | None] = ()
    ) -> None:
        """Write the value of each setting, query and metric to a table."""
        # A metric without a cut-off looks at the whole list.
        k = self.k if all(metric.k for metric in self.metrics) else None
        for at, matches in enumerate(self.matches(ways, depths, k)):
            values[at] = compute(matches, self.metrics, self.pair.policy)

    def matches(
        self, ways: Sequence[Way], depths: Sequence[int | None] = (), k: int | None = None
    ) -> Iterator[Matches]:
        """Yield the matches of each setting, at least those in its first k results."""
        known = self.pair.matches
        if self.pair.recorded.match != "id" or known.leaked is not None:
            # A quote may be split over several results, so edges depend on what stands
            # beside. That the first k of a setting hold nothing is no error.
            for way in ways:
                yield match_call(self.pair, self.run(way, k, depths))
            return
        for first in range(0, len(ways), WAYS_AT_ONCE):
            for rank in self._ranks(ways[first : first + WAYS_AT_ONCE], depths):
                yield at_ranks(known, rank.astype(np.int64))

    def _ranks(
        self, ways: Sequence[Way], depths: Sequence[int | None]
    ) -> NDArray[np.int32]:
        """The rank of each match under each setting; 0 where it is not returned."""
        known = self.pair.matches
        ranks = np.zeros((len(ways), known.edge_query.size), dtype=np.int32)
        for block in self.lanes.blocks():
            ends = [block.first, block.first + len(block.there)]
            edges = slice(*np.searchsorted(known.edge_query, ends))
            row = known.edge_query[edges] - block.first
            column = known.edge_rank[edges] - 1
            fuser = Fuser(block, depths)
            for at, way in enumerate(ways):
                ranks[at, edges] = ranks_of(fuser(way), row, column)
        return ranks

    def ranking(
        self, way: Way, k: int | None, depths: Sequence[int | None] = ()
    ) -> tuple[Ints, Floats]:
        """The rows of the first k candidates of each query under a setting, and their scores."""
        ranked = [self._ranked(block, way, k, depths) for block in self.lanes.blocks()]
        rows, scores = zip(*ranked, strict=True)
        return np.concatenate(rows), np.concatenate(scores)

    def _ranked(
        self, block: CandidateBlock, way: Way, k: int | None, depths: Sequence[int | None]
    ) -> tuple[Ints, Floats]:
        """The same for one block."""
        rows = []
        scores = []
        fused = Fuser(block, depths)(way)
        for at, order in enumerate(first_of(fused, k)):
            rows.append(self.lanes.start[block.first + at] + order)
            scores.append(fused[at, order])
        return np.concatenate(rows), np.concatenate(scores)

    def run(
        self, way: Way, k: int | None = None, depths: Sequence[int | None] = ()
    ) -> Run:
        """The run of a setting; it is fused anew, block by block, whenever it is read."""

        def fused() -> Iterator[tuple[Ints, Floats]]:
            for block in self.lanes.blocks():
                yield self._ranked(block, way, k, depths)

        return self.lanes.run_of(fused)

    def measured(self, matches: Matches) -> dict[str, float]:
        """The mean of each metric over matches."""
        return self.means(compute(matches, self.metrics, self.pair.policy))

    def means(self, values: Floats) -> dict[str, float]:
        """The mean of each metric over the queries that have a value."""
        columns = {
            str(metric): column
            for metric, column in zip(self.metrics, values.T, strict=True)
        }
        return {
            name: exact_mean(column[~np.isnan(column)])
            if not np.isnan(column).all()
            else 0.0
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
