"""How much is found when the corpus is larger or smaller than the one that was searched.

Some documents that are no targets stand above a target: its competitors. Their number is
taken to be Poisson, with a rate that belongs to the target. How the rates are distributed
over the targets is fitted without a formula: EM gives each rate of a fixed grid its
weight. A target that was not found tells that it has at least as many competitors as its
list has.

In a corpus of m times the size, (m - 1) times the rate is added to the competitors that a
target has already. In a part of the corpus each competitor is kept with the chance of
that part: for a target that was found this needs no rate and is exact.

Where a document has several results (chunks), documents are counted, and a new one pushes
a target down by as many results as those above the targets have: a compound Poisson
number.

The interval takes the percentiles of bootstrap samples of queries, each with a fit of its
own. Where only a few queries miss, or find anything, samples hardly differ, and their
percentiles would be too near: there, no end is nearer than that of the score interval of
hits, rounded to whole queries.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Hashes, Ints
from calipers.statistics.score_interval import mean_interval, score_ends

RATES = 40
"""Points of the grid; more fit the noise."""
SMALLEST_RATE = 0.005
LARGEST_RATE = 50.0
"""The largest rate of the grid, in lengths of the longest list."""
STEPS = 60
"""Steps of EM; more fit the noise."""
SAMPLES = 80
FEW = 5.0
"""Up to so many queries that miss, or find, samples of queries say too little of them."""
ALIKE = 4.0
"""An interval of less than so many queries may be one of queries that are all alike."""
_SEED = 19_370_415
_EXPONENTS = 600.0
"""From this rate on, exp(-rate) is too near 0 for a recursion, and sums are normal
enough."""

Kind = Literal["found", "reciprocal"]
"""What a target is worth: 1 within the first k, or 1 over its rank there."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Where each target stands, and what stands above it; one row per target."""

    query: Ints
    rank: Ints
    """The rank at which it was found; 0 where it was not."""
    above: Ints
    """Competing documents above it; where it was not found, those in its list."""
    beside: Ints
    """Results above it that would be there in any corpus: those with other targets, or
    from documents with targets. Where it was not found, those in its list."""
    listed: Ints
    """The length of its list."""
    n_queries: int
    sizes: Floats
    """The shares of competing documents with 1, 2, … results above a target."""
    pieces: Ints | None = None
    """The results of every competing document above every target, target by target; None
    where each has one."""

    @cached_property
    def mean_size(self) -> float:
        """The number of results that a competing document has on average."""
        return float(self.sizes @ np.arange(1, self.sizes.size + 1))


class Projection(NamedTuple):
    """A mean in a corpus of another size, with its interval."""

    mean: float
    low: float
    high: float


def project(
    standing: Standing,
    times: Sequence[float],
    ks: Sequence[int],
    *,
    kind: Kind = "found",
    weights: Floats | None = None,
    units: Ints | None = None,
    confidence: float = 0.95,
) -> dict[tuple[float, int], Projection]:
    """The mean at each number of ``times`` the corpus and each k, with its interval.

    ``weights`` say how much each query counts (0: not at all); ``units`` number the
    clusters of queries that are drawn together.
    """
    drawn = _draw(standing, weights, units, SAMPLES)
    table = _means(standing, drawn, times, ks, kind)
    low, high = _ends(table[0], table[1:], drawn.n_units, confidence)
    projections: dict[tuple[float, int], Projection] = {}
    for row, m in enumerate(times):
        for column, k in enumerate(ks):
            mean = float(table[0, row, column])
            ends = (float(low[row, column]), float(high[row, column]))
            # A mean outside of its percentiles would look like a misprint.
            projections[m, k] = Projection(mean, min(mean, ends[0]), max(mean, ends[1]))
    return projections


def _ends(
    mean: Floats, samples: Floats, n: int, confidence: float
) -> tuple[Floats, Floats]:
    """The percentiles of the samples; the score interval where few decide and it is wider."""
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(samples, [tail, 100.0 - tail], axis=0)
    if n < 2:
        return low, high
    share = np.clip(mean, 0.0, 1.0)
    few = n * np.minimum(share, 1.0 - share)
    # Fades out, so that no value jumps where one query more misses.
    weight = np.clip(2.0 - few / FEW, 0.0, 1.0)
    lowest, highest = score_ends(share, share * (1.0 - share), n, confidence)
    low -= weight * np.maximum(low - np.floor(n * lowest) / n, 0.0)
    high += weight * np.maximum(np.ceil(n * highest) / n - high, 0.0)
    # Where all queries are alike, so are the samples: new ones may differ.
    for at in zip(*np.nonzero(high - low < ALIKE / n), strict=True):
        alike = mean_interval(np.full(n, share[at]), confidence)
        if alike is not None:
            low[at], high[at] = min(low[at], alike.low), max(high[at], alike.high)
    return low, high


