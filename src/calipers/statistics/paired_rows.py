"""The paired test: everything a command compares query by query, tested together.

`paired_rows(columns, clusters)` takes one column of gains per row (a metric of a system,
a slice, a night): one value per query, above 0 where the new result is better, NaN where
the row has no pair. It returns one `PairedRow` per column: counts, mean, two-sided p, p
adjusted for all rows of the command, interval and standing. compare, gate, alarm and
confirm all use it, so that the same data gets the same answer everywhere. Negate a metric
where lower is better first; to test whether the loss is larger than x, add x to every
gain.

**p.** If the two results were equally good, each difference could as well have the other sign. p is
the share of all sign assignments whose sum is at least as far from zero as the observed one. The
unit is a query, or a cluster of queries. Unchanged units do not matter. Where all changes are of
equal size (hits and misses) this is the sign test, exact for any number. Else it is exact for up
to 30 changed units, exact but for the rounding of differences to a fine grid up to 2,000 (below
1 % of p), and normal beyond.

**Interval.** All means that the same test does not reject: quantiles of the means of random subsets
of the units (Hartigan). Given where 8 or more units changed; for fewer the counts say it all.
It excludes zero exactly where the adjusted p is at most alpha. The subsets are a sample: a query
that gains more may lower an end by a part of the width (docs/statistics.md says how often).

**Several rows.** The signs of all rows are flipped together; the adjusted p is the share of flips
in which any row is as extreme by its own p (Westfall and Young's step-down minP). Duplicate
rows cost no power, nor do rows in which too little changed to be extreme.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints
from calipers.statistics.clusters import exact_sum
from calipers.statistics.paired_units import ROUNDING, SMALLEST, PairedUnits, row_order
from calipers.statistics.score_interval import Ends, normal_cdf, normal_quantile

FEWEST_FOR_INTERVAL = 8
"""With fewer units that changed there is no interval."""
EXACT = 30
"""Up to so many changed units, every sign assignment is counted."""
WORK = 2_800_000
FEWEST_CELLS = 4_096
MOST_CELLS = 32_768
"""Cells of the grid to either side of the mean: fewer where more units are added."""
FEW_SIZES = 32
"""Up to so many differences of different size, a step is searched that hardly rounds
them."""
TAIL = 8.0
"""How many standard deviations the grid reaches beyond the observed sum."""
EVERY_FLIP = 15
"""Up to so many units that changed in any row, every sign assignment is tried on all
rows."""
EVERY_SUBSET = 16
"""Up to so many units, every subset is taken."""
EXACT_COINS = 500
MANY = 2_000
"""Beyond so many changed units, sums with random signs are treated as normal."""
DRAWS = 20_480
HALF = DRAWS // 2
"""Drawn; the others are their mirror images."""
_TIES = 0.03
"""What rounding by a whole step costs, in standard deviations of the sum, where ties get
lost."""
_SEED = 20_070_723
_AT_ONCE = 2_048
"""Subsets in memory at once."""
_SIDE = 64
"""Larger matrix products run in several threads of BLAS, which burn more time than they
save."""
_ENOUGH = 20
"""With at least so many flips as extreme as the observed, a ratio of counts is
reliable."""

Standing = Literal["better", "worse", "no clear difference"]


@dataclass(frozen=True)
class PairedRow:
    """The test result of one column of paired gains."""

    n: int
    """Queries with a pair."""
    better: int
    """Queries that gained."""
    worse: int
    """Queries that lost."""
    difference: float | None
    """The mean gain over queries; None without a query."""
    units: int
    """The number of units: queries, or clusters of them."""
    changed: int
    """Units whose gains and losses do not cancel out."""
    spread: float
    """The standard deviation of the units' means, for effect sizes and planning."""
    kurtosis: float
    """The fourth moment of the units' means about their trimmed mean (Bonett), over the
    squared second; 0 where they do not vary. It says how well `spread` is known."""
    step: float | None
    """The size of every change of a unit's mean, where all are equal, as with hits."""
    p: float | None
    """Two-sided; None without a query."""
    adjusted: float | None
    """p adjusted for all rows of the command; never below p. As p for a row outside the
    family."""
    interval: Ends | None
    """The interval of the mean, at `level`; None where fewer than 8 units changed."""
    level: float
    """The confidence level of the interval after the adjustment."""
    alpha: float
    """The threshold for a single p that keeps alpha over the whole family: for
    planning."""
    standing: Standing
    one_outweighs: bool
    """Whether the largest difference is larger than all others together: one unit
    decides."""

    @property
    def same(self) -> int:
        """Queries that did not change."""
        return self.n - self.better - self.worse

    @property
    def net_lost(self) -> int:
        """How many more queries lost than gained; below zero where more gained."""
        return self.worse - self.better


