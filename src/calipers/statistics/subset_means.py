"""The means of random subsets of some values: what a sign-flip test is read from.

The list holds all subsets of up to 16 units. Of more it holds 50,000 that were drawn once for each
number of units, and their mirror images: so that exchanging the systems exchanges the signs and
nothing else. Beyond 2,000 units it is a normal distribution.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from calipers.model.arrays import Floats
from calipers.statistics.score_interval import normal_cdf, normal_quantile

ALL_SUBSETS = 16
"""Up to so many units every subset is looked at."""
DRAWS = 50_000
MANY = 2_000
"""Beyond so many units, sums of random signs are normal for every purpose here."""
ROUNDING = 1e-9
_SEED = 20_070_723
_AT_ONCE = 4_000_000
"""Units of the subsets that are drawn together."""
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class SubsetMeans:
    """The means of subsets; ``empty`` more have none, and count on either side."""

    means: Floats
    empty: int
    drawn: int
    """1 where they are a sample: then the subset that was seen counts as one more."""

    @property
    def count(self) -> int:
        """How many subsets there are, or were drawn."""
        return len(self.means) + self.empty + self.drawn

    @cached_property
    def ordered(self) -> Floats:
        """Only an interval needs them in order."""
        return np.sort(self.means)

    def share_up_to(self, value: float) -> float:
        """The share of subsets whose mean is at most the value."""
        below = int(np.count_nonzero(self.means <= value + ROUNDING))
        return (below + self.empty + self.drawn) / self.count

    def share_from(self, value: float) -> float:
        """The share of subsets whose mean is at least the value."""
        above = int(np.count_nonzero(self.means >= value - ROUNDING))
        return (above + self.empty + self.drawn) / self.count

    def low(self, alpha: float) -> float:
        """The largest value below which at most this share lies."""
        at = self._rejected(alpha)
        return -math.inf if at < 0 else round(float(self.ordered[at]), _DIGITS)

    def high(self, alpha: float) -> float:
        """The smallest value above which at most this share lies."""
        at = self._rejected(alpha)
        return math.inf if at < 0 else round(float(self.ordered[-1 - at]), _DIGITS)

    def _rejected(self, alpha: float) -> int:
        """How many of the ordered means lie outside, so that p is at most alpha there."""
        outside = math.floor(alpha * self.count + ROUNDING) - self.empty - self.drawn
        return min(outside, len(self.means) - 1)


@dataclass(frozen=True, eq=False)
class NormalMeans(SubsetMeans):
    """The same for so many units that sums of random signs are normal.

    Where few of them changed they are not: k that all gained show no more than the sign test does.
    """

    mean: float = 0.0
    units: int = 0
    spread: float = 0.0
    """The root of the mean square of what the units deviate from their share of the mean."""
    better: int = 0
    worse: int = 0

    def share_up_to(self, value: float) -> float:
        """As for few units."""
        share = self._tail(self.mean - value)
        return max(share, 0.5**self.better) if value >= 0 else share

    def share_from(self, value: float) -> float:
        """As for few units."""
        share = self._tail(value - self.mean)
        return max(share, 0.5**self.worse) if value <= 0 else share

    def low(self, alpha: float) -> float:
        """As for few units."""
        end = self.mean - self._reach(alpha)
        return end if alpha >= 0.5**self.better else min(end, 0.0)

    def high(self, alpha: float) -> float:
        """As for few units."""
        end = self.mean + self._reach(alpha)
        return end if alpha >= 0.5**self.worse else max(end, 0.0)

    def _tail(self, away: float) -> float:
        scale = math.hypot(self.spread, away)
        return normal_cdf(-math.sqrt(self.units) * away / scale) if scale else 1.0

    def _reach(self, alpha: float) -> float:
        z = normal_quantile(1.0 - alpha)
        return z * self.spread / math.sqrt(max(self.units - z * z, 1.0))


def subset_means(units: Sequence[tuple[Floats, Floats]], n: int) -> list[SubsetMeans]:
    """The list for each column of n units (sum and size of each, in order of their means)."""
    if n > MANY:
        return [_normal(sums, sizes) for sums, sizes in units]
    if n <= ALL_SUBSETS:
        chosen = _every_subset(n)
        return [_listed(chosen @ sums, chosen @ sizes, 0) for sums, sizes in units]
    plain = all((sizes == 1.0).all() for _, sizes in units)
    columns = [sums for sums, _ in units] + [sizes for _, sizes in units[: 1 if plain else None]]
    # Mirror images: a subset of the units counted from below is one of those from above. A row
    # for each column: what is read together lies together.
    both = np.array([*columns, *(column[::-1] for column in columns)])
    drawn = _sums(both, _drawn_subsets(n))
    added = np.concatenate([drawn[: len(columns)], drawn[len(columns) :]], axis=1)
    sizes_at = [len(units) if plain else len(units) + at for at in range(len(units))]
    return [_listed(added[at], added[size], 1) for at, size in enumerate(sizes_at)]


def _listed(sums: Floats, sizes: Floats, drawn: int) -> SubsetMeans:
    some = sizes > 0
    empty = len(sizes) - int(np.count_nonzero(some))
    if empty:
        sums, sizes = sums[some], sizes[some]
    means: Floats = np.where(np.abs(sums) < ROUNDING, 0.0, sums) / sizes
    return SubsetMeans(means, empty, drawn)


def _normal(sums: Floats, sizes: Floats) -> SubsetMeans:
    mean = math.fsum(sums) / math.fsum(sizes)
    relative = sizes / sizes.mean()
    spread = math.sqrt(math.fsum((sums / sizes.mean() - mean * relative) ** 2) / len(sums))
    better, worse = int(np.count_nonzero(sums > 0)), int(np.count_nonzero(sums < 0))
    return NormalMeans(np.zeros(0), 0, 0, mean, len(sums), spread, better, worse)


@lru_cache(maxsize=ALL_SUBSETS)
def _every_subset(n: int) -> Floats:
    """One row per subset, 1 where a unit is in it."""
    chosen: Floats = ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    return chosen


@lru_cache(maxsize=2)
def _drawn_subsets(n: int) -> npt.NDArray[np.uint8]:
    """A fixed sample of the subsets as columns, eight units to a byte."""
    random = np.random.default_rng(_SEED + n)
    rows = max(1, min(DRAWS, _AT_ONCE // n))
    counts = [min(rows, DRAWS - start) for start in range(0, DRAWS, rows)]
    # In parts, as they were drawn first: other sizes would be another sample.
    drawn = [random.integers(0, 256, (count, (n + 7) // 8), dtype=np.uint8) for count in counts]
    return np.ascontiguousarray(np.concatenate(drawn).T)


_EIGHT = np.unpackbits(np.arange(256, dtype=np.uint8)[None, :], axis=0).astype(np.float64)


def _sums(columns: Floats, subsets: npt.NDArray[np.uint8]) -> Floats:
    """The sum of each column over each subset: those of eight units are looked up by their byte.

    A product with the subsets as numbers would read 64 times as many bytes.
    """
    padded = np.zeros((len(columns), 8 * len(subsets)))
    padded[:, : columns.shape[1]] = columns
    added = np.zeros((len(columns), subsets.shape[1]))
    for column, of_eights in zip(added, padded.reshape(len(columns), -1, 8) @ _EIGHT, strict=True):
        for of_eight, byte in zip(of_eights, subsets, strict=True):
            column += of_eight.take(byte)
    return added
