"""What counts as one observation: a query, or all queries of one cluster.

Paraphrases of one intent succeed and fail together: counted as separate queries they make
intervals too narrow. The mean stays the mean over queries: a ratio of sum and number,
which varies like the mean of its linearised values, one per cluster:

    mean + (sum of the cluster - mean * size of the cluster) / average size

So clusters turn into plain values, and every interval and test takes those like any
others. Weights of queries do the same: a query of weight w counts like w queries that
succeed and fail together.
"""

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class Units:
    """Independent values, with the mean over queries that they represent."""

    values: Floats
    mean: float
    moves: Bools
    """Which units are not zero: queries, or clusters with such a query."""

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.values)

    def central(self, power: int) -> float:
        """The central moment sum of the values, independent of their order."""
        distance = self.values - self.mean
        moment = distance
        # Multiplied: a power of an array may differ in its last digit by position.
        for _ in range(power - 1):
            moment = moment * distance
        return exact_sum(moment)

    @cached_property
    def variance(self) -> float:
        """The variance of a sample (n - 1); 0.0 where it is only rounding noise."""
        if self.n < 2:
            return 0.0
        low = float(self.values.min())
        high = float(self.values.max())
        if high - low <= 1e-12 * max(-low, high):
            return 0.0
        return self.central(2) / (self.n - 1)


def as_units(
    values: ArrayLike, clusters: ArrayLike | None = None, weights: Floats | None = None
) -> Units:
    """The values without NaN, one unit per query, or one per cluster where clusters are given.

    The mean is weighted where ``weights`` are given, one per value.

    >>> as_units([1.0, float("nan"), 0.0]).values.tolist()
    [1.0, 0.0]
    >>> units = as_units([1.0, 1.0, 0.0, 0.0], clusters=["a", "a", "b", "b"])
    >>> units.values.tolist(), units.mean
    ([1.0, 0.0], 0.5)
    >>> as_units([1.0, 0.0, 0.0], weights=np.array([1.0, 0.5, 0.5])).mean
    0.5
    """
    column = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(column)
    kept = column[defined]
    if not np.isfinite(kept).all():
        raise InvalidInput(
            f"A value cannot be averaged: found {kept[~np.isfinite(kept)][0]}, "
            "a finite number is needed."
        )
    if not len(kept):
        return Units(kept, float("nan"), kept != 0.0)
    if clusters is None and weights is None:
        return Units(kept, exact_mean(kept), kept != 0.0)
    weight = np.ones(len(kept)) if weights is None else weights[defined]
    mean = exact_mean(kept) if weights is None else weighted_mean(kept, weight)
    if clusters is None:
        linear = mean + (kept - mean) * (weight / exact_mean(weight))
        return Units(linear, mean, kept != 0.0)
    _, number = np.unique(np.asarray(clusters)[defined], return_inverse=True)
    order = np.lexsort((kept, number))
    ends = np.flatnonzero(np.diff(number[order])) + 1
    totals = np.array(
        [exact_sum(part) for part in np.split((kept * weight)[order], ends)]
    )
    sizes = np.bincount(number, weight)
    average = exact_sum(weight) / len(sizes)
    linear = mean + (totals - mean * sizes) / average
    touched = np.bincount(number, weights=kept != 0.0)
    return Units(linear, mean, touched > 0.0)


EVEN = 0.65
"""Clusters are uneven if their effective number is below this share of their number.

Intervals of means then cover less than 92 % where the queries of a cluster succeed and
fail together: 30 among 20 pairs .71, 10 among 20 pairs (a share of .66) .94
(docs/statistics.md).
"""


@dataclass(frozen=True)
class ClusterSizes:
    """The number of clusters, and their effective number."""

    clusters: int
    queries: int
    largest: int
    """Queries in the largest cluster."""
    effective: float
    """Clusters of equal size with as much information (Kish)."""

    @property
    def uneven(self) -> bool:
        """Whether so few of them dominate that the interval of a mean is too narrow."""
        return self.effective < EVEN * self.clusters