def paired_rows(
    columns: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    marked: Sequence[bool] | None = None,
    weights: Floats | None = None,
) -> list[PairedRow]:
    """One row per column of gains, adjusted over those that are `marked` (default: all).

    With `weights`, one per query, the means are weighted, and so are the differences
    whose signs are flipped; counts stay counts of queries.

    >>> ten_of_twelve, [row] = [1.0] * 10 + [0.0] * 2, paired_rows([[1.0] * 10 + [0.0] * 2])
    >>> row.better, row.worse, row.p, row.standing
    (10, 0, 0.001953125, 'better')
    >>> [round(end, 3) for end in row.interval]
    [0.6, 1.0]
    >>> [round(row.adjusted, 4) for row in paired_rows([ten_of_twelve, [-1.0] * 3 + [0.0] * 9])]
    [0.002, 0.25]
    """
    names = (
        None
        if clusters is None
        else np.unique(np.asarray(clusters), return_inverse=True)[1]
    )
    distinct: dict[bytes, int] = {}
    units: list[PairedUnits] = []
    which: list[int] = []
    for column in columns:
        gains = np.array(column, dtype=np.float64)
        gains[np.abs(gains) < SMALLEST] = 0.0
        at = distinct.setdefault(gains.tobytes(), len(units))
        if at == len(units):
            units.append(PairedUnits.of(gains, names, weights))
        which.append(at)
    drawn = _subsets(units)
    p_values = [_two_sided(unit) for unit in units]
    family = sorted(
        {at for place, at in enumerate(which) if marked is None or marked[place]}
    )
    together, single = _adjusted(
        [units[at] for at in family], [p_values[at] for at in family], alpha
    )
    adjusted = dict(enumerate(p_values)) | dict(zip(family, together, strict=True))
    rows = [
        _row(
            row_units,
            p_values[at],
            adjusted[at],
            alpha,
            single if at in family else alpha,
            drawn[at],
        )
        for at, row_units in enumerate(units)
    ]
    return [rows[at] for at in which]


def sign_test(lost: int, gained: int) -> float:
    """The one-sided p of the sign test: the chance of losing at least so many of the changed.

    >>> sign_test(3, 0), round(sign_test(550, 450), 4), sign_test(0, 0)
    (0.125, 0.0009, 1.0)
    """
    chances = _coin(lost + gained)
    return min(1.0, float(chances[lost:].sum()))


def _two_sided(units: PairedUnits) -> float | None:
    """The share of sign assignments whose sum is at least as far from zero."""
    if not len(units.gains):
        return None
    total = abs(units.total)
    if not total:
        return 1.0
    if units.step is not None:
        return float(_sign_table(units.changed)[round(total / units.step)])
    if units.changed <= EXACT:
        return _every_sign(np.abs(units.moved), total)
    if units.changed > MANY:
        return 2.0 * normal_cdf(-total / math.sqrt(exact_sum(units.moved**2)))
    return _on_a_grid(units.moved * math.copysign(1.0, units.total), total)


