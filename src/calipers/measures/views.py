"""The views of the matches that metrics are computed from.

The annotation of a metric's first parameter names the view it needs; the parameters of
the view's ``of`` are part of the metric's grammar, so ``recall@10(rel=2)`` needs no code
in recall.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from calipers.frozen import dataclass
from calipers.measures.parameter import AboveZero
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matches

NEVER = np.iinfo(np.int64).max
"""The rank of a target that was not found."""


def per_query(query: Ints, n_queries: int, weights: Floats | None = None) -> Floats:
    """Sum of the weights (or the number of entries) for each query."""
    return np.bincount(query, weights, minlength=n_queries).astype(np.float64)


def within(rank: Ints, k: int | None) -> Bools:
    """Which ranks lie in the first k."""
    return rank < NEVER if k is None else rank <= k


@dataclass(frozen=True, eq=False)
class Found:
    """Each relevant target with the best rank that holds it; alternatives count as one."""

    query: Ints
    rank: Ints
    holding_query: Ints
    """The ranks that hold at least one target, each once."""
    holding_rank: Ints
    retrieved: Ints
    corpus_size: int | None

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        relevant = matches.relevant(rel)
        unit_of_target = _dense_units(matches, relevant)
        unit_query = np.empty(unit_of_target.max(initial=-1) + 1, dtype=np.int64)
        unit_query[unit_of_target] = matches.target_query[relevant]
        dense = np.zeros(relevant.size, dtype=np.int64)
        dense[relevant] = unit_of_target

        holds = relevant[matches.edge_target]
        edge_query = matches.edge_query[holds]
        edge_rank = matches.edge_rank[holds]
        best = np.full(unit_query.size, NEVER, dtype=np.int64)
        # Edges are sorted by rank, so assigning them in reverse leaves the smallest rank.
        best[dense[matches.edge_target[holds]][::-1]] = edge_rank[::-1]
        new = np.ones(edge_query.size, dtype=np.bool_)
        new[1:] = (edge_query[1:] != edge_query[:-1]) | (edge_rank[1:] != edge_rank[:-1])
        return cls(
            unit_query,
            best,
            edge_query[new],
            edge_rank[new],
            matches.retrieved,
            matches.corpus_size,
        )

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.retrieved.size

    @cached_property
    def total(self) -> Floats:
        """R: how many targets there are to find."""
        return per_query(self.query, self.n_queries)

    def hits(self, k: int | None = None) -> Floats:
        """How many targets are in the first k ranks."""
        return per_query(self.query[within(self.rank, k)], self.n_queries)

    def hits_at_each(self, ks: Sequence[int]) -> Floats:
        """The same for rising k: one row per query, one column for each k."""
        first = np.searchsorted(np.array(ks), self.rank)
        some = first < len(ks)
        cells = self.query[some] * len(ks) + first[some]
        table = np.bincount(cells, minlength=self.n_queries * len(ks))
        hits = np.cumsum(table.reshape(self.n_queries, len(ks)), axis=1)
        return hits.astype(np.float64)

    def hits_within(self, depth: Ints) -> Floats:
        """How many targets are found within each query's own depth."""
        return per_query(self.query[self.rank <= depth[self.query]], self.n_queries)

    def useful(self, k: int | None = None) -> Floats:
        """How many of the first k ranks hold a target."""
        return per_query(self.holding_query[within(self.holding_rank, k)], self.n_queries)

    def shown(self, k: int | None = None) -> Floats:
        """How many results were returned, k at most."""
        shown = self.retrieved if k is None else np.minimum(self.retrieved, k)
        return shown.astype(np.float64)

    def first(self) -> Floats:
        """Rank of the first target, infinite where none was found."""
        first = np.full(self.n_queries, np.inf)
        # Sorted by rank, so assigning them in reverse leaves the smallest.
        first[self.holding_query[::-1]] = self.holding_rank[::-1]
        return first


