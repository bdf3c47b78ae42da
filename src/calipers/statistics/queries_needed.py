"""How many queries show a difference, by trying the test that is really used.

The differences of a pilot are given the mean in question (`power` says how) and drawn again
and again, as many as there would be queries; the share of draws in which the test shows the
difference is the power. Skewed differences show one way sooner than the other. Unless
one way is asked for, both are tried and the harder one counts: it does not matter which of two
systems is called the first. Beyond 300 queries that move, the visible difference shrinks with the
root of their number.
"""

import math
from typing import NamedTuple

from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.visibility import Visibility
from calipers.statistics.clusters import as_units
from calipers.statistics.power import FEWEST_PILOT, Trial, fewest_queries

POWER = 0.8


class Needed(NamedTuple):
    """So many queries show this difference as often as was asked for."""

    queries: int
    """Clusters, where values are taken in clusters."""
    difference: float
    pilot: int
    """Differences that it is known from."""


def visible_difference(
    pilot: ArrayLike,
    queries: int | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
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
    trial = _trial(pilot, clusters, power, alpha, seed, one_way=one_way)
    n = trial.pilot if queries is None else queries
    if n < trial.fewest:
        raise InvalidInput(
            f"Too few queries to plan for: found {n}, which show no difference however large; at "
            f"least {trial.fewest} are needed."
        )
    return Needed(n, trial.visible(n), trial.pilot)


def needed_queries(
    pilot: ArrayLike,
    difference: float,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    *,
    one_way: bool = False,
) -> Needed:
    """About the smallest number of queries that shows the difference with this power.

    >>> found = needed_queries([0.3, -0.3] * 20, 0.1)
    >>> 65 <= found.queries <= 85
    True
    """
    if not 0.0 < abs(difference) < math.inf:
        raise InvalidInput(
            f"The difference is out of range: found {difference}, a number other than 0 is needed."
        )
    trial = _trial(pilot, clusters, power, alpha, seed, one_way=one_way)
    return Needed(trial.needed(abs(difference)), abs(difference), trial.pilot)


def visibility(
    differences: ArrayLike,
    alpha: float = 0.05,
    tests: int = 1,
    power: float = POWER,
    clusters: ArrayLike | None = None,
    largest: float | None = None,
    *,
    one_way: bool = False,
) -> Visibility:
    """What these paired differences (NaN left out) would show, and what would show more.

    With several tests one of them must pass alpha / tests, the first step of Holm's correction;
    that is what the answer is for. ``largest`` is the largest difference that there can be; with
    ``one_way`` it is a mean above zero that is looked for.

    >>> seen = visibility([0.3, -0.3] * 20)
    >>> round(seen.smallest, 2), seen.wanted, 250 <= seen.needed <= 330
    (0.15, 0.05, True)
    """
    if tests < 1:
        raise InvalidInput(f"The number of tests is {tests}; at least 1 is needed.")
    units, level = as_units(differences, clusters), alpha / tests
    n, fewest = units.n, fewest_queries(level)
    if n < fewest:
        return Visibility(n, power, level, fewest, None, None, None, "too few queries")
    if not units.variance:
        return Visibility(n, power, level, fewest, None, None, None, "no spread")
    trial = _trial(differences, clusters, power, level, 0, one_way=one_way)
    smallest = trial.visible(n)
    if largest is not None and smallest > largest:
        return Visibility(n, power, level, fewest, None, None, None, "too few moved")
    wanted = _rounder_below(0.6 * smallest)
    return Visibility(n, power, level, fewest, smallest, wanted, trial.needed(wanted))


def _rounder_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above the value.

    >>> _rounder_below(0.066), _rounder_below(0.2), _rounder_below(17.0)
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
    seed: int,
    *,
    one_way: bool,
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
    if not 0.0 < alpha < 1.0:
        raise InvalidInput(
            f"alpha is out of range: found {alpha}, a number above 0 and below 1 is allowed."
        )
    if not alpha < power < 1.0:
        raise InvalidInput(
            f"power is out of range: found {power}, "
            f"a number above alpha ({alpha}) and below 1 is allowed."
        )
    return Trial.of(units, power, alpha, seed, one_way=one_way)