def _on_a_grid(moved: Floats, total: float) -> float:
    """The two-sided p of differences rounded to whole steps, by adding one unit after the other.

    Of many steps the one is taken that keeps the observed sum, and where there are few
    sizes rounds them little: sums that are equal, and count, then stay equal.
    """
    spread = math.sqrt(exact_sum(moved**2))
    far = total / spread
    values, which = np.unique(np.abs(moved).round(9), return_inverse=True)
    counts = np.bincount(which)
    net = np.bincount(which, np.sign(moved))
    few = len(values) <= FEW_SIZES
    cells = (1 + few) * min(max(WORK // len(moved), FEWEST_CELLS), MOST_CELLS)
    unit = (far + TAIL) * spread / (2 * cells)
    width = 0.5
    best = 1.5
    for _ in range(2):
        tried = best + width * np.linspace(-1.0, 1.0, min(32_768 // len(values), 4_096))
        exact = values / (unit * tried[:, None])
        rounded = np.rint(exact)
        off = np.abs(rounded @ net / np.sqrt(rounded**2 @ counts) - far)
        if few:
            off += _TIES * np.sqrt((exact - rounded) ** 2 @ counts / len(moved))
        at = int(np.argmin(off))
        best = float(tried[at])
        width = width / len(tried)
    whole = rounded[at].astype(np.int64)
    sizes = np.repeat(whole, counts)
    seen = int(whole @ net)
    # How many subsets have a sum so many cells from half of all, as far out as matters:
    # what leaves the grid is too rare. Neither the first count nor 2^2000 of it
    # overflows.
    middle = cells + int(sizes[-1])
    subsets = np.zeros(2 * middle + 1)
    grown = np.zeros(2 * middle + 1)
    subsets[middle] = 2.0**-1000
    reaches = np.ceil(cells * np.sqrt(np.cumsum(sizes**2) / np.sum(sizes**2))).astype(
        np.int64
    )
    halves = np.diff(np.cumsum(sizes) // 2, prepend=0)
    for reach, down, up in zip(
        *(column.tolist() for column in (reaches, halves, sizes - halves)), strict=True
    ):
        first = middle - reach
        last = middle + reach + 1
        lower = subsets[first + down : last + down]
        higher = subsets[first - up : last - up]
        np.add(lower, higher, out=grown[first:last])
        subsets, grown = grown, subsets
    every = int(sizes.sum())
    most = middle + (every - seen) // 2 - every // 2
    return min(1.0, float(subsets[: most + 1].sum()) * 2.0 ** (1001 - len(sizes)))


def _every_sign(sizes: Floats, total: float) -> float:
    """The exact two-sided p, by meet in the middle: the sums of two halves of the units."""
    first, other = (
        2.0 * _subset_sums(half) - half.sum() for half in (sizes[::2], sizes[1::2])
    )
    other.sort()
    reached = len(other) - np.searchsorted(other, total - ROUNDING - first)
    return min(1.0, 2.0 * float(reached.sum()) / (len(first) * len(other)))


def _subset_sums(table: Floats) -> Floats:
    """The sums over every subset of the last axis; the first is the empty one."""
    sums = np.zeros((*table.shape[:-1], 1))
    for column in np.moveaxis(table, -1, 0):
        sums = np.concatenate([sums, sums + column[..., None]], axis=-1)
    return sums


@lru_cache(maxsize=64)
def _coin(n: int) -> Floats:
    """The binomial probabilities of 0 to n heads among n coins."""
    if n <= EXACT_COINS:
        return np.array([math.comb(n, heads) / (1 << n) for heads in range(n + 1)])
    heads = np.arange(1, n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - heads + 1) / heads))])
    chances = np.exp(logs - logs.max())
    shares: Floats = chances / chances.sum()
    return shares


@lru_cache(maxsize=64)
def _sign_table(n: int) -> Floats:
    """For each difference of heads and tails among n coins, the chance of one as large."""
    chances = _coin(n)
    apart = np.abs(2 * np.arange(n + 1) - n)
    table = np.cumsum(np.bincount(apart, chances, n + 1)[::-1])[::-1]
    return np.minimum(table, 1.0)


@dataclass(frozen=True, eq=False)
class _Subsets:
    """Sum and number of queries of random subsets of the units of one column."""

    sums: Floats
    sizes: Floats
    drawn: int
    """1 where they are a sample: then the observed subset counts as one more."""

    def ends(self, alpha: float) -> Ends | None:
        """The quantiles of their means; None where too few lie outside."""
        some = self.sizes > 0.0
        means = self.sums[some] / self.sizes[some]
        empty = len(some) - len(means)
        outside = (
            math.floor(alpha / 2.0 * (len(some) + self.drawn) + ROUNDING)
            - empty
            - self.drawn
        )
        if outside < 0:
            return None
        sorted_means = np.partition(means, (outside, len(means) - 1 - outside))
        return Ends(
            float(sorted_means[outside]), float(sorted_means[len(means) - 1 - outside])
        )


def _subsets(rows: Sequence[PairedUnits]) -> list[_Subsets | None]:
    """Every subset of a column with few units; the same random subsets of all others.

    Units are sorted by value, and mirrored subsets count them from the top: neither the
    order of the queries nor swapping the systems changes anything. The draws of a unit
    depend on its position alone, so that a column has the same draws whatever the other
    columns are.
    """
    subsets: list[_Subsets | None] = [None] * len(rows)
    weights: dict[bytes, int] = {}
    places: dict[int, list[int]] = {}
    for at, paired in enumerate(rows):
        if not FEWEST_FOR_INTERVAL <= paired.changed <= MANY:
            continue
        if paired.changed + paired.still <= EVERY_SUBSET:
            still = np.zeros(paired.still)
            values = np.concatenate([paired.moved, still])
            counts = np.concatenate([paired.sizes, still + paired.still_size])
            subsets[at] = _Subsets(_subset_sums(values), _subset_sums(counts), 0)
        else:
            both = (paired.moved, paired.moved[::-1], paired.sizes, paired.sizes[::-1])
            places[at] = [
                weights.setdefault(column.tobytes(), len(weights)) for column in both
            ]
    if not places:
        return subsets
    table = np.zeros((len(weights), max(map(len, weights)) // 8))
    for row, column in zip(table, weights, strict=True):
        row[: len(column) // 8] = np.frombuffer(column)
    added = _over_subsets(table)
    for at, (up, down, size_up, size_down) in places.items():
        paired = rows[at]
        # Which unchanged units are in it does not matter, only how many.
        still = np.rint((paired.still + math.sqrt(paired.still) * _normal(HALF)) / 2.0)
        still = np.clip(still, 0.0, paired.still) * paired.still_size
        sizes = np.concatenate([added[size_up] + still, added[size_down] + still])
        subsets[at] = _Subsets(np.concatenate([added[up], added[down]]), sizes, 1)
    return subsets


def _over_subsets(table: Floats) -> Floats:
    """The sum of each row of the table over random subsets of its columns."""
    rows, width = table.shape
    bits = np.random.PCG64(_SEED).random_raw(width * HALF // 64).astype("<u8")
    members = bits.view(np.uint8).reshape(width, HALF // 8)
    added = np.zeros((rows, HALF))
    for start in range(0, HALF, _AT_ONCE):
        end = start + _AT_ONCE
        block = np.unpackbits(members[:, start // 8 : end // 8], axis=1).astype(
            np.float64
        )
        for top, left in product(range(0, rows, _SIDE), range(0, width, _SIDE)):
            some = table[top : top + _SIDE, left : left + _SIDE]
            for first in range(0, _AT_ONCE, _SIDE):
                added[top : top + _SIDE, start + first : start + first + _SIDE] += (
                    some @ block[left : left + _SIDE, first : first + _SIDE]
                )
    return added


def _row(
    units: PairedUnits,
    p: float | None,
    adjusted: float | None,
    alpha: float,
    single: float,
    drawn: _Subsets | None,
) -> PairedRow:
    gains = units.gains
    total = units.total
    # A p below the resolution of the draws says nothing about the cost of the adjustment.
    left = alpha * min(1.0, max(p, 1.0 / DRAWS) / adjusted) if p and adjusted else alpha
    shown = bool(adjusted is not None and adjusted <= alpha and total)
    largest = float(np.abs(units.moved).max(initial=0.0))
    return PairedRow(
        n=len(gains),
        better=int(np.count_nonzero(gains > 0)),
        worse=int(np.count_nonzero(gains < 0)),
        difference=units.mean,
        units=units.changed + units.still,
        changed=units.changed,
        spread=units.spread,
        kurtosis=units.kurtosis,
        step=units.step / float(units.sizes[0]) if units.step and units.equal else None,
        p=p,
        adjusted=adjusted,
        interval=_interval(units, left, drawn, shown=shown),
        level=round(1.0 - left, 12),
        alpha=single,
        standing="no clear difference"
        if not shown
        else "better"
        if total > 0
        else "worse",
        one_outweighs=_outweighs(largest, units),
    )


def _outweighs(largest: float, units: PairedUnits) -> bool:
    """Whether one change is as large as all others together; of two, whether it is larger."""
    least = ROUNDING if units.changed == 2 else -ROUNDING
    return units.changed > 1 and 2.0 * largest > exact_sum(np.abs(units.moved)) + least


def _interval(
    units: PairedUnits, alpha: float, drawn: _Subsets | None, *, shown: bool
) -> Ends | None:
    """All means that the test does not reject at alpha; excludes zero exactly where ``shown``."""
    if units.changed < FEWEST_FOR_INTERVAL:
        return None
    ends = _normal_ends(units, alpha) if drawn is None else drawn.ends(alpha)
    if ends is None:
        return None
    low, high = (round(end, 12) for end in ends)
    # The subsets are another sample than that of p and may differ slightly: p decides.
    if not shown:
        return Ends(min(low, 0.0), max(high, 0.0))
    hair = float(np.abs(units.moved).min()) / units.size
    return Ends(max(low, hair), high) if units.total > 0 else Ends(low, min(high, -hair))


def _normal_ends(units: PairedUnits, alpha: float) -> Ends:
    """The same where there are enough units for sums with random signs to be normal."""
    n = units.changed + units.still
    queries = units.size
    mean = units.total / queries
    away = np.concatenate(
        [units.moved - mean * units.sizes, [-mean * units.still_size] * units.still]
    )
    spread = math.sqrt(exact_sum(away**2) / n) * n / queries
    z = normal_quantile(1.0 - alpha / 2.0)
    reach = z * spread / math.sqrt(n - z * z)
    return Ends(mean - reach, mean + reach)


def _adjusted(
    rows: Sequence[PairedUnits], p_values: Sequence[float | None], alpha: float
) -> tuple[list[float | None], float]:
    """Step-down minP over shared sign flips, and the threshold for a single p."""
    tested = [at for at, p in enumerate(p_values) if p is not None and p < 1.0]
    adjusted = list(p_values)
    if len(tested) < 2:
        return adjusted, alpha
    flipped = np.abs(_flipped_sums([rows[at] for at in tested]))
    extreme = np.array(
        [_own_p(rows[at], sums) for at, sums in zip(tested, flipped, strict=True)]
    )
    # The first flip is the observed one.
    observed = np.array([p_values[at] or 0.0 for at in tested])
    order = np.lexsort((observed, extreme[:, 0]))
    smallest = np.minimum.accumulate(extreme[order[::-1]], axis=0)[::-1]
    highest = 0.0
    flips = extreme.shape[1]
    for alike in _ties(order, extreme[:, 0], observed):
        rows_alike = order[alike]
        p = float(observed[rows_alike].max())
        seen = extreme[rows_alike[0], 0] * (1.0 + ROUNDING)
        # Rows with one p have one answer, whichever comes first.
        own = float(np.mean(np.count_nonzero(extreme[rows_alike] <= seen, axis=1)))
        some = int(np.count_nonzero(smallest[alike.start] <= seen))
        # With enough extreme flips, a ratio of counts has less noise than a count.
        p_any = p * some / own if own >= _ENOUGH else max(p, some / flips)
        highest = min(1.0, max(highest, p_any))
        for row in rows_alike:
            adjusted[tested[row]] = highest
    ordered = np.sort(smallest[0])
    single = float(ordered[max(math.floor(alpha * flips + ROUNDING) - 1, 0)])
    return adjusted, min(max(single, alpha / len(tested)), alpha)


def _ties(order: Ints, extreme: Floats, observed: Floats) -> Iterator[slice]:
    """Yield the places of rows, in order, that have the same p but for rounding."""
    start = 0
    for end in range(1, len(order) + 1):
        first = order[start]
        if end < len(order):
            other = order[end]
            near = math.isclose(extreme[first], extreme[other], rel_tol=ROUNDING)
            if near and math.isclose(observed[first], observed[other], rel_tol=ROUNDING):
                continue
        yield slice(start, end)
        start = end


def _own_p(units: PairedUnits, flipped: Floats) -> Floats:
    """The p of each flip for one row: exact for the sign test, else by rank."""
    if units.step is not None:
        steps = np.rint(flipped / units.step).astype(np.int64)
        return _sign_table(units.changed)[np.minimum(steps, units.changed)]
    order = np.argsort(flipped)
    ordered = flipped[order]
    shares = np.empty(len(flipped))
    # Sums in order are found much faster than sums in disorder.
    shares[order] = (len(order) - np.searchsorted(ordered, ordered - ROUNDING)) / len(
        order
    )
    return shares


def _flipped_sums(rows: Sequence[PairedUnits]) -> Floats:
    """The sum of every row under the same flips of all units; the first is the observed one.

    Sums over few changed units are drawn unit by unit; the rest of other rows is normal
    and drawn by its covariance.
    """
    table = np.array([row.sums for row in rows])
    table = table[:, table.any(axis=0)]
    place = row_order(table)
    return _flipped_in_order(table[place])[np.argsort(place)]


def _flipped_in_order(table: Floats) -> Floats:
    """The same of rows in an order that does not depend on how they were given."""
    changed = np.count_nonzero(table, axis=1)
    rest = np.zeros((len(table), 0))
    if table.shape[1] > MANY:
        by_unit = np.zeros(table.shape[1], dtype=np.bool_)
        for at in np.argsort(changed, kind="stable"):
            more = by_unit | (table[at] != 0.0)
            if np.count_nonzero(more) > MANY:
                break
            by_unit = more
        rest = table[:, ~by_unit]
        table = table[:, by_unit]
    # Independent of the order of queries and systems, too: units, with the sign that
    # makes their first change a gain, are sorted by value.
    first = table.T
    turned = table
    if len(first):
        leading = first[np.arange(len(first)), (first != 0.0).argmax(axis=1)]
        turned = table * np.sign(leading)
    turned = turned[:, np.lexsort(turned[::-1])]
    seen = table.sum(axis=1) + rest.sum(axis=1)
    if not rest.size and table.shape[1] <= EVERY_FLIP:
        # The first unit keeps its sign.
        every: Floats = turned.sum(axis=1, keepdims=True) - 2.0 * _subset_sums(
            turned[:, 1:]
        )
        # A flip and its opposite count as one; the first must be the observed one.
        same = int(np.argmin(np.abs(np.abs(every) - np.abs(seen)[:, None]).sum(axis=0)))
        every[:, [0, same]] = every[:, [same, 0]]
        return every
    flipped = 2.0 * _over_subsets(turned) - turned.sum(axis=1, keepdims=True)
    if rest.size:
        flipped += _normal_sums(rest, flipped.shape[1])
    return np.column_stack([seen, flipped])


def _normal_sums(rest: Floats, draws: int) -> Floats:
    """Normal sums with the covariance of many random signs."""
    covariance = rest @ rest.T
    covariance[np.diag_indices_from(covariance)] *= 1.0 + ROUNDING
    covariance[np.diag_indices_from(covariance)] += ROUNDING
    normal = _normal(len(rest) * draws).reshape(len(rest), draws)
    sums: Floats = np.linalg.cholesky(covariance) @ normal
    return sums


@lru_cache(maxsize=2)
def _normal(count: int) -> Floats:
    return np.random.default_rng(_SEED).standard_normal(count)
