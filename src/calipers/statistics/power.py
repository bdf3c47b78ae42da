"""Trying the test on differences of another mean, again and again: its power.

What does not move needs no drawing, only counting. The draws are the same for every mean and
every number of queries, so that more of either shows more.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints
from calipers.statistics.alternative import Alternative, Alternatives
from calipers.statistics.clusters import Units
from calipers.statistics.distributions import normal_quantile
from calipers.statistics.draws import words
from calipers.statistics.paired_test import shown_above

FEWEST_PILOT = 5
DRAWS = 1024
MOST_MOVING = 300
MOST_QUERIES = 10**9
NEAR = 0.004
"""A power that is above the one asked for by less than this is that one."""
_STEP = 1.3


@dataclass(frozen=True, eq=False)
class Trial:
    """A pilot, and what is asked of the test (two-sided at alpha)."""

    pilot: int
    """How many differences it has."""
    ways: tuple[Alternatives, ...]
    spread: float
    most: int
    """More queries than this are not drawn: the visible difference follows their root."""
    power: float
    alpha: float
    seed: int

    @classmethod
    def of(cls, units: Units, power: float, alpha: float, seed: int, *, one_way: bool) -> "Trial":
        """Both ways count unless one is asked for, as skewed differences show one way sooner."""
        ways = tuple(Alternatives.of(units, sign) for sign in ((1.0,) if one_way else (1.0, -1.0)))
        most = MOST_MOVING * units.n // units.moving
        return cls(units.n, ways, math.sqrt(units.variance), most, power, alpha, seed)

    def visible(self, n: int) -> float:
        """The smallest difference that is shown often enough by n queries."""
        drawn = min(n, self.most)

        def missing(log_difference: float) -> float:
            there = [way.at(math.exp(log_difference)) for way in self.ways]
            return self.power - self._shown(there, drawn)

        start = math.log(self._about(drawn))
        found = math.exp(_root(missing, start, math.log(_STEP), 0.002))
        return float(f"{found * math.sqrt(drawn / n):.6g}")

    def needed(self, difference: float) -> int:
        """The smallest number of queries that show the difference often enough."""
        there = [way.at(difference) for way in self.ways]
        fewest, most = math.log(self.fewest), math.log(self.most)

        def missing(log_queries: float) -> float:
            if log_queries > most:
                return -1.0
            return self.power - self._shown(there, round(math.exp(log_queries)))

        if missing(fewest) <= 0.0:
            return self.fewest
        start = 2.0 * math.log(self._about(1) / difference)
        found = _root(missing, min(max(start, fewest), most), 2.0 * math.log(_STEP), 0.004)
        if found < most:
            return round(math.exp(found))
        queries = self.most * (self.visible(self.most) / difference) ** 2
        if queries > MOST_QUERIES:
            raise InvalidInput(
                f"The difference is too small to plan for: {difference} would need over "
                f"{MOST_QUERIES} queries; give a larger one."
            )
        return math.ceil(queries)

    @property
    def fewest(self) -> int:
        """Fewer queries show nothing."""
        return fewest_queries(self.alpha)

    def _about(self, n: int) -> float:
        """What the textbook says of normal differences."""
        z = normal_quantile(1.0 - self.alpha / 2.0) + normal_quantile(self.power)
        return z * self.spread / math.sqrt(n)

    def _shown(self, there: list[Alternative], n: int) -> float:
        return min(shown_share(one, n, self.alpha, self.seed) for one in there)


def fewest_queries(level: float) -> int:
    """With fewer queries than this, not even the same difference on all of them is shown.

    n equal differences have a two-sided p-value of 2 / 2**n, as in the sign test.

    >>> fewest_queries(0.05)
    6
    """
    return max(FEWEST_PILOT, 1 + math.ceil(math.log2(1.0 / level) - 1e-9))


def shown_share(there: Alternative, n: int, alpha: float, seed: int) -> float:
    """How often n such differences show a mean above zero, at a two-sided alpha."""
    moving = numbers_moving(n, there.moving)
    rows = int(moving[-1])
    away = there.values[words(rows, DRAWS, seed)]
    away -= there.mean
    if moving[0] < rows:
        away[np.arange(rows)[:, np.newaxis] >= moving] = 0.0
    still = (n - moving) * (there.still - there.mean) ** np.arange(1.0, 4.0)[:, np.newaxis]
    squares = away**2
    sums = (away.sum(axis=0), squares.sum(axis=0), np.einsum("ij,ij->j", squares, away))
    first, second, third = ((part + rest) / n for part, rest in zip(sums, still, strict=True))
    variance = second - first**2
    # What is left of equal values by rounding is no spread.
    variance[variance < 1e-12 * second] = 0.0
    safe = np.where(variance > 0.0, variance, 1.0)
    skewness = (third - 3.0 * first * second + 2.0 * first**3) / safe**1.5
    shown = shown_above(there.mean + first, variance * n / (n - 1), skewness, moving, n, alpha)
    return float(shown.mean())


def numbers_moving(n: int, share: float) -> Ints:
    """How many of n move in each draw, rising: the binomial distribution in equal steps."""
    if share >= 1.0:
        return np.full(DRAWS, n)
    reach = 10.0 * math.sqrt(n * share * (1.0 - share)) + 10.0
    low, high = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    counts = np.arange(low, high)
    steps = np.log((n - counts) / (counts + 1.0)) + math.log(share / (1.0 - share))
    heights = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.cumsum(np.exp(heights - heights.max()))
    levels = (np.arange(DRAWS) + 0.5) / DRAWS * chances[-1]
    found: Ints = low + np.searchsorted(chances, levels)
    return found


def _root(missing: Callable[[float], float], start: float, step: float, close: float) -> float:
    """Where nothing is missing any more: from the start by steps, then between the last two."""
    here, lacking = start, missing(start)
    way = 1.0 if lacking > 0.0 else -1.0
    while True:
        there = here + way * step
        left = missing(there)
        if (left > 0.0) != (lacking > 0.0):
            break
        here, lacking = there, left
    low, high = ((here, lacking), (there, left)) if way > 0.0 else ((there, left), (here, lacking))
    while high[0] - low[0] > close and high[1] < -NEAR:
        part = min(max(low[1] / (low[1] - high[1]), 0.1), 0.9)
        middle = low[0] + part * (high[0] - low[0])
        value = missing(middle)
        low, high = ((middle, value), high) if value > 0.0 else (low, (middle, value))
    return high[0]
