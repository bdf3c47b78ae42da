"""The confidence interval of a mean over queries, in closed form, from two queries on.

The values of a bounded metric are scaled to 0 … 1. With m their mean and v their variance
they tell as much about the mean as

    n * m * (1 - m) / v

queries that are only right or wrong, and for those Wilson's score interval is known to
hold. So that is the interval, with the t quantile as v is estimated, and three amendments
that simulations proved necessary (docs/statistics.md):

- Few values can be equal by chance. v gets 3 * m * (1 - m) / n**2 on top, which is much for
  three queries and nothing for a hundred; it never exceeds that of values of only 0 and 1.
- Where all values are equal, v says nothing. At most 1 - (alpha / 2)**(1 / n) of all queries then
  differ, at worst by all the way to the bounds.
- Next to a bound, where only a few queries are not perfect, their number varies like a Poisson
  number, whose limit lies further out than Wilson's.

A metric without bounds has the t interval. Nothing is random or depends on the order.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import check_number
from calipers.model.arrays import Floats
from calipers.model.scores import Interval
from calipers.statistics.clusters import Units, as_units

Bounds = tuple[float, float]
UNIT: Bounds = (0.0, 1.0)

_LUCK = 3.0
# Quantiles may differ in the last digit between machines; printed numbers must not.
_DIGITS = 10


class Ends(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def mean_interval(
    values: ArrayLike,
    level: float = 0.95,
    bounds: Bounds | None = UNIT,
    clusters: ArrayLike | None = None,
) -> Interval | None:
    """The confidence interval of the mean; NaN is left out, None below two values (clusters).

    >>> mean_interval([1.0] * 20).shown, mean_interval([0.5, 0.5]).shown
    ('0.832–1.000', '0.079–0.921')
    >>> found = mean_interval([3.0, 5.0, 4.0], bounds=None)
    >>> found.shown, found.method
    ('1.516–6.484', 't')
    """
    return units_intervals([(as_units(values, clusters), bounds)], level)[0]


def units_intervals(
    several: Sequence[tuple[Units, Bounds | None]], level: float
) -> list[Interval | None]:
    """`mean_interval` of several metrics, given as units, in hardly more time than one."""
    check_confidence(level)
    intervals: list[Interval | None] = [None] * len(several)
    bounded: dict[int, list[tuple[int, Units, Bounds]]] = {}
    for at, (units, bounds) in enumerate(several):
        if units.n >= 2 and bounds is None:
            margin = quantile(level, units.n) * math.sqrt(units.variance / units.n)
            intervals[at] = Interval(units.mean - margin, units.mean + margin, level, "t")
        elif units.n >= 2 and bounds is not None:
            bounded.setdefault(units.n, []).append((at, units, bounds))
    for n, alike in bounded.items():
        shares = [(units.mean - low) / (high - low) for _, units, (low, high) in alike]
        variances = [
            units.variance / (high - low) ** 2 for _, units, (low, high) in alike
        ]
        ends = score_ends(np.clip(shares, 0.0, 1.0), np.array(variances), n, level)
        for (at, units, (low, high)), left, right in zip(
            alike, *map(list, ends), strict=True
        ):
            # The mean belongs to its interval; scaling back and forth may move it by a
            # last digit.
            intervals[at] = Interval(
                float(max(low, min(low + (high - low) * float(left), units.mean))),
                float(min(high, max(low + (high - low) * float(right), units.mean))),
                level,
                "score",
            )
    return intervals


def score_ends(
    mean: Floats, variance: Floats, n: int, confidence: float
) -> tuple[Floats, Floats]:
    """The ends for many samples of n values in 0 … 1 at once, from means and variances.

    >>> low, high = score_ends(np.array([0.5]), np.array([0.25]), 100, 0.95)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.403, 0.597)
    """
    t = quantile(confidence, n)
    binary = mean * (1.0 - mean)
    equal = variance <= 0.0
    spread = np.minimum(variance + _LUCK * binary / n**2, binary * n / (n - 1))
    usable = (binary > 0.0) & (spread > 0.0)
    worth = n * np.divide(binary, spread, out=np.ones_like(mean), where=usable)
    pull = t * t / worth
    middle = (mean + 0.5 * pull) / (1.0 + pull)
    margin = np.sqrt(pull * binary + 0.25 * pull * pull) / (1.0 + pull)
    low = middle - margin
    high = middle + margin
    low = _with_few(low, mean, _limit_of_few(mean, worth, t, confidence))
    high = 1.0 - _with_few(
        1.0 - high, 1.0 - mean, _limit_of_few(1.0 - mean, worth, t, confidence)
    )
    unseen = 1.0 - round((0.5 - 0.5 * confidence) ** (1.0 / n), _DIGITS)
    low = np.where(equal, mean * (1.0 - unseen), low)
    high = np.where(equal, mean + unseen * (1.0 - mean), high)
    return np.clip(low, 0.0, mean), np.clip(high, mean, 1.0)


def _with_few(low: Floats, share: Floats, few: Floats) -> Floats:
    """Blend in the limit of few where it is lower, fading out smoothly to a share of 3/4."""
    weight = np.clip(3.0 - 4.0 * share, 0.0, 1.0)
    ends: Floats = low + weight * np.minimum(few - low, 0.0)
    return ends


def _limit_of_few(share: Floats, worth: Floats, t: float, confidence: float) -> Floats:
    """The lower limit of a small share: that of a Poisson number, with its chi-squared quantile.

    The quantile is Wilson and Hilferty's. The rest gets half a count, too.
    """
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    honest = worth * (z / t if t else 1.0) ** 2  # fewer, as the spread is estimated too
    count = honest * share + 0.5
    step = 1.0 / (9.0 * count)
    lowest = count * np.maximum(1.0 - step - z * np.sqrt(step), 0.0) ** 3
    limit: Floats = lowest / (lowest + honest * (1.0 - share) + 0.5)
    return limit


def wilson(count: int, n: int, confidence: float = 0.95) -> Ends | None:
    """Wilson's interval of a share; None where nothing was counted.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    check_confidence(confidence)
    if not n:
        return None
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    share = count / n
    pull = z * z / n
    margin = math.sqrt(pull * share * (1.0 - share) + 0.25 * pull * pull)
    low, high = (share + 0.5 * pull + sign * margin for sign in (-1.0, 1.0))
    return Ends(
        0.0 if not count else low / (1.0 + pull),
        1.0 if count == n else high / (1.0 + pull),
    )


