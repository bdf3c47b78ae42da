"""How many queries detect a difference, by simulating the test that is used.

The differences of a pilot are given the mean in question and resampled, as many as there would be
queries; the share of samples in which the test is significant is the power. Skewed differences are
easier to detect in one direction: unless one is asked for, both are tried and the harder one
counts. Beyond 300 queries that change, the detectable difference shrinks with the root of their
number.

**Another mean.** Where every query moves, all of them are shifted. Where most are ties, as with
recall, a better retriever does not move each query by a little: more gain and fewer lose. That is a
tilt: each difference d gets the weight exp(s * d), with the s that gives the mean asked for.
Queries that change are shifted by their share of all queries times the way to that mean, and a
tilt does the rest. A pilot may lack rare cases: one more query (times the share of ties) changes
like the others, but in the other direction. A tilt ends where the effective number of its weights
is a quarter of the queries; then ties begin to change. The spread is widened for being estimated.

**Another pilot** would have given another plan. What is needed follows the mean square of the
differences, which varies from pilot to pilot with a coefficient of variation of
sqrt((k - 1) / n), where k is the kurtosis. The range is that of a chi-square distribution which
varies as much. docs/statistics.md says how often such a plan holds.

The draws are the same for every mean and every number of queries, and on every machine: only the
raw 64-bit output of PCG64 is used, which numpy promises never to change.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InvalidInput, check_number
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Visibility
from calipers.statistics.clusters import Units, as_units
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.score_interval import normal_quantile

POWER = 0.8
FEWEST_PILOT = 5
"""Fewer queries are too few for a pilot or for a significant difference."""
DRAWS = 1024
_MOST_MOVING = 300
_MOST_QUERIES = 10**9
NEAR = 0.004
"""A power above the one asked for by less than this counts as equal to it."""
_FARTHEST = math.log(1_000.0)
"""The search ends at this multiple of the textbook's answer, on a log scale."""
_STEP = 1.3
WORDS = 1 << 16
SLOTS = WORDS
"""Equally likely values that represent a distribution: a random word is an index."""
_MOST_VALUES = 1 << 11
_LEAST_WORTH = 0.25
_STEPS = 40
_STEEPEST = 1e3


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
    *,
    one_way: bool = False,
) -> Needed:
    """The smallest difference that so many queries (default: the pilot's) detect with this power.

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
    """About the smallest number of queries that detects the difference with this power.

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
    """The factors from the estimate to the ends of its range, for a pilot of this size."""
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
"""The range of a small pilot ends at twenty times as many queries."""


def visibility(
    differences: ArrayLike,
    alpha: float = 0.05,
    power: float = POWER,
    clusters: ArrayLike | None = None,
    largest: float | None = None,
) -> Visibility:
    """What these paired differences (NaN left out) detect, and how many detect a smaller one.

    ``largest`` is the largest difference that there can be.

    >>> seen = visibility([0.3, -0.3] * 20)
    >>> round(seen.smallest, 2), seen.wanted, 250 <= seen.needed <= 330
    (0.15, 0.05, True)
    """
    units = as_units(differences, clusters)
    n, fewest = units.n, fewest_queries(alpha)
    if n < fewest:
        return Visibility(n, power, alpha, fewest, None, None, None, "too few queries")
    if not units.variance:
        return Visibility(n, power, alpha, fewest, None, None, None, "no spread")
    trial = _trial(differences, clusters, power, alpha)
    smallest = trial.visible(n)
    if smallest == math.inf or (largest is not None and smallest > largest):
        return Visibility(n, power, alpha, fewest, None, None, None, "too few moved")
    wanted = rounder_below(0.6 * smallest)
    return Visibility(n, power, alpha, fewest, smallest, wanted, trial.needed(wanted))


