"""The largest mean that bounded values leave possible, whatever their shape.

**Gaffke's bound.** The values, and an unobserved one at the end of their range, are given random
weights that add up to one (uniform over all such weights); the bound is the quantile of the
weighted mean. For values of only 0 and 1 it is the exact limit of a share (Clopper and Pearson), so
where all are 0 it is the rule of three: 1 - alpha ** (1 / n) of the range. No shape is known for
which it covers less than it says (Gaffke 2005; Learned-Miller and Thomas 2019).

The weighted mean is at least t where a sum of exponential values, each times (value - t),
is at least 0. Its chance is Barndorff-Nielsen's saddlepoint approximation, which is
within one percent of the chance from two values on: no random number, no order.

**Stringer's bound**, made by auditors for losses between 0 and 1, most of them zero (most invoices
are right, some are wrong by a part of their value), is exact for hits, too, and closed. With x1 ≥
x2 ≥ … the values that are not zero, and p(j) the limit of a share with j ones among n:

    p(0) + (p(1) - p(0)) * x1 + (p(2) - p(1)) * x2 + …

It is conservative for every distribution that was ever tried, here as well
(docs/statistics.md).
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.score_interval import (
    beta_fraction,
    check_confidence,
    normal_quantile,
)

_STEPS = 60
_CLOSE = 1e-10
# Beyond this many nonzero values, neighbours are rounded up to the larger one.
_MOST_STEPS = 200
_DIGITS = 10


def largest_bounded_mean(values: Floats, highest: float, alpha: float) -> float:
    """The upper bound of the mean, with error probability alpha.

    ``highest`` is the largest possible value, added as unobserved.

    >>> round(largest_bounded_mean(np.zeros(20), 1.0, 0.025), 3)  # 1 - 0.025 ** (1 / 20) is 0.168
    0.169
    >>> round(largest_bounded_mean(np.array([0.0, 1.0] * 10), 1.0, 0.025), 2)  # Clopper: 0.728
    0.73
    """
    weighted = np.sort(np.append(values, max(highest, float(values.max()))))
    top = float(weighted[-1])
    middle = float(weighted.mean())
    span = top - float(weighted[0])
    if span <= 1e-12 * max(1.0, abs(top)):
        return top
    wanted = normal_quantile(1.0 - alpha)

    def above(t: float) -> float:
        return _deviate(weighted - t) - wanted

    # Closer to the mean than this the approximation is 0 / 0.
    low = middle + 1e-3 * float(weighted.std()) / math.sqrt(len(weighted))
    high = top - 1e-9 * span
    if above(low) >= 0.0:
        return low
    return min(rising_root(above, low, high, _CLOSE * span), top)


def _deviate(away: Floats) -> float:
    """The normal deviate of 0 for a sum of exponential values with these weights."""
    limit = 1.0 / float(away[-1])
    low = 0.0
    high = limit
    s = 0.5 * limit
    for _ in range(_STEPS):
        parts = away / (1.0 - s * away)
        slope = float(parts.sum())
        low, high = (s, high) if slope < 0.0 else (low, s)
        step = s - slope / float((parts * parts).sum())
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - s) <= 1e-13 * limit:
            break
        s = step
    left = 1.0 - s * away
    w = math.sqrt(max(2.0 * float(np.log(left).sum()), 1e-300))
    u = s * math.sqrt(float(((away / left) ** 2).sum()))
    return w + math.log(u / w) / w


def rising_root(
    function: Callable[[float], float], low: float, high: float, close: float
) -> float:
    """Where a rising function is 0: false position, every third step in the middle.

    >>> round(rising_root(lambda x: x * x - 2.0, 0.0, 2.0, 1e-12), 6)
    1.414214
    """
    at_low = function(low)
    at_high = function(high)
    for count in range(_STEPS):
        if high - low <= close or at_high <= 0.0:
            break
        at = (low * at_high - high * at_low) / (at_high - at_low)
        at = at if count % 3 < 2 and low < at < high else 0.5 * (low + high)
        value = function(at)
        if abs(value) <= 1e-11:
            return at
        low, high = (low, at) if value > 0.0 else (at, high)
        at_low, at_high = (at_low, value) if value > 0.0 else (value, at_high)
    return high


def largest_mean(losses: ArrayLike, confidence: float = 0.95) -> float:
    """The one-sided upper confidence bound of the mean; NaN is left out.

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
    edges = np.unique(
        np.linspace(0, len(sizes), min(len(sizes), _MOST_STEPS) + 1).astype(np.int64)
    )
    limits = upper_shares(n, edges, confidence)
    parts = [limits[0], *(np.diff(limits) * sizes[edges[:-1]])]
    return min(1.0, round(math.fsum(parts), _DIGITS))


def upper_shares(n: float, counts: ArrayLike, confidence: float) -> Floats:
    """One-sided upper confidence limits of shares, from counts among n.

    >>> np.round(upper_shares(20, np.array([0.0, 1.0, 20.0]), 0.95), 4).tolist()
    [0.1391, 0.2161, 1.0]
    """
    key = tuple(np.asarray(counts, dtype=np.float64).tolist())
    return np.array(_upper_shares(float(n), key, confidence))


def _about_upper_share(n: float, counts: Floats, confidence: float) -> Floats:
    """The limits of the normal distribution, from which a few steps lead to the exact ones."""
    z = normal_quantile(confidence)
    share = (counts + 0.5) / n
    spread = z * np.sqrt(share * np.maximum(1.0 - share, 0.0) / n + (z / (2.0 * n)) ** 2)
    middle = share + z * z / (2.0 * n)
    about: Floats = (middle + spread) / (1.0 + z * z / n)
    return np.clip(about, (counts + 1.0) / (n + 1.0), 1.0 - 1e-9)


@lru_cache(maxsize=256)
def _upper_shares(
    n: float, counts: tuple[float, ...], confidence: float
) -> tuple[float, ...]:
    j = np.array(counts)
    shares = np.ones(len(j))
    inside = j < n
    j = j[inside]
    a = n - j
    b = j + 1.0
    beta = np.array([math.lgamma(x) + math.lgamma(y) for x, y in zip(a, b, strict=True)])
    log_beta = beta - math.lgamma(n + 1.0)
    wanted = math.log1p(-confidence)
    # The logarithm of the chance is concave and falls in p: Newton's method steps above
    # the root at most once, and comes down to it from there.
    p = _about_upper_share(n, j, confidence)
    for _ in range(60):
        log_front = a * np.log1p(-p) + b * np.log(p) - log_beta
        fraction = beta_fraction(a, b, 1.0 - p)
        chance = log_front - np.log(a) + np.log(fraction)
        # d/dp of I(1 - p; a, b) is -(1 - p)**(a - 1) * p**(b - 1) / B, so that of its
        # logarithm:
        slope = -a / (fraction * (1.0 - p) * p)
        step = (chance - wanted) / slope
        p = np.clip(p - step, 1e-300, 1.0 - 1e-12)
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    shares[inside] = p
    return tuple(shares.tolist())
