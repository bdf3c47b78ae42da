"""One group of queries beside the others: is its mean lower or higher by more than chance?

Were a group like the others, any other units (queries, or clusters of them) could as well have
been in it; so the difference of means is held against those that other groups of that size would
have. This is the two-sample permutation test; for hits and misses it is Fisher's exact test.

Another group is made by sending some units A away and taking as many units B in. Were the group
higher by v and nothing else, the new difference is at least the old one exactly where

    mean of A - mean of B  <=  v

So every answer comes from one list, those differences over all groups, or over many drawn ones:
the share at or below v is the p-value of "higher by more than v", and its quantiles are the ends
of the interval. They cannot contradict each other, and raising a value in the group can make
"higher" only more certain.

What did not happen is in no list: where all values are equal, every difference is 0. But n units
leave room for a share of 1 - alpha ** (1 / n) of others, which may reach the bounds of the metric.
That widens the interval, and never takes more than half of what the test shows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Bools, Floats
from calipers.statistics.paired_test import unit_sums, unseen_share
from calipers.statistics.score_interval import UNIT, Bounds, Ends, check_confidence
from calipers.statistics.subset_means import SubsetMeans

EVERY_GROUP = 20_000
"""Up to so many other groups each of them is looked at."""
DRAWS = 10_000
"""Of more, so many are drawn, and as many mirror images; half beyond SOME units."""
SOME = 500
MANY = 2_000
"""Beyond so many units they are counted in steps of their values before groups are drawn."""
_STEPS = 40
FEWER_DRAWS = 5_000
_SEED = 19_350_722
_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class TwoSampleTest:
    """What the values of a group and of the rest say about the difference of their means."""

    n: int
    """Units of the group: queries, or clusters of them."""
    rest: int
    mean: float
    """Over queries, also where clusters are the units."""
    rest_mean: float
    limits: Bounds | None
    """What no value can leave, where that is known."""
    swaps: SubsetMeans

    @property
    def difference(self) -> float:
        """The mean of the group less that of the rest."""
        return self.mean - self.rest_mean

    def p_above(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the group is shown to be higher by more than this."""
        return self.swaps.share_up_to(value)

    def p_below(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the difference is shown to be below this."""
        return self.swaps.share_from(value)

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided p-value of the difference being this value."""
        return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))

    @property
    def least_p(self) -> float:
        """The smallest two-sided p that groups of these sizes could give.

        >>> two_sample_test([0.5, 0.5, 0.5, 0.5], [True, True, False, False]).least_p
        0.3333333333333333
        """
        return min(1.0, 2.0 / self.swaps.count)

    def interval(self, confidence: float = 0.95) -> Ends:
        """All differences whose two-sided p-value is above 1 - confidence, and what was unseen."""
        check_confidence(confidence)
        alpha = 0.5 - 0.5 * confidence
        low, high = self.swaps.low(alpha), self.swaps.high(alpha)
        if self.limits is None:
            return Ends(low, high)
        least, most = self.limits
        mine, theirs = unseen_share(self.n, alpha), unseen_share(self.rest, alpha)
        down = max(mine * (self.mean - least), theirs * (most - self.rest_mean))
        up = max(mine * (most - self.mean), theirs * (self.rest_mean - least))
        wide = self.difference - down, self.difference + up
        low = max(min(low, wide[0]), low / 2) if low > 0 else min(low, wide[0])
        high = min(max(high, wide[1]), high / 2) if high < 0 else max(high, wide[1])
        return Ends(max(low, least - most), min(high, most - least))


def two_sample_test(
    values: ArrayLike,
    inside: ArrayLike,
    clusters: ArrayLike | None = None,
    limits: Bounds | None = UNIT,
) -> TwoSampleTest | None:
    """What the values say of those inside; NaN is left out, None below two units on a side.

    >>> found = two_sample_test([0] * 4 + [1] * 6, [True] * 4 + [False] * 6)
    >>> found.difference, round(found.p_value(), 4), found.interval().high
    (-1.0, 0.0095, -0.5)
    """
    return two_sample_tests(values, [inside], clusters, limits)[0]


def two_sample_tests(
    values: ArrayLike,
    groups: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    limits: Bounds | None = UNIT,
) -> list[TwoSampleTest | None]:
    """The test of each group against all others; groups of equally many units share their draws.

    Of a cluster that is cut by a group, each part is a unit.
    """
    column = np.asarray(values, dtype=np.float64)
    tables = [_Table.of(column, np.asarray(inside, dtype=np.bool_), clusters) for inside in groups]
    found: list[TwoSampleTest | None] = [None] * len(groups)
    tested = [at for at, table in enumerate(tables) if table.smaller >= 2]
    drawn: dict[int, list[tuple[Floats, Floats]]] = {at: [] for at in tested}
    for n in sorted({tables[at].n for at in tested}):
        shared = [at for at in tested if tables[at].n == n and not tables[at].is_small]
        if n > MANY:
            for at in shared:
                drawn[at] += tables[at].by_steps()
            continue
        for groups_of in _drawn_groups(n, sorted({tables[at].smaller for at in shared})):
            for at in shared:
                if tables[at].smaller == groups_of.size:
                    drawn[at] += tables[at].swapped(groups_of.chosen, mirrored=True)
    for at in tested:
        table = tables[at]
        if table.is_small:
            drawn[at] += table.swapped(_every_group(table.n, table.smaller), mirrored=False)
        found[at] = table.test(drawn[at], limits)
    return found


