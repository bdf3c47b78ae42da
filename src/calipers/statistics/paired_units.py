"""One column of paired gains, summed by what counts as one observation."""

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calipers.frozen import dataclass
from calipers.model.arrays import Floats, Ints
from calipers.statistics.clusters import exact_mean, exact_sum, weighted_mean

ROUNDING = 1e-9
SMALLEST = 1e-12
"""A smaller difference is rounding error, not the retriever's."""
_FEWEST_FOR_KURTOSIS = 5
_ROUNDS = 3
"""How often rows that look alike are looked at again."""


@dataclass(frozen=True, eq=False)
class PairedUnits:
    """One column, summed by units: queries, or clusters of them."""

    gains: Floats
    """Per query that has a pair."""
    mean: float | None
    """The mean gain, weighted where there are weights."""
    size: float
    """The number of queries with a pair, or the sum of their weights."""
    sums: Floats
    """Per unit of the command: zero where it did not change, or the row does not have
    it."""
    moved: Floats
    """The nonzero sums, ascending."""
    sizes: Floats
    """Queries in each of these units."""
    still: int
    """Units that did not change."""
    still_size: float
    """Queries per unchanged unit, on average."""
    spread: float
    kurtosis: float
    equal: bool
    """Whether all units count alike."""

    @classmethod
    def of(
        cls, gains: Floats, names: npt.NDArray[np.intp] | None, weights: Floats | None
    ) -> "PairedUnits":
        """The column by units: queries, or clusters where `names` has their numbers."""
        known = ~np.isnan(gains)
        paired = gains[known]
        counts = np.ones(len(gains)) if weights is None else weights
        mean = None
        if len(paired):
            mean = (
                exact_mean(paired)
                if weights is None
                else weighted_mean(paired, counts[known])
            )
            # Gains and losses may cancel out but for rounding.
            mean = mean if abs(mean) >= SMALLEST else 0.0
        gains = gains * counts
        if names is None:
            sums = np.where(known, gains, 0.0)
            sizes = np.where(known, counts, 0.0)
        else:
            count = int(names.max(initial=-1)) + 1
            # Added in order of size, so that the order of the queries changes no bit.
            order = np.argsort(gains, kind="stable")
            order = order[known[order]]
            sums = np.bincount(names[order], gains[order], minlength=count)
            sizes = np.bincount(names[known], counts[known], minlength=count)
        sums = np.where(np.abs(sums) < ROUNDING, 0.0, sums)
        moves = sums != 0.0
        there = sizes > 0.0
        order = np.lexsort((sizes[moves], sums[moves] / sizes[moves]))
        still = there & ~moves
        means = np.sort(sums[there] / sizes[there])
        if weights is not None and mean is not None:
            # What each unit moves the weighted mean by, as in `as_units`.
            average = float(sizes[there].mean())
            means = np.sort(mean + (sums[there] - mean * sizes[there]) / average)
        return cls(
            paired,
            mean,
            float(sizes.sum()),
            sums,
            sums[moves][order],
            sizes[moves][order],
            int(still.sum()),
            float(sizes[still].mean()) if still.any() else 1.0,
            float(np.std(means, ddof=1)) if len(means) > 1 else 0.0,
            _kurtosis(means),
            bool(there.any() and np.ptp(sizes[there]) < ROUNDING),
        )

    @property
    def changed(self) -> int:
        """The number of units that changed."""
        return len(self.moved)

    @cached_property
    def total(self) -> float:
        """The sum of all gains; exactly 0 where it is so but for rounding."""
        total = exact_sum(self.moved)
        return total if abs(total) >= ROUNDING else 0.0

    @property
    def step(self) -> float | None:
        """The size of the changes, where all are equal: then only signs count."""
        far = np.abs(self.moved)
        return float(far[0]) if len(far) and float(np.ptp(far)) < ROUNDING else None