def needed_k(
    standing: Standing,
    times: float,
    least: float,
    ks: Sequence[int],
    *,
    weights: Floats | None = None,
) -> int | None:
    """The first of rising ``ks`` that finds as much as ``least``; None where none does.

    A target that was not found may be found beyond the end of its list here.
    """
    drawn = _draw(standing, weights, None, 0)
    means = _means(standing, drawn, [times], ks, "found", beyond=True)[0, 0]
    reached = np.flatnonzero(means >= least - 1e-9)
    return ks[int(reached[0])] if reached.size else None


def open_share(
    standing: Standing, times: float, k: int, weights: Floats | None = None
) -> float:
    """The most that targets not found could add to the mean in a part of the corpus.

    They are taken to stand right behind the end of their lists. Without them the mean is
    exact.
    """
    drawn = _draw(standing, weights, None, 0)
    lost = standing.rank[drawn.example] == 0
    worth = _Worth(standing, drawn.example, rate_grid(1), times, k, "found")
    return float(drawn.weights[0] @ np.where(lost, worth.kept(k, lost), 0.0))


# Queries that look the same are drawn as one kind with a count: this is quick, and no
# value depends on the order of queries.


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Classes of targets that look the same, and their weights in every sample."""

    example: Ints
    """One target of each class."""
    weights: Floats
    """A row per sample, the first as observed; divided by the weight of the sample's
    queries."""
    n_units: int
    """The units that each sample draws."""


def _draw(
    standing: Standing, weights: Floats | None, units: Ints | None, samples: int
) -> _Drawn:
    """The classes of targets, and their weights as observed and in samples of the units."""
    n = standing.n_queries
    of_query = np.ones(n) if weights is None else weights
    targets_of = np.bincount(standing.query, minlength=n)
    worth = of_query[standing.query] / targets_of[standing.query]
    is_found = standing.rank > 0
    looks = _mixed(
        standing.rank,
        standing.above,
        standing.beside,
        np.where(is_found, 0, standing.listed),
    )
    if standing.pieces is not None:
        looks = _mixed(looks.view(np.int64), _hash_of_pieces(standing))
    _, example, of_class = np.unique(looks, return_index=True, return_inverse=True)

    unit_of_query = np.arange(n) if units is None else units
    n_units = int(unit_of_query.max(initial=-1)) + 1
    mark = np.zeros(n_units, dtype=np.uint64)
    np.add.at(mark, unit_of_query, _mixed(of_query.view(np.int64)))
    unit = unit_of_query[standing.query]
    np.add.at(mark, unit, _mixed(looks.view(np.int64), worth.view(np.int64)))
    # What does not count is not drawn either.
    present = np.bincount(unit_of_query, of_query, minlength=n_units) > 0
    _, first, kind_of, count = np.unique(
        mark[present], return_index=True, return_inverse=True, return_counts=True
    )
    kind_of_unit = np.zeros(n_units, dtype=np.int64)
    kind_of_unit[present] = kind_of
    shown = np.zeros(n_units, dtype=np.bool_)
    shown[np.flatnonzero(present)[first]] = True

    counts = np.empty((samples + 1, count.size))
    counts[0] = count
    random = np.random.default_rng(_SEED)
    share = count / count.sum()
    counts[1:] = random.multinomial(int(count.sum()), share, size=samples)
    size = np.zeros(count.size)
    queries = shown[unit_of_query]
    np.add.at(size, kind_of_unit[unit_of_query[queries]], of_query[queries])
    entries = np.flatnonzero(shown[unit])
    # In the order of the kinds, so that sums do not depend on the order of queries.
    entries = entries[
        np.lexsort((worth[entries], of_class[entries], kind_of_unit[unit[entries]]))
    ]
    table = np.zeros((samples + 1, example.size))
    for row, each in enumerate(counts):
        part = worth[entries] * each[kind_of_unit[unit[entries]]]
        table[row] = np.bincount(of_class[entries], part, minlength=example.size)
    total = counts @ size
    shares = table / np.where(total > 0, total, 1.0)[:, None]
    return _Drawn(example, shares, int(count.sum()))


def _mixed(*columns: Ints) -> Hashes:
    """One number per row that rows with other contents do not have (splitmix64)."""
    mixed = np.full(columns[0].shape, 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column.view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _hash_of_pieces(standing: Standing) -> Ints:
    """One number for the sizes above each target, in any order."""
    pieces = standing.pieces
    hashes = np.zeros(standing.rank.size, dtype=np.uint64)
    if pieces is not None and pieces.size:
        owner = np.repeat(np.arange(standing.rank.size), standing.above)
        np.add.at(hashes, owner, _mixed(pieces))
    return hashes.view(np.int64)


# The fit


def rate_grid(longest: int) -> Floats:
    """The rates that are given weights, for lists of at most this length."""
    return np.geomspace(SMALLEST_RATE, LARGEST_RATE * max(longest, 1), RATES)


def fit_rates(seen: Floats, weights: Floats) -> Floats:
    """The weight of each rate, for each row of ``weights`` over the observations (rows) ``seen``.

    >>> fit_rates(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[1.0, 1.0]])).round(3).tolist()
    [[1.0, 0.0]]
    """
    total = weights.sum(axis=1, keepdims=True)
    share = weights / np.where(total > 0, total, 1.0)
    mixing = np.full((len(weights), seen.shape[1]), 1.0 / seen.shape[1])
    for _ in range(STEPS):
        expected = mixing @ seen.T
        mixing = mixing * ((share / np.maximum(expected, 1e-300)) @ seen)
        mixing /= np.maximum(mixing.sum(axis=1, keepdims=True), 1e-300)
    return mixing


def _seen(above: Ints, is_found: Bools, rates: Floats) -> Floats:
    """The chance of each observation (row) at each rate: so many competitors, or no fewer."""
    table = poisson(rates, int(above.max(initial=0)))
    exactly = table[:, above].T
    fewer = np.cumsum(table, axis=1) - table
    return np.where(
        is_found[:, None], exactly, np.clip(1.0 - fewer[:, above].T, 0.0, 1.0)
    )


def poisson(rates: Floats, most: int) -> Floats:
    """The chances of 0, 1, … ``most`` at each rate: one row per rate.

    >>> poisson(np.array([1.0]), 2).round(4).tolist()
    [[0.3679, 0.3679, 0.1839]]
    """
    numbers = np.arange(most + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    with np.errstate(divide="ignore"):
        logs = np.where(rates > 0, np.log(rates), -np.inf)
    powers = np.where(
        numbers > 0, numbers * np.where(numbers > 0, logs[:, None], 0.0), 0.0
    )
    chances: Floats = np.exp(powers - rates[:, None] - factorials)
    return chances


def _means(
    standing: Standing,
    drawn: _Drawn,
    times: Sequence[float],
    ks: Sequence[int],
    kind: Kind,
    *,
    beyond: bool = False,
) -> Floats:
    """The mean of every sample at each number of times and each k.

    ``beyond``: whether targets may be found behind the end of their lists.
    """
    above = standing.above[drawn.example]
    is_found = standing.rank[drawn.example] > 0
    rates = rate_grid(int(standing.listed.max(initial=0)))
    seen = _seen(above, is_found, rates)
    mixing = fit_rates(*_merged(seen, above * 2 + is_found, drawn.weights))
    chance_seen = np.maximum(mixing @ seen.T, 1e-300)
    means = np.empty((len(drawn.weights), len(times), len(ks)))
    for row, m in enumerate(times):
        worth = _Worth(standing, drawn.example, rates, m, max(ks), kind)
        for column, k in enumerate(ks):
            each = np.zeros(chance_seen.shape)
            if m < 1:
                each += worth.kept(k, is_found)
            else:
                each += (mixing @ (seen * worth.pushed(k)).T) / chance_seen
            if m >= 1 and beyond:
                each += (mixing @ worth.unfound(k).T) / chance_seen
            means[:, row, column] = (drawn.weights * each).sum(axis=1)
    return means


def _merged(seen: Floats, code: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct observations, and their weights in each sample: few, so that a fit is quick."""
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    return seen[first], np.add.reduceat(weights[:, order], starts, axis=1)


