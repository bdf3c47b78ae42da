"""How many queries show a difference, by trying the test that is really used.

A pilot's differences are centred, moved by the difference in question and drawn again and again,
as many as there would be queries; the share of draws in which the test shows the difference is
the power. Moving all differences moves the lower end of the interval by as much, so one set of
draws answers for every difference: it is shown when it exceeds the distance from the mean to
that end. Beyond 2,000 queries that distance shrinks with the root of their number.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.analyse.difference import degrees, margins
from calipers.analyse.distributions import t_quantile
from calipers.analyse.draws import IndexStream, blocks
from calipers.analyse.units import as_units
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats
from calipers.model.plan import QueryPlan, Visibility

POWER = 0.8
FEWEST_PILOT = 5
DRAWS = 2000
FEWEST_DRAWS = 250
_CELLS_IN_ALL = 400_000
"""Draws times queries: with many queries a few hundred draws say as much."""
_LARGEST_DRAWN = 2000
_CELLS = 1 << 19
_MOST_QUERIES = 10**9
_GUESSES = 8


def visible_difference(
    pilot: ArrayLike,
    queries: int | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> QueryPlan:
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
    return QueryPlan(n, found * math.sqrt(drawn / n), power, alpha, pilot=units.n)


def as_seen(differences: ArrayLike, clusters: ArrayLike | None = None) -> Floats:
    """The differences with the sign that puts their mean above zero.

    Skewed differences show one way sooner than the other. A plan is made for the way that the
    pilot went, so that it does not matter which of two systems is called the first.

    >>> as_seen([-0.5, 0.0, 0.25]).tolist()
    [0.5, -0.0, -0.25]
    """
    units, column = as_units(differences, clusters), np.asarray(differences, dtype=np.float64)
    # Where the mean is zero, the way in which less shows.
    down = units.mean < 0.0 or (units.mean == 0.0 and units.skewness > 0.0)
    return -column if down else column


def needed_queries(
    pilot: ArrayLike,
    difference: float,
    power: float = POWER,
    alpha: float = 0.05,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> QueryPlan:
    """About the smallest number of queries that shows the difference with this power.

    >>> found = needed_queries([0.3, -0.3] * 20, 0.1)
    >>> 65 <= found.queries <= 85
    True
    """
    if not 0.0 < abs(difference) < math.inf:
        raise InvalidInput(
            f"The difference is out of range: found {difference}, a number other than 0 is needed."
        )

    wanted = abs(difference)

    def at(n: int) -> QueryPlan:
        return visible_difference(pilot, n, power, alpha, seed, clusters)

    # What is visible shrinks with about the root of the number: each guess is near the last.
    found = at(max(FEWEST_PILOT, as_units(pilot, clusters).n))
    for _ in range(_GUESSES):
        guess = max(2.0, found.queries * (found.difference / wanted) ** 2)
        if guess > _MOST_QUERIES:
            raise InvalidInput(
                f"The difference is too small to plan for: {difference} would need over "
                f"{_MOST_QUERIES} queries; give a larger one."
            )
        if abs(math.ceil(guess) - found.queries) <= _near(found.queries):
            break
        found = at(math.ceil(guess))
    while found.difference > wanted:
        found = at(found.queries + _near(found.queries))
    return replace(found, asked="queries")


def _near(queries: int) -> int:
    """The draws vary by a few per cent, so a number within two per cent is as good as any."""
    return max(1, queries // 50)


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
    (0.14, 0.05, True)
    """
    if tests < 1:
        raise InvalidInput(f"The number of tests is {tests}; at least 1 is needed.")
    units, level = as_units(differences, clusters), alpha / tests
    n, fewest = units.n, fewest_queries(level)
    if n < fewest:
        return Visibility(n, power, level, fewest, None, None, None, "too few queries")
    if not units.variance:
        return Visibility(n, power, level, fewest, None, None, None, "no spread")
    smallest = visible_difference(differences, None, power, level, clusters=clusters).difference
    if largest is not None and smallest > largest:
        return Visibility(n, power, level, fewest, None, None, None, "too few moved")
    wanted = rounder_below(0.6 * smallest)
    needed = needed_queries(differences, wanted, power, level, clusters=clusters).queries
    return Visibility(n, power, level, fewest, smallest, wanted, needed)


def fewest_queries(level: float) -> int:
    """With fewer queries than this, not even the same difference on all of them is shown.

    n equal differences have a two-sided p-value of 2 / 2**n, as in the sign test.

    >>> fewest_queries(0.05)
    6
    """
    return max(FEWEST_PILOT, 1 + math.ceil(math.log2(1.0 / level) - 1e-9))


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


def _needed(values: Floats, moves: Bools, n: int, alpha: float, seed: int) -> Floats:
    """For each draw of n centred values, how large a difference the test would have shown."""
    stream = IndexStream(len(values), seed)
    t_of_all = t_quantile(1.0 - alpha / 2.0, n - 1)
    draws = min(DRAWS, max(FEWEST_DRAWS, _CELLS_IN_ALL // n))
    needed = np.empty(draws)
    for start, stop in blocks(draws, max(1, _CELLS // n)):
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
