"""How small a change this many queries can see.

Power is that of the paired two-sided t test, from the noncentral t distribution itself, not from
its normal approximation: with s for the estimated over the true standard deviation,

    P(T > c) = integral over s of P(Z > c * s - shift) * density(s),

integrated by Gauss-Legendre over the range that holds all but 1e-20 of the mass of s. The
sign-flip test of `paired` has nearly the same power once there are some ten queries.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from calipers.analyse.distributions import normal_cdf, normal_quantile, t_quantile
from calipers.analyse.resampling import FloatArray
from calipers.errors import InvalidInput

_NODES = 200
_MOST_QUERIES = 10**12


def power_of_paired_test(difference: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """Chance that n paired queries show a true mean difference, given the sd of differences.

    >>> round(power_of_paired_test(0.05, sd=0.2, n=128), 3)
    0.802
    """
    _require_share("alpha", alpha)
    _require_sd(sd)
    _require_finite("difference", difference)
    if n < 2:
        raise InvalidInput(f"Too few queries for a paired test: found {n}, at least 2 are needed.")
    if sd == 0.0:
        return 1.0 if difference else alpha
    return _power(abs(difference) / sd * math.sqrt(n), n, alpha)


def smallest_detectable_difference(
    n: int, sd: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The smallest true mean difference that n paired queries show with the given power.

    None with fewer than two queries, which can show nothing.

    >>> round(smallest_detectable_difference(n=100, sd=0.2), 4)
    0.0566
    >>> smallest_detectable_difference(n=1, sd=0.2) is None
    True
    """
    _require_share("alpha", alpha)
    _require_power(power, alpha)
    _require_sd(sd)
    if n < 2:
        return None
    return _shift_for(n, power, alpha) * sd / math.sqrt(n)


def queries_needed(difference: float, sd: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The smallest number of paired queries that shows a true mean difference.

    >>> queries_needed(0.05, sd=0.2)
    128
    """
    _require_share("alpha", alpha)
    _require_power(power, alpha)
    _require_sd(sd)
    _require_finite("difference", difference)
    if difference == 0.0:
        raise InvalidInput("No number of queries shows a difference of 0: give another difference.")
    if sd == 0.0:
        return 2
    effect = abs(difference) / sd
    normal = ((normal_quantile(1 - alpha / 2) + normal_quantile(power)) / effect) ** 2
    if normal > _MOST_QUERIES:
        raise InvalidInput(
            f"The difference is too small to plan for: found {difference} with a standard "
            f"deviation of {sd}, which needs over {_MOST_QUERIES} queries; give a larger one."
        )

    def enough(n: int) -> bool:
        return _power(effect * math.sqrt(n), n, alpha) >= power

    # The normal approximation is a few queries short: walk up in doubling steps, then halve.
    too_few, step = max(1, math.floor(normal) - 2), 1
    if too_few > 1 and enough(too_few):
        too_few = 1
    while not enough(too_few + step):
        too_few, step = too_few + step, 2 * step
    return _first_true(enough, too_few, too_few + step)


def _first_true(holds: Callable[[int], bool], below: int, above: int) -> int:
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


@lru_cache(maxsize=1024)
def _shift_for(n: int, power: float, alpha: float) -> float:
    low, high = 0.0, 1.0
    while _power(high, n, alpha) < power:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _power(middle, n, alpha) >= power else (middle, high)
    return high


def _power(shift: float, n: int, alpha: float) -> float:
    """P(|T| > critical value) for a noncentral t with n - 1 degrees of freedom."""
    critical = t_quantile(1.0 - alpha / 2.0, n - 1)
    spreads, weights = _spread_of_sd(n - 1)
    chances = [
        normal_cdf(shift - critical * spread) + normal_cdf(-shift - critical * spread)
        for spread in spreads.tolist()
    ]
    return math.fsum((weights * np.array(chances)).tolist())


@lru_cache(maxsize=256)
def _spread_of_sd(df: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights for the estimated sd over the true one, weights adding up to 1."""
    reach = 10.0 / math.sqrt(2.0 * df)
    low, high = max(0.0, 1.0 - reach), 1.0 + reach
    nodes, weights = _gauss_legendre()
    spreads = low + (high - low) * 0.5 * (nodes + 1.0)
    # Up to a constant the log density is (df - 1) log s - df s**2 / 2. Written around s = 1 it
    # keeps its digits for large df, and dividing by the total stands in for the constant.
    away = spreads - 1.0
    log_density = df * (np.log1p(away) - away - 0.5 * away**2) - np.log1p(away)
    weighted = weights * np.exp(log_density - log_density.max())
    return spreads, weighted / weighted.sum()


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _require_share(name: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        raise InvalidInput(
            f"{name} is out of range: found {value}, a number above 0 and below 1 is allowed."
        )


def _require_power(power: float, alpha: float) -> None:
    if not alpha < power < 1.0:
        raise InvalidInput(
            f"power is out of range: found {power}, "
            f"a number above alpha ({alpha}) and below 1 is allowed."
        )


def _require_sd(sd: float) -> None:
    if not 0.0 <= sd < math.inf:
        raise InvalidInput(
            f"The standard deviation is out of range: found {sd}, "
            "a finite number from 0 up is allowed."
        )


def _require_finite(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise InvalidInput(f"{name} is not usable: found {value}, a finite number is allowed.")
