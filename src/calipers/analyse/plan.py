"""How many queries show a difference, by trying the test that is really used.

A pilot's differences are centred, moved by the difference in question and drawn again and again,
as many as there would be queries; the share of draws in which the test shows the difference is
the power. Moving all differences moves the lower end of the interval by as much, so one set of
draws answers for every difference: it is shown when it exceeds the distance from the mean to
that end. Beyond 2,000 queries that distance shrinks with the root of their number.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.analyse.difference import degrees, margins
from calipers.analyse.distributions import t_quantile
from calipers.analyse.resampling import FloatArray, IndexStream, blocks
from calipers.analyse.units import as_units
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools

POWER = 0.8
FEWEST_PILOT = 5
DRAWS = 2000
_LARGEST_DRAWN = 2000
_CELLS = 1 << 19
_MOST_QUERIES = 10**9


@dataclass(frozen=True, slots=True)
class PlannedQueries:
    """For so many queries, the difference that is missed no more often than 1 - power."""

    queries: int
    difference: float
    power: float
    alpha: float


def visible_difference(
    pilot: ArrayLike,
    queries: int | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> PlannedQueries:
    """The smallest difference that so many queries (as many as the pilot's) show with this power.

    With clusters, `queries` counts clusters. Test and draws are two-sided at alpha.

    >>> found = visible_difference([0.3, -0.3] * 20, queries=100)
    >>> found.queries, round(found.difference, 2)
    (100, 0.08)
    """
    units = as_units(pilot, clusters)
    if units.n < FEWEST_PILOT:
        raise InvalidInput(
            f"The pilot is too small to plan from: found {units.n} differences, at least "
            f"{FEWEST_PILOT} are needed."
        )
    _check(power, alpha)
    n = units.n if queries is None else queries
    if n < 2:
        raise InvalidInput(f"Too few queries to plan for: found {n}, at least 2 are needed.")
    drawn = min(n, _LARGEST_DRAWN)
    # In the order of size, so that the order of queries does not change what a seed draws.
    values = np.sort(units.values)
    # What did not move in the pilot does not move in a draw either.
    moves = (values != 0.0) | (units.moving == units.n)
    needed = np.sort(_needed(values - units.mean, moves, drawn, alpha, seed))
    found = float(needed[math.ceil(power * len(needed) - 1e-9) - 1])
    return PlannedQueries(n, found * math.sqrt(drawn / n), power, alpha)


def needed_queries(
    pilot: ArrayLike,
    difference: float,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> PlannedQueries:
    """About the smallest number of queries that shows the difference with this power.

    >>> found = needed_queries([0.3, -0.3] * 20, 0.1)
    >>> 65 <= found.queries <= 85
    True
    """
    if not 0.0 < abs(difference) < math.inf:
        raise InvalidInput(
            f"The difference is out of range: found {difference}, a number other than 0 is needed."
        )

    def at(n: int) -> PlannedQueries:
        return visible_difference(pilot, n, power, alpha, seed, clusters)

    low, high = 2, 8
    while at(high).difference > abs(difference):
        low, high = high, 4 * high
        if high > _MOST_QUERIES:
            raise InvalidInput(
                f"The difference is too small to plan for: {difference} would need over "
                f"{_MOST_QUERIES} queries; give a larger one."
            )
    # The draws vary by a few per cent, so a number within two per cent is as good as any.
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle).difference <= abs(difference) else (middle, high)
    return at(high)


def _needed(values: FloatArray, moves: Bools, n: int, alpha: float, seed: int) -> FloatArray:
    """For each draw of n centred values, how large a difference the test would have shown."""
    stream = IndexStream(len(values), seed)
    t_of_all = t_quantile(1.0 - alpha / 2.0, n - 1)
    needed = np.empty(DRAWS)
    for start, stop in blocks(DRAWS, max(1, _CELLS // n)):
        at = stream.take((stop - start) * n).reshape(-1, n)
        sample = values[at]
        mean = sample.mean(axis=1)
        away = sample - mean[:, np.newaxis]
        squares = (away**2).mean(axis=1)
        spread = np.sqrt(squares * n / (n - 1))
        usable = squares > 0.0
        cubes = (away**3).mean(axis=1)
        skewness = np.divide(cubes, squares**1.5, out=np.zeros(len(mean)), where=usable)
        t = np.full(len(mean), t_of_all)
        if not moves.all():
            moving = np.count_nonzero(moves[at], axis=1)
            for some in np.unique(moving):
                t[moving == some] = t_quantile(1.0 - alpha / 2.0, degrees(int(some)))
        # Without any spread the draw shows nothing about the mean but its own value.
        needed[start:stop] = spread * margins(skewness, n, t) - mean
    return np.maximum(needed, 0.0)


def _check(power: float, alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise InvalidInput(
            f"alpha is out of range: found {alpha}, a number above 0 and below 1 is allowed."
        )
    if not alpha < power < 1.0:
        raise InvalidInput(
            f"power is out of range: found {power}, "
            f"a number above alpha ({alpha}) and below 1 is allowed."
        )
