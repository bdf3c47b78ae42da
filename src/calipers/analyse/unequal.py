"""One group of queries against another: different means, whatever their spreads.

A permutation test asks whether two groups are alike in everything; a group that is only more
varied fails it as well. Here each mean brings its own score interval, and the interval of the
difference of means is put together from the distances of the four ends (Newcombe's way):

    low = (m1 - m2) - sqrt((m1 - low1)**2 + (high2 - m2)**2)

The p-value is that of the interval which just touches zero, so test and interval agree.
"""

import math

from numpy.typing import ArrayLike

from calipers.analyse.score_interval import UNIT, Bounds, Ends, interval_of
from calipers.analyse.units import Units, as_units

_STEPS = 30


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
    # Halving in the logarithm of p, as what matters are its leading digits.
    low, high = math.log(1e-15), -1e-6
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        ends = _interval(one, other, -math.expm1(middle), bounds)
        if ends is not None and ends.low <= 0.0 <= ends.high:
            low = middle
        else:
            high = middle
    return math.exp(high)


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
