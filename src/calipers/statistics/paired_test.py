"""Two retrievers on the same queries: how much better, and is that more than chance?

Everything here takes differences, one per unit (a query, or a cluster of queries): d = b - a, so
that above 0 means b is better. Were a and b alike, each difference could as well have the other
sign; so the mean is held against the means that other signs would give. It is the field's own
randomisation test, and for hits and misses it is the sign test.

A mean v is tested by turning the signs of d - v. Some turned signs make a sum at least as large
exactly where the mean of the turned differences is at most v. So every answer comes from one list,
the means of random subsets of the differences (Hartigan's typical values):

    p(the mean is above v)  =  share of the subsets whose mean is at most v, the empty one included
    lower end               =  the quantile of those means

Test and interval are two readings of that list and cannot contradict each other. Raising one
difference raises every mean it is part of: it can make "better" only more certain, and no end of
the interval falls. Units are put in order of their values first, so the order of the queries does
not matter.

What did not happen is in no subset: where nothing changed, every mean is 0. But n units leave room
for a share of 1 - alpha ** (1 / n) of others (the rule of three), which may reach the bounds of the
metric. That widens the interval, and p-values of other means than 0 with it; it never takes more
than half of what the test shows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Unseen
from calipers.statistics.paired_rows import mean_of_runs as mean_of_runs
from calipers.statistics.score_interval import (
    Ends,
    check_confidence,
    normal_cdf,
    normal_quantile,
)
from calipers.statistics.subset_means import ROUNDING, SubsetMeans, subset_means

DIFFERENCES: tuple[float, float] = (-1.0, 1.0)
"""How far two values of a metric between 0 and 1 can lie apart, either way."""
MANY = 1000
"""Beyond so many signs their sum is normal."""


@dataclass(frozen=True, eq=False)
class PairedTest:
    """What paired differences say about their mean: from it come tests and intervals."""

    n: int
    """Units: queries, or clusters of them."""
    better: int
    """Units above zero."""
    worse: int
    mean: float
    """Over queries, also where clusters are the units."""
    spread: float
    """The standard deviation of the units, for effect sizes and planning."""
    limits: tuple[float, float] | None
    """What no difference can leave, where that is known."""
    means: SubsetMeans

    @property
    def changed(self) -> int:
        """Units whose difference is not zero."""
        return self.better + self.worse

    def p_above(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie above the value."""
        seen = self.means.share_up_to(value)
        if self.limits is None or value >= self.mean:
            return seen
        unseen = self._chance_of_none((value - self.limits[0]) / (self.mean - self.limits[0]))
        return min(max(seen, unseen), self.means.share_up_to(max(2.0 * value, 0.0)))

    def p_below(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie below the value."""
        seen = self.means.share_from(value)
        if self.limits is None or value <= self.mean:
            return seen
        unseen = self._chance_of_none((self.limits[1] - value) / (self.limits[1] - self.mean))
        return min(max(seen, unseen), self.means.share_from(min(2.0 * value, 0.0)))

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided p-value of the mean being this value."""
        return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))

    def least_p(self, tests: int = 1) -> float:
        """The smallest two-sided p that so many units could give, all of them won.

        >>> paired_test([0.0] * 4).least_p()
        0.125
        """
        return min(1.0, 2.0 * 0.5**self.n * tests)

    def interval(self, confidence: float = 0.95) -> Ends:
        """All means whose two-sided p-value is above 1 - confidence."""
        check_confidence(confidence)
        return Ends(self.low(0.5 + 0.5 * confidence), self.high(0.5 + 0.5 * confidence))

    def low(self, confidence: float) -> float:
        """The mean is above this, with this confidence (one-sided)."""
        alpha = 1.0 - confidence
        end = self.means.low(alpha)
        if self.limits is None:
            return end
        unseen = unseen_share(self.n, alpha)
        wide = self.mean - unseen * (self.mean - self.limits[0])
        return self._cut(max(min(end, wide), end / 2) if end > 0 else min(end, wide))

    def high(self, confidence: float) -> float:
        """The mean is below this, with this confidence (one-sided)."""
        alpha = 1.0 - confidence
        end = self.means.high(alpha)
        if self.limits is None:
            return end
        unseen = unseen_share(self.n, alpha)
        wide = self.mean + unseen * (self.limits[1] - self.mean)
        return self._cut(min(max(end, wide), end / 2) if end < 0 else max(end, wide))

    def _chance_of_none(self, others: float) -> float:
        """That so many units hold none of those that would bring the mean to a value."""
        chance: float = max(others, 0.0) ** self.n
        return chance

    def _cut(self, end: float) -> float:
        low, high = self.limits or (-math.inf, math.inf)
        return min(max(end, low), high)


