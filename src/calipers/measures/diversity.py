"""Diversity: what a result adds to those before it, where a query has several subtopics."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Self

import numpy as np

from calipers.frozen import dataclass
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero, Level
from calipers.measures.views import per_query, ratio, within
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import Matches

Aspects = list[set[int]]
"""The subtopics that each item of one query is about."""


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Each rank with its subtopics, and how often each occurs above it."""

    query: Ints
    rank: Ints
    seen: Floats
    """How many ranks above have the same subtopic."""
    items: dict[int, Aspects]
    """By query, the items that could have been returned."""
    n_queries: int

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        relevant = matches.relevant(rel)
        holds = np.flatnonzero(relevant[matches.edge_target])
        unit = matches.target_unit[matches.edge_target[holds]]
        rank = matches.edge_rank[holds]
        query = matches.edge_query[holds]
        order = np.lexsort((rank, unit))
        unit = unit[order]
        rank = rank[order]
        query = query[order]
        new = np.ones(unit.size, dtype=np.bool_)
        # A result that holds two alternatives counts for their subtopic once.
        new[1:] = (np.diff(unit) != 0) | (np.diff(rank) != 0)
        unit = unit[new]
        rank = rank[new]
        query = query[new]
        begins = np.flatnonzero(np.diff(unit, prepend=-1))
        seen = np.arange(unit.size) - np.repeat(begins, np.diff(begins, append=unit.size))
        # Sorted, so that sums are the same to the last bit in any order of rows.
        order = np.lexsort((seen, rank, query))
        items = _items(matches, np.flatnonzero(relevant))
        return cls(
            query[order],
            rank[order],
            seen[order].astype(np.float64),
            items,
            matches.n_queries,
        )

    def reached(self, alpha: float, k: int | None) -> Floats:
        """What the first k results add, each over log2(rank + 1)."""
        keep = within(self.rank, k)
        points = np.power(1.0 - alpha, self.seen[keep]) / np.log2(self.rank[keep] + 1.0)
        return per_query(self.query[keep], self.n_queries, points)

    def ideal(self, alpha: float, k: int | None) -> Floats:
        """The same for items taken one by one, always the one that adds most."""
        best = np.zeros(self.n_queries)
        for query, items in self.items.items():
            first_k = enumerate(islice(_greedy(items, alpha), k), 1)
            best[query] = sum(gain / math.log2(rank + 1) for rank, gain in first_k)
        return best


def _items(matches: Matches, targets: Ints) -> dict[int, Aspects]:
    """By query, the subtopics of each item, items from the greatest id to the least."""
    same = targets if matches.target_item is None else matches.target_item[targets]
    by_query: dict[int, dict[int, set[int]]] = {}
    for query, item, unit in zip(
        matches.target_query[targets].tolist(),
        same.tolist(),
        matches.target_unit[targets].tolist(),
        strict=True,
    ):
        by_query.setdefault(query, {}).setdefault(item, set()).add(unit)
    return {
        query: [items[item] for item in sorted(items, reverse=True)]
        for query, items in by_query.items()
    }


def _greedy(items: Aspects, alpha: float) -> Iterator[float]:
    """What each item adds in the greedy order: the one that adds most next, the first in a tie.

    >>> list(_greedy([{1}, {1, 2}, {3}], alpha=0.5))
    [2.0, 1.0, 0.5]
    """
    worth = {unit: 1.0 for item in items for unit in item}
    left = list(items)
    while left:
        # An exact sum: items that add the same must not differ by the order of their
        # subtopics.
        added = [math.fsum(worth[unit] for unit in item) for item in left]
        best = max(added)
        taken = left.pop(added.index(best))
        for unit in taken:
            worth[unit] *= 1.0 - alpha
        yield best


@metric(better="higher", also=("andcg",))
def alpha_ndcg(subtopics: Subtopics, k: int | None = None, alpha: Level = 0.5) -> Floats:
    """What each of the first k results adds to those before it, over the ideal; 1 at most.

    A result adds 1 for each of its subtopics, less by the factor 1 - alpha for every
    result above that shows the same one; discounted by log2(rank + 1). A subtopic is a
    ``group`` of targets; an item of several subtopics stands in each of their groups. The
    ideal ranking takes, one by one, the item that adds most, of equals the one whose id
    is greatest, as ndeval does. It is not always the best: what is above it counts as 1
    here, and as more than 1 in ndeval.
    """
    best = subtopics.ideal(alpha, k)
    return np.minimum(ratio(subtopics.reached(alpha, k), best), 1.0)