def queries_like_these(found: PairedRow, alpha: float = 0.05, power: float = POWER) -> int:
    """About how many units would settle the comparison if further ones are like these.

    Their mean must be large against their spread, and enough of them must change for a sign test.
    A quick figure, for an observed difference; `needed_queries` simulates the test itself.

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
) -> "Trial":
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


def fewest_queries(level: float) -> int:
    """With fewer queries, not even the same difference on all of them is significant.

    n equal differences have a two-sided p-value of 2 / 2**n, as in the sign test.

    >>> fewest_queries(0.05)
    6
    """
    return max(FEWEST_PILOT, 1 + math.ceil(math.log2(1.0 / level) - 1e-9))


def shown_above(sums: Floats, squares: Floats, least: Floats, changed: Ints, alpha: float) -> Bools:
    """Which of many samples have a mean significantly above zero (two-sided alpha), for planning.

    With many differences, sums with random signs are nearly normal, in steps of twice the smallest;
    with few, all signs must agree.

    >>> six, sign = np.array([6.0]), np.array([1.0])
    >>> shown_above(six, six, sign, np.array([6]), 0.05).tolist()
    [True]
    """
    z = (sums - least) / np.sqrt(np.where(squares > 0.0, squares, 1.0))
    enough = 2.0 * 0.5 ** changed.astype(np.float64) <= alpha
    shown: Bools = enough & (squares > 0.0) & (z >= normal_quantile(1.0 - alpha / 2.0))
    return shown


@dataclass(frozen=True, eq=False)
class Alternative:
    """Differences with a given mean: some are ties, the others one of equally likely values."""

    mean: float
    moving: float
    """The share of queries that move."""
    values: Floats
    """The sizes of their changes: SLOTS equally likely values."""
    still: float
    """The difference of the others."""


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The differences of a pilot, to be given any other mean."""

    values: Floats
    """The differences that are not ties, sorted."""
    counts: Floats
    """How many queries each of them represents."""
    ties: int

    @classmethod
    def of(cls, units: Units, sign: float = 1.0) -> "Alternatives":
        """From a pilot's units, or from those with the other sign."""
        moving = np.sort(sign * units.values[units.moves])
        counts = np.ones(len(moving))
        if len(moving) > _MOST_VALUES:
            # For so many, the means of a few thousand groups represent the distribution.
            edges = np.linspace(0, len(moving), _MOST_VALUES + 1).astype(np.int64)
            counts = np.diff(edges).astype(np.float64)
            moving = np.add.reduceat(moving, edges[:-1]) / counts
        return cls(moving, counts, units.n - units.moving)

    @property
    def n(self) -> float:
        """How many queries the pilot has."""
        return float(self.counts.sum()) + self.ties

    def at(self, mean: float) -> Alternative:
        """The differences that have this mean."""
        n, still = self.n, self.ties / self.n
        own = float(self.counts @ self.values) / n
        values = self.values + (1.0 - still) * (mean - own)
        weights, counts = self.counts / n, self.counts
        if self.ties:
            # One more that moves the other way, as the pilot may lack it by chance.
            values = np.concatenate([values, -values])
            counts = np.concatenate([counts, counts * still / float(counts.sum())])
            order = np.argsort(values, kind="stable")
            values, counts = values[order], counts[order]
            weights = _tilted(values, counts, self.ties, mean)
        moving, reached = min(1.0, float(weights.sum())), float(weights @ values)
        if self.ties and mean > reached:
            # What tilting cannot reach: ties begin to move like the others.
            typical = float(counts @ np.abs(values)) / float(counts.sum())
            more = moving + (1.0 - moving) * min(1.0, (mean - reached) / typical)
            moving, reached = more, reached * more / moving
        moved = values + (mean - reached) / moving
        wider = math.sqrt(n / (n - 1.0))
        ends = np.rint(np.cumsum(weights) / float(weights.sum()) * SLOTS).astype(np.int64)
        ends[-1] = SLOTS
        slots = np.repeat(mean + wider * (moved - mean), np.diff(ends, prepend=0))
        return Alternative(mean, moving, slots, mean - wider * mean)


def _tilted(values: Floats, counts: Floats, ties: int, wanted: float) -> Floats:
    """Weights of the values with the wanted mean, or close to it; ties have the rest."""
    n, size = float(counts.sum()) + ties, float(np.abs(values).max())
    way = 1.0 if wanted > float(counts @ values) / n else -1.0

    def weigh(slope: float) -> tuple[Floats, bool]:
        top = max(slope * values[-1], slope * values[0], 0.0)
        heavy = counts * np.exp(slope * values - top)
        still = ties * math.exp(-top)
        total = float(heavy.sum()) + still
        heavy, still = heavy / total, still / total
        worth = 1.0 / (float((heavy**2 / counts).sum()) + still**2 / ties)
        beyond = way * (float(heavy @ values) - wanted) > 0.0
        return heavy, beyond or worth < _LEAST_WORTH * n

    near, far = 0.0, way / size
    while not weigh(far)[1] and abs(far) * size < _STEEPEST:
        near, far = far, 2.0 * far
    for _ in range(_STEPS):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if weigh(middle)[1] else (middle, far)
    return weigh(near)[0]