def paired_test(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
) -> PairedTest | None:
    """What the differences say; NaN is left out, None below two pairs (or clusters).

    >>> found = paired_test([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    >>> round(found.mean, 3), round(found.p_value(), 4), found.better
    (0.833, 0.002, 10)
    >>> [round(end, 3) for end in found.interval()]
    [0.348, 1.0]
    """
    return paired_tests([differences], clusters, [limits])[0]


def paired_tests(
    columns: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    limits: Sequence[tuple[float, float] | None] | None = None,
) -> list[PairedTest | None]:
    """The test of each column of differences; those of equal length share their random subsets."""
    units = [unit_sums(column, clusters) for column in columns]
    found: list[PairedTest | None] = [None] * len(columns)
    for n in sorted({len(sums) for sums, _ in units if len(sums) >= 2}):
        which = [at for at, (sums, _) in enumerate(units) if len(sums) == n]
        for at, means in zip(which, subset_means([units[at] for at in which], n), strict=True):
            sums, sizes = units[at]
            total = math.fsum(sums)
            found[at] = PairedTest(
                n,
                int(np.count_nonzero(sums > 0)),
                int(np.count_nonzero(sums < 0)),
                # What is left where gains and losses cancel out is rounding.
                total / math.fsum(sizes) if abs(total) >= ROUNDING else 0.0,
                float(np.std(sums / sizes, ddof=1)),
                DIFFERENCES if limits is None else limits[at],
                means,
            )
    return found


def sign_test(lost: int, gained: int) -> float:
    """How often chance alone would lose so many of those that changed.

    >>> sign_test(3, 0), round(sign_test(550, 450), 4), round(sign_test(5_500, 4_500), 4)
    (0.125, 0.0009, 0.0)
    """
    changed = lost + gained
    if changed > MANY:
        return normal_cdf((gained - lost + 1) / math.sqrt(changed))
    return sum(math.comb(changed, more) for more in range(lost, changed + 1)) / (1 << changed)


def unseen_share(n: int, alpha: float) -> float:
    """The share of units that n of them may lack by chance."""
    share: float = 1.0 - alpha ** (1.0 / n)
    return share


def unit_sums(column: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """Sum and size of each unit, in order of their means."""
    values = np.asarray(column, dtype=np.float64)
    known = ~np.isnan(values)
    sums: Floats = values[known]
    sizes: Floats = np.ones(len(sums))
    if clusters is not None:
        _, which = np.unique(np.asarray(clusters)[known], return_inverse=True)
        sizes = np.bincount(which).astype(np.float64)
        # Added in order of size, so that the order of the queries changes no bit.
        order = np.argsort(sums, kind="stable")
        sums = np.bincount(which[order], sums[order], minlength=len(sizes)).astype(np.float64)
    sums = np.where(np.abs(sums) < ROUNDING, 0.0, sums)
    order = np.lexsort((sizes, sums / sizes))
    return sums[order], sizes[order]


def undone_by(found: PairedTest, confidence: float = 0.95, value: float = 0.0) -> Unseen | None:
    """The queries that the sample may lack by chance and that would bring its mean to the value.

    Rare large losses beside many small gains: no test can see what is not in the sample. None
    where they would have to differ by more than half of what is possible, or nothing limits them.

    >>> found = undone_by(paired_test([0.05] * 20))
    >>> round(found.share, 3), round(found.change, 3)
    (0.139, 0.309)
    >>> undone_by(paired_test([0.5] * 20)) is None
    True
    """
    share: float = 1.0 - (1.0 - confidence) ** (1.0 / found.n)
    change = abs((value - (1.0 - share) * found.mean) / share)
    if found.limits is None or change > 0.5 * max(-found.limits[0], found.limits[1]):
        return None
    return Unseen(share, change)


def shown_above(sums: Floats, squares: Floats, least: Floats, changed: Ints, alpha: float) -> Bools:
    """For many samples, which of them show a mean above zero (two-sided alpha), for planning.

    Signs of many differences add up to what is nearly normal, in steps of twice the smallest; of
    few, all must agree.

    >>> six, sign = np.array([6.0]), np.array([1.0])
    >>> shown_above(six, six, sign, np.array([6]), 0.05).tolist()
    [True]
    """
    z = (sums - least) / np.sqrt(np.where(squares > 0.0, squares, 1.0))
    enough = 2.0 * 0.5 ** changed.astype(np.float64) <= alpha
    shown: Bools = enough & (squares > 0.0) & (z >= normal_quantile(1.0 - alpha / 2.0))
    return shown
