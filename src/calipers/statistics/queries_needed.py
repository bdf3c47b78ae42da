"""How many queries show a difference, by trying the test that is really used.

The differences of a pilot are given the mean in question (`power` says how) and drawn again
and again, as many as there would be queries; the share of draws in which the test shows the
difference is the power. Skewed differences show one way sooner than the other. Unless
one way is asked for, both are tried and the harder one counts: it does not matter which of two
systems is called the first. Beyond 300 queries that move, the visible difference shrinks with the
root of their number.

A pilot is a sample as well: another one would have given another plan. What is needed follows the
mean square of the differences, and that varies from pilot to pilot by a factor with a coefficient
of variation of sqrt((k - 1) / n), where k is the kurtosis (3 for normal differences, more with many
ties). The range is that of a chi-square distribution which varies as much.
"""

import math
from typing import NamedTuple

from numpy.typing import ArrayLike

from calipers.errors import InvalidInput, check_number
from calipers.model.claim import Visibility
from calipers.statistics.clusters import as_units
from calipers.statistics.many_tests import FEWEST_PILOT, fewest_queries
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.power import Trial
from calipers.statistics.score_interval import normal_quantile

POWER = 0.8


class Needed(NamedTuple):
    """So many queries show this difference as often as was asked for."""

    queries: int
    """Clusters, where values are taken in clusters."""
    difference: float
    pilot: int
    """Differences that it is known from."""
    low: float
    """What was looked for may be as low as this, as far as the pilot tells (90%)."""
    high: float


def visible_difference(
    pilot: ArrayLike,
    queries: int | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    clusters: ArrayLike | None = None,
    *,
    one_way: bool = False,
) -> Needed:
    """The smallest difference that so many queries (as many as the pilot's) show with this power.

    With clusters, `queries` counts clusters. The test is two-sided at alpha. With `one_way` the
    difference is a mean above zero, else either way.

    >>> found = visible_difference([0.3, -0.3] * 20, queries=100)
    >>> found.queries, round(found.difference, 2)
    (100, 0.09)
    """
    trial = _trial(pilot, clusters, power, alpha, one_way=one_way)
    n = trial.pilot if queries is None else queries
    if n < trial.fewest:
        raise InvalidInput(
            f"Too few queries to plan for: found {n}, which show no difference however large; at "
            f"least {trial.fewest} are needed."
        )
    found = trial.visible(n)
    if found == math.inf:
        raise InvalidInput(
            f"Too few queries to plan for: found {n}, which would often miss a difference of any "
            "size; give more."
        )
    low, high = (found * math.sqrt(factor) for factor in _factors(pilot, clusters))
    return Needed(n, found, trial.pilot, low, high)


def needed_queries(
    pilot: ArrayLike,
    difference: float,
    power: float = POWER,
    alpha: float = 0.05,
    clusters: ArrayLike | None = None,
) -> Needed:
    """About the smallest number of queries that shows the difference with this power.

    >>> found = needed_queries([0.3, -0.3] * 20, 0.1)
    >>> 65 <= found.queries <= 85, round(found.low), round(found.high)
    (True, 61, 127)
    """
    if not 0.0 < abs(difference) < math.inf:
        raise InvalidInput(
            f"The difference is out of range: found {difference}, a number other than 0 is needed."
        )
    trial = _trial(pilot, clusters, power, alpha)
    found = trial.needed(abs(difference))
    low, high = (math.ceil(found * factor) for factor in _factors(pilot, clusters))
    return Needed(found, abs(difference), trial.pilot, max(low, trial.fewest), high)


_RANGE = 0.9
_LEAST_KURTOSIS = 3.0


def _factors(pilot: ArrayLike, clusters: ArrayLike | None) -> tuple[float, float]:
    """How much less and more than now may be needed, by what a pilot of this size may miss."""
    units = as_units(pilot, clusters)
    fourth, second = units.central(4) / units.n, units.central(2) / units.n
    kurtosis = max(fourth / second**2, _LEAST_KURTOSIS)
    freedom = 2.0 * units.n / (kurtosis - 1.0)
    z = normal_quantile(0.5 + 0.5 * _RANGE)
    # Wilson and Hilferty's approximation to the quantiles of chi-square over its mean.
    step = 2.0 / (9.0 * freedom)
    most, least = ((1.0 - step + side * z * math.sqrt(step)) ** 3 for side in (1.0, -1.0))
    return 1.0 / most, 1.0 / max(least, _LEAST_SHARE)