@dataclass(frozen=True, eq=False)
class _Table:
    """The units of both sides in the order of their means, so that queries may come in any."""

    sums: Floats
    sizes: Floats
    first: Bools
    """Which belong to the smaller side: from it others are swapped."""
    turned: bool
    """Whether the smaller side is the rest."""
    alike: bool
    """Whether both sides hold the same: then neither is the first."""

    @classmethod
    def of(cls, column: Floats, inside: Bools, clusters: ArrayLike | None) -> "_Table":
        sides = []
        for side in (inside, ~inside):
            named = None if clusters is None else np.asarray(clusters)[side]
            sides.append(unit_sums(column[side], named))
        # Of equally large sides one is always the first, whatever they are called.
        keys = [(len(sums), *sums, *sizes) for sums, sizes in sides]
        turned = keys[0] > keys[1]
        one, other = reversed(sides) if turned else sides
        sums, sizes = np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
        first = np.arange(len(sums)) < len(one[0])
        order = np.lexsort((~first, sizes, sums / sizes))
        return cls(sums[order], sizes[order], first[order], turned, keys[0] == keys[1])

    @property
    def n(self) -> int:
        return len(self.sums)

    @property
    def smaller(self) -> int:
        return int(np.count_nonzero(self.first))

    @property
    def is_small(self) -> bool:
        # A choice of fifteen has more ways than that already; of thousands it takes minutes.
        return math.comb(self.n, min(self.smaller, self.n - self.smaller, 15)) <= EVERY_GROUP

    def swapped(self, chosen: Floats, *, mirrored: bool) -> list[tuple[Floats, Floats]]:
        """Differences of means of other groups, and as many zeros as are this group itself."""
        columns = [self.sums * self.first, self.sizes * self.first]
        columns += [self.sums * ~self.first, self.sizes * ~self.first]
        if mirrored:
            columns += [column[::-1] for column in columns]
        table = np.column_stack(columns)
        taken = chosen @ table
        if mirrored and 2 * self.smaller == self.n:
            # What such a group leaves over is one as well: so 1 - value has the same p-values.
            taken = np.concatenate([taken, table.sum(axis=0) - taken])
        return [self._differences(taken[:, at : at + 4].T) for at in range(0, len(columns), 4)]

    def by_steps(self) -> list[tuple[Floats, Floats]]:
        """The same, drawn as numbers of units with nearly the same value on the same side."""
        means = self.sums / self.sizes
        low, high = float(means.min()), float(means.max())
        step = np.floor((means - low) / max(high - low, 1e-300) * (_STEPS - 1)).astype(np.int64)
        _, kind = np.unique(2 * step + self.first, return_inverse=True)
        counts = np.bincount(kind)
        sums, sizes = (np.bincount(kind, one) / counts for one in (self.sums, self.sizes))
        first = np.bincount(kind, self.first) > 0
        random = np.random.default_rng(_SEED + self.n)
        drawn = random.multivariate_hypergeometric(
            counts, self.smaller, size=FEWER_DRAWS, method="marginals"
        ).astype(np.float64)
        columns = [sums * first, sizes * first, sums * ~first, sizes * ~first]
        return [self._differences((drawn @ np.column_stack(columns)).T)]

    def _differences(self, taken: Floats) -> tuple[Floats, Floats]:
        away = float(self.sums[self.first].sum()) - taken[0]
        away_size = float(self.sizes[self.first].sum()) - taken[1]
        some = taken[3] > 0
        difference = away[some] / away_size[some] - taken[2][some] / taken[3][some]
        return difference, taken[3][~some]

    def test(self, drawn: list[tuple[Floats, Floats]], limits: Bounds | None) -> TwoSampleTest:
        """The answer, with the group first."""
        differences = np.concatenate([some for some, _ in drawn])
        same = sum(len(none) for _, none in drawn)
        sides = [self.first, ~self.first]
        if self.alike and not self.is_small:
            differences, same = np.concatenate([differences, -differences]), 2 * same
        if self.turned:
            differences, sides = -differences, sides[::-1]
        mean, rest = (math.fsum(self.sums[one]) / math.fsum(self.sizes[one]) for one in sides)
        swaps = SubsetMeans(differences, same, 0 if self.is_small else 1)
        units = [int(np.count_nonzero(one)) for one in sides]
        return TwoSampleTest(units[0], units[1], mean, rest, limits, swaps)


@lru_cache(maxsize=64)
def _every_group(n: int, size: int) -> Floats:
    """Every group of so many of n units, one per row, 1 where a unit is in it."""
    places = np.array(list(combinations(range(n), size)), dtype=np.int64)
    chosen = np.zeros((len(places), n))
    np.put_along_axis(chosen, places, 1.0, axis=1)
    return chosen


class _Groups(NamedTuple):
    size: int
    chosen: Floats
    """One group per row, 1 where a unit is in it; overwritten by the next."""


def _drawn_groups(n: int, sizes: Sequence[int]) -> Iterator[_Groups]:
    """Random groups of each size (rising), some rows at a time; larger ones hold the smaller."""
    random = np.random.default_rng(_SEED + n)
    draws = DRAWS if n <= SOME else FEWER_DRAWS
    rows = max(1, min(draws, _AT_ONCE // n))
    ordered = np.tile(np.arange(n), (rows, 1))
    for start in range(0, draws if sizes else 0, rows):
        order = random.permuted(ordered[: min(rows, draws - start)], axis=1)
        chosen = np.zeros(order.shape)
        for smaller, size in pairwise([0, *sizes]):
            np.put_along_axis(chosen, order[:, smaller:size], 1.0, axis=1)
            yield _Groups(size, chosen)
