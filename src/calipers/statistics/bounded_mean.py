"""The largest mean that bounded values leave possible, whatever their shape: Gaffke's bound.

The values, and an unobserved one at the end of their range, are given random weights that add up
to one (uniform over all such weights); the bound is the quantile of the weighted mean. For
values of only 0 and 1 it is the exact limit of a share (Clopper and Pearson), so where all
are 0 it is the rule of three: 1 - alpha ** (1 / n) of the range. No shape is known for which it
covers less than it says (Gaffke 2005; Learned-Miller and Thomas 2019).

The weighted mean is at least t where a sum of exponential values, each times (value - t), is at
least 0. Its chance is Barndorff-Nielsen's saddlepoint approximation, which is within one
percent of the chance from two values on: no random number, no order.
"""

import math
from collections.abc import Callable

import numpy as np

from calipers.model.arrays import Floats
from calipers.statistics.score_interval import normal_quantile

_STEPS = 60
_CLOSE = 1e-10


def largest_bounded_mean(values: Floats, highest: float, alpha: float) -> float:
    """The upper bound of the mean, with error probability alpha.

    ``highest`` is the largest possible value, added as unobserved.

    >>> round(largest_bounded_mean(np.zeros(20), 1.0, 0.025), 3)  # 1 - 0.025 ** (1 / 20) is 0.168
    0.169
    >>> round(largest_bounded_mean(np.array([0.0, 1.0] * 10), 1.0, 0.025), 2)  # Clopper: 0.728
    0.73
    """
    weighted = np.sort(np.append(values, max(highest, float(values.max()))))
    top, middle = float(weighted[-1]), float(weighted.mean())
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
    low, high = 0.0, limit
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


def rising_root(function: Callable[[float], float], low: float, high: float, close: float) -> float:
    """Where a rising function is 0: false position, every third step in the middle.

    >>> round(rising_root(lambda x: x * x - 2.0, 0.0, 2.0, 1e-12), 6)
    1.414214
    """
    at_low, at_high = function(low), function(high)
    for count in range(_STEPS):
        if high - low <= close or at_high <= 0.0:
            break
        at = (low * at_high - high * at_low) / (at_high - at_low)
        at = at if count % 3 < 2 and low < at < high else 0.5 * (low + high)
        found = function(at)
        if abs(found) <= 1e-11:
            return at
        low, high = (low, at) if found > 0.0 else (at, high)
        at_low, at_high = (at_low, found) if found > 0.0 else (found, at_high)
    return high