class _Worth:
    """What classes of targets are worth in another corpus, at each rate."""

    def __init__(
        self,
        standing: Standing,
        example: Ints,
        rates: Floats,
        m: float,
        most: int,
        kind: Kind,
    ) -> None:
        self.standing = standing
        self.example = example
        self.rates = rates
        self.m = m
        self.kind = kind
        self.rank = standing.rank[example]
        self.above = standing.above[example]
        self.beside = standing.beside[example]
        self.most = most

    @cached_property
    def _added(self) -> Floats:
        """The chance that so many results are added above a target, at each rate."""
        return compound(self.rates * (self.m - 1.0), self.standing.sizes, self.most)

    @cached_property
    def _added_up_to(self) -> Floats:
        """The chance that at most so many are added."""
        return np.cumsum(self._added, axis=1)

    def pushed(self, k: int) -> Floats:
        """The worth of the targets found, where the corpus grows: a row per class."""
        worth = np.zeros((self.rank.size, self.rates.size))
        inside = np.flatnonzero((self.rank > 0) & (self.rank <= k))
        if self.kind == "found":
            worth[inside] = self._added_up_to[:, k - self.rank[inside]].T
            return worth
        for rank in np.unique(self.rank[inside]).tolist():
            points = self._added[:, : k - rank + 1] @ (1.0 / np.arange(rank, k + 1))
            worth[self.rank == rank] = points
        return worth

    def kept(self, k: int, among: Bools) -> Floats:
        """The worth of these targets where a part of the corpus is kept: exact if found."""
        worth = np.zeros(self.rank.size)
        chosen = np.flatnonzero(among & (self.beside < k))
        left = self._competitors_left(chosen)
        for at, row in zip(chosen.tolist(), left, strict=True):
            free = k - int(self.beside[at])
            points = (
                np.ones(free)
                if self.kind == "found"
                else 1.0 / np.arange(k - free + 1, k + 1)
            )
            worth[at] = row[:free] @ points
        return worth

    def _competitors_left(self, classes: Ints) -> Floats:
        """The chance that 0, 1, … results of competitors are left above each class."""
        standing = self.standing
        left = np.zeros((classes.size, self.most))
        left[:, 0] = 1.0
        above = self.above[classes]
        sizes = np.ones((classes.size, int(above.max(initial=0))), dtype=np.int64)
        if standing.pieces is not None:
            starts = np.cumsum(standing.above) - standing.above
            column = np.arange(sizes.shape[1])
            there = column < above[:, None]
            place = starts[self.example[classes]][:, None] + column
            sizes[there] = standing.pieces[place[there]]
        for document in range(sizes.shape[1]):
            has = np.flatnonzero(above > document)
            before = np.arange(self.most) - sizes[has, document][:, None]
            moved = np.take_along_axis(left[has], np.maximum(before, 0), axis=1)
            moved[before < 0] = 0.0
            left[has] = (1.0 - self.m) * left[has] + self.m * moved
        return left

    def unfound(self, k: int) -> Floats:
        """The chance that a target is not found today, and is in the larger corpus.

        Counted in documents of the mean size: a row per class.
        """
        worth = np.zeros((self.rank.size, self.rates.size))
        size = self.standing.mean_size
        listed = self.standing.listed[self.example]
        for at in np.flatnonzero(self.rank == 0).tolist():
            least = int(self.above[at])
            free = least + int((k - 1 - listed[at]) // size)
            if free < least:
                continue
            chances = poisson(self.rates * self.m, free) * _at_least(
                free, 1 / self.m, least
            )
            worth[at] = chances.sum(axis=1)
        return worth


def compound(rates: Floats, sizes: Floats, most: int) -> Floats:
    """The chances of 0, 1, … ``most`` results of a Poisson number of documents: a row per rate.

    >>> compound(np.array([1.0]), np.array([1.0]), 2).round(4).tolist()
    [[0.3679, 0.3679, 0.1839]]
    >>> compound(np.array([1.0]), np.array([0.0, 1.0]), 2).round(4).tolist()
    [[0.3679, 0.0, 0.3679]]
    """
    if sizes.size <= 1:
        return poisson(rates, most)
    chances = np.zeros((rates.size, most + 1))
    small = rates <= _EXPONENTS
    part = np.zeros((int(small.sum()), most + 1))
    part[:, 0] = np.exp(-rates[small])
    weighted = sizes * np.arange(1, sizes.size + 1)
    # Panjer's recursion.
    for n in range(1, most + 1):
        reach = min(n, sizes.size)
        earlier = part[:, n - reach : n][:, ::-1]
        part[:, n] = rates[small] / n * (earlier @ weighted[:reach])
    chances[small] = part
    # Beyond the recursion, a normal number with the same mean and spread.
    middle = rates[~small] * weighted.sum()
    spread = np.sqrt(rates[~small] * (weighted @ np.arange(1, sizes.size + 1)))
    place = (np.arange(most + 1) - middle[:, None]) / spread[:, None]
    chances[~small] = np.exp(-0.5 * place**2) / (spread[:, None] * np.sqrt(2 * np.pi))
    return chances


def _at_least(most: int, share: float, least: int) -> Floats:
    """The chance that of 0, 1, … ``most`` things at least ``least`` are of this share."""
    if least <= 0:
        return np.ones(most + 1)
    if share >= 1.0:
        return (np.arange(most + 1) >= least).astype(np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    last = np.arange(least, most + 1)
    # The one that makes it enough comes last.
    chosen = logs[last - 1] - logs[least - 1] - logs[last - least]
    chances = np.exp(chosen + least * np.log(share) + (last - least) * np.log1p(-share))
    reached = np.zeros(most + 1)
    reached[least:] = np.minimum(np.cumsum(chances), 1.0)
    return reached
