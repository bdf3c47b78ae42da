"""The normal and the Student t distribution, without scipy.

scipy.stats takes over a second to import; an interval needs two of its functions. They are
written here from the regularised incomplete beta function and tested against scipy.
"""

import math
from functools import lru_cache
from statistics import NormalDist

from calipers.errors import InvalidInput

_STANDARD_NORMAL = NormalDist()
_SMALLEST = 1e-300  # keeps the continued fraction away from a division by zero
_LARGE_SHAPE = 50.0  # from here the series for the ratio of gammas beats the difference of lgammas


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
    _require_probability(p)
    return _STANDARD_NORMAL.inv_cdf(p)


def t_cdf(t: float, df: float) -> float:
    """Probability that a Student t value with df degrees of freedom is at most t.

    >>> t_cdf(0.0, 7)
    0.5
    >>> round(t_cdf(2.262157, 9), 6)
    0.975
    """
    _require_degrees(df)
    if math.isnan(t):
        raise InvalidInput("t is not a number: found nan, a number is allowed.")
    tail = _upper_tail(abs(t), df)
    return tail if t < 0 else 1.0 - tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The t below which a Student t value with df degrees of freedom falls with probability p.

    >>> round(t_quantile(0.975, 9), 6)
    2.262157
    """
    _require_probability(p)
    _require_degrees(df)
    if p == 0.5:
        return 0.0
    tail = min(p, 1.0 - p)
    # The upper tail of t is convex and heavier than the normal one, so Newton's method that
    # starts at the normal quantile climbs to the root from the left and cannot overshoot.
    t = -_STANDARD_NORMAL.inv_cdf(tail)
    for _ in range(500):
        step = (_upper_tail(t, df) - tail) / _density(t, df)
        t += step
        if step <= 1e-14 * t:
            break
    return t if p > 0.5 else -t


def _require_probability(p: float) -> None:
    if not 0.0 < p < 1.0:
        raise InvalidInput(
            f"The probability of a quantile is out of range: found {p}, "
            "a number above 0 and below 1 is allowed."
        )


def _require_degrees(df: float) -> None:
    if not 0.0 < df < math.inf:
        raise InvalidInput(
            f"The degrees of freedom are out of range: found {df}, "
            "a finite number above 0 is allowed."
        )


def _upper_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0."""
    if math.isinf(t):
        return 0.0
    square = t * t
    a = 0.5 * df
    outer = df / (df + square)
    inner = square / (df + square)  # 1 - outer, without its cancellation
    if inner == 0.0:
        return 0.5
    log_outer = -math.log1p(square / df)
    log_front = a * log_outer + 0.5 * math.log(inner) - _log_beta_half(a)
    if outer < (a + 1.0) / (a + 2.5):
        return 0.5 * math.exp(log_front) * _beta_fraction(a, 0.5, outer) / a
    return 0.5 - math.exp(log_front) * _beta_fraction(0.5, a, inner)


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


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, from the front (Lentz)."""
    upper = 1.0
    lower = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = lower
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            lower = 1.0 / _away_from_zero(1.0 + term * lower)
            upper = _away_from_zero(1.0 + term / upper)
            change = upper * lower
            value *= change
        if abs(change - 1.0) < 1e-16:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