def quantile(confidence: float, n: int) -> float:
    """The t quantile of a two-sided interval from n values."""
    return round(t_quantile(0.5 + 0.5 * confidence, n - 1), _DIGITS)


def check_confidence(confidence: float) -> None:
    """Refuse an invalid confidence level."""
    check_number("The confidence level", confidence, above=0, below=1, such_as=0.95)


_STANDARD_NORMAL = NormalDist()
_CONVERGED = 1e-13
"""Below this the fraction only rounds: 1e-15 took 2,439 steps for 20,000 queries instead
of some tens, and moved nothing by more than 3e-13."""
_LARGE_SHAPE = (
    50.0  # from here the series for the ratio of gammas beats the difference of lgammas
)


def normal_cdf(z: float) -> float:
    """Probability that a standard normal value is at most z.

    Through erfc, so that far tails keep their relative accuracy.

    >>> round(normal_cdf(1.96), 4)
    0.975
    """
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """The z below which a standard normal value falls with probability p.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return _STANDARD_NORMAL.inv_cdf(p)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The t below which a Student t value with df degrees of freedom falls with probability p.

    >>> round(t_quantile(0.975, 9), 6)
    2.262157
    """
    if p == 0.5:
        return 0.0
    tail = min(p, 1.0 - p)
    # The upper tail of t is convex and heavier than the normal one, so Newton's method
    # that starts at the normal quantile climbs to the root from the left and cannot
    # overshoot.
    t = -_STANDARD_NORMAL.inv_cdf(tail)
    for _ in range(500):
        step = (_upper_tail(t, df) - tail) / _density(t, df)
        t += step
        if step <= 1e-14 * t:
            break
    return t if p > 0.5 else -t


def _upper_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0."""
    square = t * t
    a = 0.5 * df
    outer = df / (df + square)
    inner = square / (df + square)  # 1 - outer, without its cancellation
    if inner == 0.0:
        return 0.5
    log_outer = -math.log1p(square / df)
    log_front = a * log_outer + 0.5 * math.log(inner) - _log_beta_half(a)
    if outer < (a + 1.0) / (a + 2.5):
        return 0.5 * math.exp(log_front) * _fraction(a, 0.5, outer) / a
    return 0.5 - math.exp(log_front) * _fraction(0.5, a, inner)


def _fraction(a: float, b: float, x: float) -> float:
    return float(beta_fraction(*(np.array([argument]) for argument in (a, b, x)))[0])


def _density(t: float, df: float) -> float:
    log_density = -0.5 * (df + 1.0) * math.log1p(t * t / df)
    return math.exp(log_density - _log_beta_half(0.5 * df) - 0.5 * math.log(df))


def _log_beta_half(a: float) -> float:
    """log B(a, 1/2)."""
    half_log_pi = 0.5 * math.log(math.pi)
    if a < _LARGE_SHAPE:
        return half_log_pi + math.lgamma(a) - math.lgamma(a + 0.5)
    inverse_square = 1.0 / (a * a)
    series = (1 / 8 - inverse_square * (1 / 192 - inverse_square / 640)) / a
    return half_log_pi - 0.5 * math.log(a) + series


def beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, from the front (Lentz)."""
    upper = np.ones_like(a)
    lower = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value = lower.copy()
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            lower = 1.0 / (1.0 + term * lower)
            upper = 1.0 + term / upper
            change = upper * lower
            value *= change
        if np.abs(change - 1.0).max(initial=0.0) < _CONVERGED:
            break
    return value