_LEAST_SHARE = 0.05
"""A pilot of few differences leaves open that twenty times as many queries are needed, not more."""


def visibility(
    differences: ArrayLike,
    alpha: float = 0.05,
    tests: int = 1,
    power: float = POWER,
    clusters: ArrayLike | None = None,
    largest: float | None = None,
) -> Visibility:
    """What these paired differences (NaN left out) would show, and what would show more.

    With several tests one of them must pass alpha / tests, the first step of Holm's correction;
    that is what the answer is for. ``largest`` is the largest difference that there can be.

    >>> seen = visibility([0.3, -0.3] * 20)
    >>> round(seen.smallest, 2), seen.wanted, 250 <= seen.needed <= 330
    (0.15, 0.05, True)
    """
    check_number("The number of tests", tests, whole=True, least=1)
    units, level = as_units(differences, clusters), alpha / tests
    n, fewest = units.n, fewest_queries(level)
    if n < fewest:
        return Visibility(n, power, level, fewest, None, None, None, "too few queries")
    if not units.variance:
        return Visibility(n, power, level, fewest, None, None, None, "no spread")
    trial = _trial(differences, clusters, power, level)
    smallest = trial.visible(n)
    if smallest == math.inf or (largest is not None and smallest > largest):
        return Visibility(n, power, level, fewest, None, None, None, "too few moved")
    wanted = rounder_below(0.6 * smallest)
    return Visibility(n, power, level, fewest, smallest, wanted, trial.needed(wanted))


def queries_like_these(found: PairedRow, alpha: float = 0.05, power: float = POWER) -> int:
    """About how many units settle what these do not, were all further ones like them.

    Their mean must stand out of their spread, and so many of them must move that signs can tell.
    A quick figure, for a difference that was seen; `needed_queries` tries the test itself.

    >>> from calipers.statistics.paired_rows import paired_rows
    >>> queries_like_these(paired_rows([[-1.0] * 3 + [0.0] * 9])[0])
    30
    """
    fewest, reach = fewest_queries(alpha), normal_quantile(power)
    if not found.changed or not found.difference:
        return fewest
    share = found.changed / found.units
    away = reach * math.sqrt(1.0 - share)
    moved = ((away + math.sqrt(away * away + 4.0 * (fewest - 0.5))) / 2.0) ** 2
    out = (normal_quantile(1.0 - alpha / 2.0) + reach) * found.spread / found.difference
    return max(fewest, math.ceil(moved / share), math.ceil(out * out))


def rounder_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above the value.

    >>> rounder_below(0.066), rounder_below(0.2), rounder_below(17.0)
    (0.05, 0.2, 10.0)
    """
    exponent = math.floor(math.log10(value))
    for digit, power in ((5, exponent), (2, exponent), (1, exponent), (5, exponent - 1)):
        candidate = float(f"{digit}e{power}")
        if candidate <= value * (1 + 1e-9):
            return candidate
    return value


def _trial(
    pilot: ArrayLike,
    clusters: ArrayLike | None,
    power: float,
    alpha: float,
    *,
    one_way: bool = False,
) -> Trial:
    units = as_units(pilot, clusters)
    if units.n < FEWEST_PILOT:
        raise InvalidInput(
            f"The pilot is too small to plan from: found {units.n} differences, at least "
            f"{FEWEST_PILOT} are needed."
        )
    if not units.variance:
        raise InvalidInput(
            "The pilot says nothing of how differences vary: all of them are equal; give two "
            "systems that differ, on more queries."
        )
    check_number("alpha", alpha, above=0, below=1, such_as=0.05)
    check_number("The power", power, above=alpha, below=1, such_as=POWER)
    return Trial.of(units, power, alpha, one_way=one_way)
