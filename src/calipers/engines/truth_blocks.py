"""A ground truth that is held once, and handed out for some queries at a time."""

from dataclasses import replace

import numpy as np
import polars as pl

from calipers.match.tally import QueryPlaces
from calipers.model.arrays import Bools, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.ranking import NotGroupedError, SeenQueries


class TruthBlocks:
    """The part of a ground truth that some queries have, and which queries came by."""

    def __init__(self, truth: GroundTruth) -> None:
        # In one piece, or all of it would be put together for each block.
        self._truth = replace(
            truth,
            targets=truth.targets.rechunk(),
            queries=truth.queries.rechunk(),
            tags={name: tag.rechunk() for name, tag in truth.tags.items()},
        )
        self._places = QueryPlaces(truth.queries["query"])
        self._strangers = SeenQueries()
        self.seen: Bools = np.zeros(truth.queries.height, dtype=np.bool_)
        """Which queries of the ground truth came by."""
        # Of a copy, which is let go with what it remembers.
        code = replace(truth).target_query
        in_order = bool((code[1:] >= code[:-1]).all())
        self._order = None if in_order else _small(np.argsort(code, kind="stable"))
        ends = np.cumsum(np.bincount(code, minlength=truth.queries.height))
        self._ends = _small(np.append(0, ends))

    def take(self, queries: pl.Series) -> Ints:
        """The rows of those queries that the ground truth has; none of them may come twice."""
        codes = self._places.following(queries)
        known = codes[codes >= 0]
        if known.size < codes.size:
            strangers = queries.filter(pl.Series(codes < 0))
            if self._strangers.again(strangers.hash().to_numpy()):
                raise NotGroupedError
        ordered = np.sort(known)
        if self.seen[known].any() or (ordered[1:] == ordered[:-1]).any():
            raise NotGroupedError
        self.seen[known] = True
        return known

    def of(self, codes: Ints) -> GroundTruth:
        """The ground truth of some queries alone, in their order."""
        truth = self._truth
        first, behind = (self._ends[codes + end].astype(np.int64) for end in (0, 1))
        many = behind - first
        taken: slice | Ints = codes
        if self._order is None and codes.size and (codes[1:] == codes[:-1] + 1).all():
            # Queries that stand together need no copy.
            taken = slice(int(codes[0]), int(codes[-1]) + 1)
            targets = truth.targets[int(first[0]) : int(behind[-1])]
        else:
            rows = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
            targets = truth.targets[rows if self._order is None else self._order[rows]]
        tags = {name: tag[taken] for name, tag in truth.tags.items()}
        part = GroundTruth(targets, truth.queries[taken], tags)
        return part.knowing(target_query=np.repeat(np.arange(codes.size), many))


def _small(numbers: Ints) -> Ints:
    """Row numbers in half the memory, where they are small enough."""
    return numbers.astype(np.uint32) if numbers.size < 1 << 32 else numbers