def cluster_sizes(clusters: ArrayLike) -> ClusterSizes:
    """The sizes of the clusters, from one name per query.

    >>> found = cluster_sizes(["a"] * 30 + ["b", "b", "c", "c", "d", "d"])
    >>> found.clusters, found.largest, round(found.effective, 1), found.uneven
    (4, 30, 1.4, True)
    """
    sizes = np.unique(np.asarray(clusters), return_counts=True)[1]
    queries = int(sizes.sum())
    effective = (
        queries**2 / float((sizes.astype(np.float64) ** 2).sum()) if queries else 0.0
    )
    return ClusterSizes(len(sizes), queries, int(sizes.max(initial=0)), effective)


def as_shares(losses: Floats, clusters: ArrayLike | None = None) -> tuple[Floats, float]:
    """Independent values between 0 and 1, and the factor from their mean to the mean loss.

    A cluster counts as its sum over the size of the largest: whole clusters lose
    together.

    >>> as_shares(np.array([0.5, 1.0, 0.0]), ["a", "a", "b"])
    (array([0.75, 0.  ]), 1.3333333333333333)
    """
    if clusters is None:
        return losses, 1.0
    _, number = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(number).astype(np.float64)
    sums = np.array(
        [exact_sum(losses[number == cluster]) for cluster in range(len(sizes))]
    )
    return np.minimum(sums / sizes.max(), 1.0), float(
        sizes.max() * len(sizes) / sizes.sum()
    )


_SHORT = 512
# The exponents within which scaling by a power of two loses nothing.
_SAFE_EXPONENT = 900


def exact_sum(column: Floats) -> float:
    """What `math.fsum` gives, without a Python object for each of very many values.

    >>> exact_sum(np.array([1e16, 1.0, -1e16, 1.0]))
    2.0
    """
    if column.size <= _SHORT:
        return math.fsum(column.tolist())
    # Whole numbers of so many bits have exact sums, doubled as well.
    bits = 52 - column.size.bit_length()
    parts = []
    rest = column
    while rest.size:
        magnitude = max(float(rest.max()), -float(rest.min()))
        exponent = math.frexp(magnitude)[1] - bits
        if not abs(exponent) < _SAFE_EXPONENT:
            return math.fsum(column.tolist())
        # The leading bits of every value as whole numbers: their sum has no rounding. The
        # remainder of each value is exact too, and is added in the next pass.
        leading = np.rint(rest * math.ldexp(1.0, -exponent))
        parts.append(math.ldexp(float(leading.sum()), exponent))
        rest = rest - leading * math.ldexp(1.0, exponent)
        # Selecting the nonzero remainders costs more than adding a few zeros.
        if np.count_nonzero(rest) <= rest.size // 4:
            rest = rest[rest != 0.0]
    return math.fsum(parts)


def exact_mean(column: Floats) -> float:
    """The mean from a sum that is rounded once, whatever the order of the values.

    >>> exact_mean(np.array([1e16, 1.0, -1e16, 1.0]))
    0.5
    """
    mean = exact_sum(column) / len(column)
    # The division rounds once more, which can lift the mean of equal values off them.
    return min(max(mean, float(column.min())), float(column.max()))


def weighted_mean(column: Floats, weights: Floats) -> float:
    """The mean of values, each of which counts as often as its weight says.

    >>> weighted_mean(np.array([1.0, 0.0]), np.array([1.0, 0.5]))
    0.6666666666666666
    """
    mean = exact_sum(column * weights) / exact_sum(weights)
    return min(max(mean, float(column.min())), float(column.max()))


def effective_queries(weights: Floats) -> float:
    """Queries of equal weight that tell as much (Kish).

    >>> round(effective_queries(np.array([1.0, 0.5, 0.5])), 1)
    2.7
    """
    return exact_sum(weights) ** 2 / exact_sum(weights**2)
