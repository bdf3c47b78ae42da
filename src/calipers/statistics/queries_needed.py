"""How many queries detect a difference, and how small a difference some queries detect.

The paired test compares the sum of n differences with its spread under random signs. With
mean d and mean square q it is significant at alpha (two-sided) with the power asked for
where

    n * d - step = z(alpha) * sqrt(n * q) + z(power) * sqrt(n * (q - d**2))

(``step`` is the smallest change: sums with random signs move in twice that), and where
enough queries change for a sign test.

**Another mean.** A pilot has its own mean; the plan is for another. Where every query changes, all
are shifted. Where most are ties, as with recall, a better retriever does not move each query by a
little: more gain and fewer lose. That is a tilt, which keeps gains * losses / ties**2 and makes
more queries change the larger the mean is. A pilot may lack rare cases: one more query (times the
share of ties) changes like the others.

**Another pilot** would have given another plan. What is needed follows the mean square of the
differences, which varies from pilot to pilot with a coefficient of variation of
sqrt((k - 1) / n), where k is the kurtosis. The range is that of a chi-square distribution which
varies as much. docs/statistics.md says how often such a plan holds.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.claim import Visibility
from calipers.statistics.clusters import Units, as_units
from calipers.statistics.score_interval import normal_quantile

POWER = 0.8
FEWEST_PILOT = 5
"""Fewer queries are too few for a pilot or for a significant difference."""
_MOST_QUERIES = 10**9
_RANGE = 0.9
_LEAST_KURTOSIS = 3.0
_LEAST_SHARE = 0.05
"""The range of a small pilot ends at twenty times as many queries."""


class Needed(NamedTuple):
    """The number of queries that detects a difference with the power asked for."""

    queries: int
    """Clusters, where clusters are given."""
    difference: float
    pilot: int
    """Number of differences in the pilot."""
    low: float
    """The lower end of the 90% range of the answer, from the uncertainty of the pilot."""
    high: float


def visible_difference(
    pilot: ArrayLike,
    queries: int | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    clusters: ArrayLike | None = None,
) -> Needed:
    """The smallest difference that so many queries (default: the pilot's) detect with this power.

    With clusters, `queries` counts clusters. The test is two-sided at alpha.

    >>> found = visible_difference([0.3, -0.3] * 20, queries=100)
    >>> found.queries, round(found.difference, 2)
    (100, 0.09)
    """
    trial = _trial(pilot, clusters, power, alpha)
    n = trial.n if queries is None else queries
    if n < trial.fewest:
        raise InvalidInput(
            f"Too few queries to plan for: found {n}, which show no difference however "
            f"large; at least {trial.fewest} are needed."
        )
    visible = trial.visible(n)
    low, high = (visible * math.sqrt(factor) for factor in trial.factors)
    return Needed(n, visible, trial.n, low, high)


def needed_queries(
    pilot: ArrayLike,
    difference: float,
    power: float = POWER,
    alpha: float = 0.05,
    clusters: ArrayLike | None = None,
) -> Needed:
    """About the smallest number of queries that detects the difference with this power.

    >>> found = needed_queries([0.3, -0.3] * 20, 0.1)
    >>> 65 <= found.queries <= 85, round(found.low), round(found.high)
    (True, 61, 127)
    """
    if not 0.0 < abs(difference) < math.inf:
        raise InvalidInput(
            f"The difference is out of range: found {difference}, a number other than 0 "
            "is needed."
        )
    trial = _trial(pilot, clusters, power, alpha)
    needed = math.ceil(trial.needed(abs(difference)))
    if needed > _MOST_QUERIES:
        raise InvalidInput(
            f"The difference is too small to plan for: {difference} would need over "
            f"{_MOST_QUERIES} queries; give a larger one."
        )
    low, high = (math.ceil(needed * factor) for factor in trial.factors)
    return Needed(needed, abs(difference), trial.n, max(low, trial.fewest), high)


def visibility(
    differences: ArrayLike,
    alpha: float = 0.05,
    power: float = POWER,
    clusters: ArrayLike | None = None,
    largest: float | None = None,
) -> Visibility:
    """What these paired differences (NaN left out) detect, and a rounder, smaller difference.

    ``largest`` is the largest difference that there can be.

    >>> seen = visibility([0.3, -0.3] * 20)
    >>> round(seen.smallest, 2), seen.wanted
    (0.15, 0.05)
    """
    units = as_units(differences, clusters)
    n = units.n
    fewest = fewest_queries(alpha)
    if n < fewest:
        return Visibility(n, power, alpha, fewest, None, None, "too few queries")
    if not units.variance:
        return Visibility(n, power, alpha, fewest, None, None, "no spread")
    trial = _Trial(units, power, alpha)
    smallest = trial.visible(n)
    if largest is not None and smallest > largest:
        return Visibility(n, power, alpha, fewest, None, None, "too few moved")
    return Visibility(n, power, alpha, fewest, smallest, rounder_below(0.6 * smallest))


def rounder_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above the value.

    >>> rounder_below(0.066), rounder_below(0.2), rounder_below(17.0)
    (0.05, 0.2, 10.0)
    """
    exponent = math.floor(math.log10(value))
    steps = (
        float(f"{digit}e{exponent - down}") for down in (0, 1) for digit in (5, 2, 1)
    )
    return next(step for step in steps if step <= value * (1 + 1e-9))


def fewest_queries(level: float) -> int:
    """With fewer queries, not even the same difference on all of them is significant.

    n equal differences have a two-sided p-value of 2 / 2**n, as in the sign test.

    >>> fewest_queries(0.05)
    6
    """
    return max(FEWEST_PILOT, 1 + math.ceil(math.log2(1.0 / level) - 1e-9))


def _until_enough_change(share: float, fewest: int, reach: float) -> float:
    """How many queries there must be so that, with this power, at least the fewest change."""
    away = reach * math.sqrt(1.0 - share)
    return ((away + math.sqrt(away * away + 4.0 * (fewest - 0.5))) / 2.0) ** 2 / share


def _trial(
    pilot: ArrayLike, clusters: ArrayLike | None, power: float, alpha: float
) -> "_Trial":
    units = as_units(pilot, clusters)
    if units.n < FEWEST_PILOT:
        raise InvalidInput(
            f"The pilot is too small to plan from: found {units.n} differences, at least "
            f"{FEWEST_PILOT} are needed."
        )
    if not units.variance:
        raise InvalidInput(
            "The pilot says nothing of how differences vary: all of them are equal; give "
            "two systems that differ, on more queries."
        )
    check_number("alpha", alpha, above=0, below=1, such_as=0.05)
    check_number("The power", power, above=alpha, below=1, such_as=POWER)
    return _Trial(units, power, alpha)


@dataclass(frozen=True, eq=False)
class _Trial:
    """A pilot, and the power and alpha of the test (two-sided)."""

    units: Units
    power: float
    alpha: float

    @property
    def n(self) -> int:
        return self.units.n

    @property
    def fewest(self) -> int:
        return fewest_queries(self.alpha)

    def needed(self, difference: float) -> float:
        """The smallest number of queries that detects the difference; not rounded."""
        moving, square, step = self._at(difference)
        reach = normal_quantile(self.power)
        wide = normal_quantile(1.0 - self.alpha / 2.0) * math.sqrt(square)
        wide += reach * math.sqrt(square - difference**2)
        root = (wide + math.sqrt(wide**2 + 4.0 * difference * step)) / (2.0 * difference)
        return max(self.fewest, root**2, _until_enough_change(moving, self.fewest, reach))

    def visible(self, n: int) -> float:
        """The smallest difference that n queries detect: the inverse of `needed`."""
        low = high = math.sqrt(self.units.variance / n)
        while self.needed(high) > n:
            low = high
            high = 2.0 * high
        while self.needed(low) <= n:
            low, high = 0.5 * low, low
        while high > low * (1.0 + 1e-7):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.needed(middle) > n else (low, middle)
        return float(f"{high:.6g}")

    def _at(self, difference: float) -> tuple[float, float, float]:
        """The share of queries that change, the mean square and the step, at another mean."""
        units = self.units
        sizes = np.abs(units.values[units.moves])
        still = 1.0 - len(sizes) / units.n
        share = (len(sizes) + still) / (units.n + still)
        usual = float(np.sort(sizes).mean())
        moving = 1.0
        if still:
            # The tilt: (s**2 - x**2) / (1 - s)**2 stays as it is at a mean of 0.
            odds = (share / (1.0 - share)) ** 2
            x = min(difference / usual, 1.0)
            a = 1.0 - odds
            b = odds
            c = -odds - x * x
            moving = (
                (-c / (2.0 * b)) if abs(a) < 1e-9 else (math.sqrt(b * b - a * c) - b) / a
            )
        square = (
            units.variance * moving * units.n / len(sizes) + (share * difference) ** 2
        )
        # Values that all have the mean have its square.
        return min(moving, 1.0), max(square, difference**2), float(sizes.min())

    @property
    def factors(self) -> tuple[float, float]:
        """The factors from the estimate to the ends of its range, for a pilot of this size."""
        units = self.units
        fourth = units.central(4) / units.n
        second = units.central(2) / units.n
        freedom = 2.0 * units.n / (max(fourth / second**2, _LEAST_KURTOSIS) - 1.0)
        z = normal_quantile(0.5 + 0.5 * _RANGE)
        # Wilson and Hilferty's approximation to the quantiles of chi-square over its
        # mean.
        step = 2.0 / (9.0 * freedom)
        most, least = (
            (1.0 - step + side * z * math.sqrt(step)) ** 3 for side in (1.0, -1.0)
        )
        return 1.0 / most, 1.0 / max(least, _LEAST_SHARE)
