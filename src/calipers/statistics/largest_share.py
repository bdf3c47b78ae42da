"""Upper bound of the mean of values between 0 and 1, most of them zero.

For values of only 0 and 1 it is the exact limit of a share (Clopper and Pearson): with j ones
among n, the share p at which j or fewer have a chance of 1 - confidence. For values in between it
is Stringer's bound, made by auditors for the same case (most invoices are right, some are wrong
by a part of their value): with x1 ≥ x2 ≥ … the values that are not zero,

    p(0) + (p(1) - p(0)) * x1 + (p(2) - p(1)) * x2 + …

It is conservative for every distribution that was ever tried, here as well (docs/statistics.md).
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.score_interval import beta_fraction, check_confidence

# Beyond this many nonzero values, neighbours are rounded up to the larger one.
_MOST_STEPS = 200
_DIGITS = 10


def largest_mean(losses: ArrayLike, confidence: float = 0.95, times: float = 1.0) -> float:
    """The one-sided upper confidence bound of the mean; NaN is left out.

    `times` gives the bound for so many times as many values, in the same proportions.

    >>> round(largest_mean([0.0] * 59), 3), round(largest_mean([0.0] * 58 + [1.0]), 3)
    (0.05, 0.078)
    >>> largest_mean([])
    1.0
    """
    check_confidence(confidence)
    column = np.asarray(losses, dtype=np.float64).ravel()
    column = column[~np.isnan(column)]
    if not ((column >= 0.0) & (column <= 1.0)).all():
        raise InvalidInput("The losses are out of range: each must lie between 0 and 1.")
    n = len(column)
    if not n:
        return 1.0
    sizes = np.sort(column[column > 0.0])[::-1]
    edges = np.unique(np.linspace(0, len(sizes), min(len(sizes), _MOST_STEPS) + 1).astype(np.int64))
    limits = upper_shares(n * times, edges * times, confidence)
    parts = [limits[0], *(np.diff(limits) * sizes[edges[:-1]])]
    return min(1.0, round(math.fsum(parts), _DIGITS))


def upper_shares(n: float, counts: ArrayLike, confidence: float) -> Floats:
    """One-sided upper confidence limits of shares, from counts among n.

    >>> np.round(upper_shares(20, np.array([0.0, 1.0, 20.0]), 0.95), 4).tolist()
    [0.1391, 0.2161, 1.0]
    """
    key = tuple(np.asarray(counts, dtype=np.float64).tolist())
    return np.array(_upper_shares(float(n), key, confidence))


@lru_cache(maxsize=256)
def _upper_shares(n: float, counts: tuple[float, ...], confidence: float) -> tuple[float, ...]:
    j = np.array(counts)
    shares = np.ones(len(j))
    inside = j < n
    j = j[inside]
    a, b = n - j, j + 1.0
    beta = np.array([math.lgamma(x) + math.lgamma(y) for x, y in zip(a, b, strict=True)])
    log_beta = beta - math.lgamma(n + 1.0)
    wanted = math.log1p(-confidence)
    # The logarithm of the chance is concave and falls in p: Newton's method steps above the root
    # at most once, and comes down to it from there.
    p = (j + 1.0) / (n + 1.0)
    for _ in range(60):
        log_front = a * np.log1p(-p) + b * np.log(p) - log_beta
        fraction = beta_fraction(a, b, 1.0 - p)
        chance = log_front - np.log(a) + np.log(fraction)
        # d/dp of I(1 - p; a, b) is -(1 - p)**(a - 1) * p**(b - 1) / B, so that of its logarithm:
        slope = -a / (fraction * (1.0 - p) * p)
        step = (chance - wanted) / slope
        p = np.clip(p - step, 1e-300, 1.0 - 1e-12)
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    shares[inside] = p
    return tuple(shares.tolist())