def _dense_units(matches: Matches, relevant: Bools) -> Ints:
    """The units of the relevant targets, numbered from 0 without gaps."""
    if not matches.has_alternatives:
        return np.arange(np.count_nonzero(relevant))
    return np.unique(matches.target_unit[relevant], return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class Claims:
    """Each relevant target that was found, at a position of its own."""

    query: Ints
    position: Ints
    grade: Floats
    total: Floats
    """R: how many targets could be claimed, per query."""

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        relevant = matches.relevant(rel)
        claimed = claim_positions(matches, relevant)
        query_of_target = matches.target_query[relevant]
        if matches.has_alternatives:
            units = np.unique(matches.target_unit[relevant], return_index=True)[1]
            query_of_target = query_of_target[units]
        total = per_query(query_of_target, matches.n_queries)
        return cls(claimed.query, claimed.position, claimed.grade, total)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.total.size

    @cached_property
    def ordinal(self) -> Floats:
        """1 for the first claim of its query, 2 for the second, and so on."""
        return position_in_query(self.query)

    @cached_property
    def interpolated(self) -> Floats:
        """The highest precision at the position of each claim or below."""
        highest: Floats = self.ordinal / self.position
        # From the last claim of a query upwards, for all queries in step.
        last = np.flatnonzero(np.diff(self.query, append=-1))
        left = self.ordinal[last].astype(np.int64) - 1
        at = last[left > 0]
        left = left[left > 0]
        while at.size:
            highest[at - 1] = np.maximum(highest[at - 1], highest[at])
            at = at[left > 1] - 1
            left = left[left > 1] - 1
        return highest

    def precision_at_recall(self, level: float) -> Floats:
        """The highest precision from this level of recall on; 0 where it is not reached."""
        # As trec_eval rounds it: so many targets make up the level.
        needed = (level * self.total + 0.5).astype(np.int64)
        counts = per_query(self.query, self.n_queries).astype(np.int64)
        start = np.cumsum(counts) - counts
        reached = (needed <= counts) & (counts > 0)
        value = np.zeros(self.n_queries)
        value[reached] = self.interpolated[(start + np.maximum(needed, 1) - 1)[reached]]
        return np.where(self.total > 0, value, np.nan)


def position_in_query(query: Ints) -> Floats:
    """1, 2, 3 … within each run of equal query codes (sorted input)."""
    index = np.arange(query.size)
    first = index.copy()
    first[1:][query[1:] == query[:-1]] = 0
    return (index - np.maximum.accumulate(first) + 1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Gains:
    """The claims with their grades, and the best grades that could have been claimed."""

    claimed: "Claimed"
    ideal_query: Ints
    ideal_grade: Floats
    """Per query, from the highest grade down; of alternatives only the best."""
    highest_grade: float
    n_queries: int

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over every target with a grade above 0."""
        relevant = matches.relevant()
        best = np.flatnonzero(relevant)
        grade = matches.target_grade[best]
        query = matches.target_query[best]
        if not ((query[1:] > query[:-1]) | (grade[1:] <= grade[:-1])).all():
            best = best[np.lexsort((-grade, query))]
        if matches.has_alternatives:
            best = best[
                np.sort(np.unique(matches.target_unit[best], return_index=True)[1])
            ]
        return cls(
            claim_positions(matches, relevant, improved=True),
            matches.target_query[best],
            matches.target_grade[best],
            matches.highest_grade,
            matches.n_queries,
        )

    @property
    def query(self) -> Ints:
        """The query of every claim."""
        return self.claimed.query

    @cached_property
    def best_grade(self) -> Floats:
        """The highest grade of each query, 0 where it has no target."""
        best = np.zeros(self.n_queries)
        # From the highest down, so assigning them in reverse leaves the highest.
        best[self.ideal_query[::-1]] = self.ideal_grade[::-1]
        return best

    def added(self, value: Callable[[Floats], Floats]) -> Floats:
        """The gain that each claim adds, where ``value`` maps grades to gains."""
        whole = value(self.claimed.grade)
        return whole - value(self.claimed.before) if self.claimed.improves else whole

    def placed(self, value: Floats, k: int | None = None) -> tuple[Ints, Ints]:
        """The claims with a position in the first k, in order of position, and their positions."""
        order, position = self.claimed.placed(value)
        keep = within(position, k)
        return order[keep], position[keep]

    def discounted(self, value: Floats, k: int | None = None) -> Floats:
        """Sum of the claimed values, each over log2(position + 1)."""
        order, position = self.placed(value, k)
        points = value[order] / np.log2(position + 1.0)
        return per_query(self.query[order], self.n_queries, points)

    def ideal(self, value: Floats, k: int | None = None) -> Floats:
        """The same sum for the best possible ranking of all ground truth."""
        keep = within(self.ideal_rank, k)
        points = value[keep] / self._ideal_discount[keep]
        return per_query(self.ideal_query[keep], self.n_queries, points)

    @cached_property
    def ideal_rank(self) -> Ints:
        """The rank of each target in the best possible ranking."""
        return position_in_query(self.ideal_query).astype(np.int64)

    @cached_property
    def _ideal_discount(self) -> Floats:
        discount: Floats = np.log2(self.ideal_rank + 1.0)
        return discount


def ratio(above: Floats, below: Floats, where_zero: Floats | float = np.nan) -> Floats:
    """``above / below``, and ``where_zero`` (default: undefined) where below is 0."""
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return np.where(below == 0, where_zero, result)


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + beta²) P R / (beta² P + R); 0 where both are 0."""
    weight = min(beta * beta, 1e300)  # larger ones would overflow
    return ratio(
        (1 + weight) * precision * recall,
        weight * precision + recall,
        where_zero=np.where(np.isnan(recall), np.nan, 0),
    )


@dataclass(frozen=True, eq=False)
class Claimed:
    """Every found target that adds something, in order of query and position.

    Of alternatives one is enough. A better one that comes later adds the difference, at
    its own place: finding a lesser one first never costs anything, and nothing is counted
    twice.
    """

    query: Ints
    rank: Ints
    """Where it was found."""
    position: Ints
    grade: Floats
    before: Floats
    """The grade of the best alternative that was found before it; 0 where there was
    none."""

    @cached_property
    def improves(self) -> bool:
        """Whether any found target is a better alternative of an earlier one."""
        return bool(self.before.any())

    @cached_property
    def _as_found(self) -> tuple[Ints, Ints]:
        return np.arange(self.query.size), self.position

    def placed(self, value: Floats) -> tuple[Ints, Ints]:
        """The order of the found targets by position, and their positions, assigned by value.

        The most valuable have the best grade, except for better alternatives: what these
        add depends on the gains.
        """
        if not self.improves or np.array_equal(self.rank, self.position):
            return self._as_found
        by_rank = np.lexsort((self.position, self.rank, self.query))
        query = self.query[by_rank]
        position = self.rank[by_rank]
        _spread(query, position, value[by_rank])
        order = np.lexsort((position, query))
        return by_rank[order], position[order]


def claim_positions(
    matches: Matches, relevant: Bools, *, improved: bool = False
) -> Claimed:
    """Every found target; of alternatives the first or, with ``improved``, also better ones.

    The most valuable takes the first free position at or after its first rank, then the
    next. So where no result holds two targets, positions are ranks.
    """
    edges = np.flatnonzero(relevant[matches.edge_target])
    if matches.is_one_to_one:
        query = matches.edge_query[edges]
        rank = matches.edge_rank[edges]
        grade = matches.target_grade[matches.edge_target[edges]]
        return Claimed(query, rank, rank, grade, np.zeros(edges.size))
    edges, before = _paid(matches, edges, improved=improved)
    query = matches.edge_query[edges]
    rank = matches.edge_rank[edges]
    grade = matches.target_grade[matches.edge_target[edges]]
    position = rank.copy()
    _spread(query, position, grade - before)
    order = np.lexsort((position, query))
    return Claimed(
        query[order], rank[order], position[order], grade[order], before[order]
    )


def _paid(matches: Matches, edges: Ints, *, improved: bool) -> tuple[Ints, Floats]:
    """The edges by which each unit is found, and the best grade it had before.

    They are its first rank, and there the best grade; with ``improved`` also every later
    one whose grade is higher than all before.
    """
    target = matches.edge_target[edges]
    unit = matches.target_unit[target]
    order = np.lexsort(
        (target, -matches.target_grade[target], matches.edge_rank[edges], unit)
    )
    unit = unit[order]
    levels, level = np.unique(matches.target_grade[target[order]], return_inverse=True)
    # Units are ascending, so the running maximum of such a number is that of its own
    # unit.
    highest = np.maximum.accumulate(unit * levels.size + level)
    first = np.diff(unit, prepend=-1) != 0
    kept = np.diff(highest, prepend=-1) > 0 if improved else first
    before = np.zeros(edges.size)
    before[1:] = levels[highest[:-1] % max(levels.size, 1)]
    before[first] = 0.0
    paid = edges[order[kept]]
    back = np.argsort(paid)
    return paid[back], before[kept][back]


def _spread(query: Ints, position: Ints, value: Floats) -> None:
    """Give each found target its own position, in place (sorted by query and rank)."""
    shared = (np.diff(query) == 0) & (np.diff(position) == 0)
    crowded = np.flatnonzero(np.isin(query, query[1:][shared]))
    # Of equal values the one found first comes first, as they are sorted already.
    best_first = crowded[np.lexsort((-value[crowded], query[crowded]))]
    next_free: dict[tuple[int, int], int] = {}
    for at in best_first.tolist():
        asked_by = int(query[at])
        place = int(position[at])
        passed = []
        while (asked_by, place) in next_free:
            passed.append(place)
            place = next_free[asked_by, place]
        # Path compression: every taken position on the way now points behind the new one.
        for taken in (*passed, place):
            next_free[asked_by, taken] = place + 1
        position[at] = place