def _kurtosis(means: Floats) -> float:
    """The fourth moment of sorted values about their trimmed mean, over the squared second."""
    n = len(means)
    if n < _FEWEST_FOR_KURTOSIS:
        return 0.0
    cut = min(int(n / (2.0 * math.sqrt(n - 4))), (n - 1) // 2)
    second = exact_sum((means - means.mean()) ** 2)
    if second < SMALLEST:
        return 0.0
    return n * exact_sum((means - means[cut : n - cut].mean()) ** 4) / second**2


def row_order(table: Floats) -> Ints:
    """An order of rows of sums that neither their order nor that of the units changes.

    By how many units changed, then by how much, whatever the signs. Rows that are alike
    in this are told apart by the units that they changed: by what the other rows did
    there.
    """
    sizes = np.abs(table).round(9)
    ordered = np.sort(sizes, axis=1)
    changed = np.count_nonzero(sizes, axis=1)
    codes = _ranked(np.column_stack([ordered.sum(axis=1).round(9), ordered]), changed)
    signs = np.sign(table)
    for _ in range(_ROUNDS):
        if len(np.unique(codes)) == len(codes):
            break
        # A unit is known by the changes of all rows in it, those of the first rows first,
        # up to its sign; a row by its changes and by the units that they are in.
        weighted = sizes * (1.0 + codes[:, None])
        together = np.sort(weighted, axis=0)
        agree = np.abs((weighted * signs).sum(axis=0)).round(6)
        units = _ranked(together.T, agree)
        marks = np.sort(
            np.where(sizes > 0.0, sizes + 2.0 * (1 + units) * sizes.max(), 0.0), axis=1
        )
        codes = _ranked(marks, codes)
    codes = _all_told_apart(table, codes)
    if len(np.unique(codes)) < len(codes):
        # Rows whose sums are alike under every flip of units may still differ in what was seen.
        codes = _all_told_apart(
            table, _ranked(np.abs(table.sum(axis=1)).round(9)[:, None], codes)
        )
    return np.argsort(codes, kind="stable")


MOST_COMPARED = 4_000_000
"""With more cells than this, rows that are alike but for signs keep the order they came in."""


def _all_told_apart(table: Floats, codes: Ints) -> Ints:
    for _ in range(_ROUNDS):
        further = _told_apart_by_signs(table, codes)
        if further is None:
            break
        codes = further
    return codes


def _told_apart_by_signs(table: Floats, codes: Ints) -> Ints | None:
    """Further places of rows that share one: by which rows agree with them in each unit.

    Two rows may change as much as each other wherever a third does, and yet only one of
    them in its direction. None where nothing is told apart any more.
    """
    _, first, counts = np.unique(codes, return_inverse=True, return_counts=True)
    alike = np.flatnonzero(counts[first.ravel()] > 1)
    if not alike.size or alike.size * table.size > MOST_COMPARED:
        return None
    values = table.round(9)
    width = 2.0 * float(np.abs(values).max(initial=0.0)) + 1.0
    keys = []
    for row in alike:
        # What every row did in a unit, seen from this one: with its sign, or against it.
        seen = values * np.sign(values[row]) + width * (1.0 + codes[:, None])
        keys.append(np.sort(seen[:, values[row] != 0.0], axis=0).T)
    units = _ranked(np.concatenate(keys), np.zeros(sum(map(len, keys))))
    ends = np.cumsum([len(key) for key in keys])
    longest = max(map(len, keys))
    marks = np.full((len(codes), longest), -1.0)
    for row, part in zip(alike, np.split(units, ends[:-1]), strict=True):
        marks[row, : len(part)] = np.sort(part)
    further = _ranked(marks, codes)
    return further if len(np.unique(further)) > len(counts) else None


_FEW_ROWS = 64
"""Up to so many rows are sorted as lists."""


def _ranked(table: Floats, first: Ints | Floats) -> Ints:
    """The place of each row among all, by a value and then by its cells; equal rows share it."""
    keyed = np.column_stack([first, table])
    if len(keyed) <= _FEW_ROWS:
        # numpy would make a type with a field for each of thousands of cells.
        rows = keyed.tolist()
        distinct = sorted(rows)
        places: dict[tuple[float, ...], int] = {}
        for row in distinct:
            places.setdefault(tuple(row), len(places))
        return np.array([places[tuple(row)] for row in rows], dtype=np.int64)
    return np.unique(keyed, axis=0, return_inverse=True)[1].ravel()