@dataclass(frozen=True, eq=False)
class Trial:
    """A pilot, and the power and alpha of the test (two-sided)."""

    pilot: int
    """How many differences it has."""
    ways: tuple[Alternatives, ...]
    spread: float
    most: int
    """More queries than this are not drawn: the visible difference follows their root."""
    power: float
    alpha: float
    seed: int = 0

    @classmethod
    def of(cls, units: Units, power: float, alpha: float, *, one_way: bool) -> "Trial":
        """Both directions count unless one is asked for: skewed differences show in one sooner."""
        ways = tuple(Alternatives.of(units, sign) for sign in ((1.0,) if one_way else (1.0, -1.0)))
        most = _MOST_MOVING * units.n // units.moving
        return cls(units.n, ways, math.sqrt(units.variance), most, power, alpha)

    def visible(self, n: int) -> float:
        """The smallest difference that n queries detect with the power; inf where there is none."""
        drawn = min(n, self.most)
        start = math.log(self._about(drawn))

        def missing(log_difference: float) -> float:
            if log_difference > start + _FARTHEST:
                return -1.0
            there = [way.at(math.exp(log_difference)) for way in self.ways]
            return self.power - self._shown(there, drawn)

        log_found = _root(missing, start, math.log(_STEP), 0.002)
        if log_found > start + _FARTHEST:
            return math.inf
        found = math.exp(log_found)
        return float(f"{found * math.sqrt(drawn / n):.6g}")

    def needed(self, difference: float) -> int:
        """The smallest number of queries that detects the difference with the power."""
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
        if queries > _MOST_QUERIES:
            raise InvalidInput(
                f"The difference is too small to plan for: {difference} would need over "
                f"{_MOST_QUERIES} queries; give a larger one."
            )
        return math.ceil(queries)

    @property
    def fewest(self) -> int:
        """The smallest number of queries that can detect anything."""
        return fewest_queries(self.alpha)

    def _about(self, n: int) -> float:
        """The textbook formula, for normal differences."""
        z = normal_quantile(1.0 - self.alpha / 2.0) + normal_quantile(self.power)
        return z * self.spread / math.sqrt(n)

    def _shown(self, there: list[Alternative], n: int) -> float:
        return min(shown_share(one, n, self.alpha, self.seed) for one in there)


def words(rows: int, columns: int, seed: int) -> NDArray[np.uint16]:
    """Random whole numbers below WORDS; with more rows, the first ones stay as they are.

    Each raw word gives four, the low bits first.

    >>> words(1, 4, seed=0).tolist()
    [[33375, 55746, 60367, 41743]]
    """
    source, count = _source(seed), rows * columns
    raw = source.random_raw((count + 3) // 4).astype("<u8", copy=False)
    return raw.view("<u2")[:count].reshape(rows, columns)


def _source(seed: int) -> np.random.PCG64:
    check_number("The seed", seed, whole=True, least=0)
    return np.random.PCG64(int(seed))


def shown_share(there: Alternative, n: int, alpha: float, seed: int) -> float:
    """The power of n such differences to show a mean above zero, at a two-sided alpha."""
    moving = numbers_moving(n, there.moving)
    rows = int(moving[-1])
    drawn = there.values[words(rows, DRAWS, seed)]
    if moving[0] < rows:
        drawn[np.arange(rows)[:, np.newaxis] >= moving] = 0.0
    still = n - moving
    sums = drawn.sum(axis=0) + still * there.still
    squares = np.einsum("ij,ij->j", drawn, drawn) + still * there.still**2
    sizes = np.abs(drawn)
    least = np.where(sizes > 0.0, sizes, np.inf).min(axis=0, initial=np.inf)
    least[~np.isfinite(least)] = 0.0
    return float(shown_above(sums, squares, least, moving, alpha).mean())


def numbers_moving(n: int, share: float) -> Ints:
    """How many of n change in each draw, ascending: quantiles of the binomial distribution."""
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
    """The root of ``missing``: bracketed from the start by steps, then narrowed down."""
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
