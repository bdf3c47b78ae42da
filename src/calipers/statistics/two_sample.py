"""One group of queries against another: different means, whatever their spreads.

A permutation test asks whether two groups are alike in everything; a group that is only more
varied fails it as well. Here each mean brings its own score interval, and the interval of the
difference of means is put together from the distances of the four ends (Newcombe's way):

    low = (m1 - m2) - sqrt((m1 - low1)**2 + (high2 - m2)**2)

The p-value is that of the interval which just touches zero, so test and interval agree.
"""

import math

from numpy.typing import ArrayLike

from calipers.statistics.clusters import Units, as_units
from calipers.statistics.score_interval import UNIT, Bounds, Ends, interval_of, normal_cdf

Point = tuple[float, float]
_STEPS = 40
_LEAST, _LARGEST = 0.01, 6.0


def unequal_interval(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
    clusters: tuple[ArrayLike, ArrayLike] | None = None,
) -> Ends | None:
    """The interval of the first mean less the second; None where either has under two values.

    >>> [round(end, 3) for end in unequal_interval([1.0] * 9 + [0.0], [0.5, 0.25, 0.75, 0.5])]
    [-0.116, 0.766]
    """
    return _interval(*_both(first, second, clusters), confidence, bounds)


def unequal_p(
    first: ArrayLike,
    second: ArrayLike,
    bounds: Bounds | None = UNIT,
    clusters: tuple[ArrayLike, ArrayLike] | None = None,
) -> float | None:
    """The two-sided p-value of equal means; None where either side has under two values.

    >>> unequal_p([0.5, 1.0, 0.75], [0.5, 1.0, 0.75])
    1.0
    >>> round(unequal_p([1.0] * 9 + [0.0], [0.5, 0.25, 0.75, 0.5]), 3)
    0.11
    """
    one, other = _both(first, second, clusters)
    if one.n < 2 or other.n < 2:
        return None
    if one.mean == other.mean:
        return 1.0
    # By the normal quantile z of p, the interval's reach is nearly a straight line.
    low, high = _LEAST, 2.0
    if (clear := _clearance(one, other, low, bounds)) <= 0.0:
        return 1.0
    while (touching := _clearance(one, other, high, bounds)) > 0.0:
        if high >= _LARGEST:
            return 2.0 * normal_cdf(-high)
        low, clear, high = high, touching, min(1.5 * high, _LARGEST)
    return 2.0 * normal_cdf(-_root(one, other, bounds, (low, clear), (high, touching)))


def _root(one: Units, other: Units, bounds: Bounds | None, low: Point, high: Point) -> float:
    """Where the clearance is zero, by straight lines; an end that sticks counts half."""
    sticking = 0
    middle = high[0]
    for _ in range(_STEPS):
        middle = low[0] + low[1] * (high[0] - low[0]) / (low[1] - high[1])
        value = _clearance(one, other, middle, bounds)
        if abs(value) < 1e-9 or high[0] - low[0] < 1e-9:
            break
        if value > 0.0:
            low = (middle, value)
            high = (high[0], high[1] * (0.5 if sticking > 0 else 1.0))
            sticking = 1
        else:
            high = (middle, value)
            low = (low[0], low[1] * (0.5 if sticking < 0 else 1.0))
            sticking = -1
    return middle


def _clearance(one: Units, other: Units, z: float, bounds: Bounds | None) -> float:
    """How far from zero the interval ends that has the confidence of z."""
    ends = _interval(one, other, 1.0 - 2.0 * normal_cdf(-z), bounds)
    if ends is None:
        return 0.0
    return ends.low if one.mean > other.mean else -ends.high


def _both(
    first: ArrayLike, second: ArrayLike, clusters: tuple[ArrayLike, ArrayLike] | None
) -> tuple[Units, Units]:
    named = clusters or (None, None)
    return as_units(first, named[0]), as_units(second, named[1])


def _interval(one: Units, other: Units, confidence: float, bounds: Bounds | None) -> Ends | None:
    mine, theirs = (interval_of(units, confidence, bounds) for units in (one, other))
    if mine is None or theirs is None:
        return None
    gap = one.mean - other.mean
    return Ends(
        gap - math.hypot(one.mean - mine.low, theirs.high - other.mean),
        gap + math.hypot(mine.high - one.mean, other.mean - theirs.low),
    )
