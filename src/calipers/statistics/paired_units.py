"""One column of paired gains, summed by what counts as one observation."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calipers.model.arrays import Floats
from calipers.statistics.clusters import exact_mean, weighted_mean

ROUNDING = 1e-9
SMALLEST = 1e-12
"""A smaller difference is rounding error, not the retriever's."""
_FEWEST_FOR_KURTOSIS = 5


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
    """Per unit of the command: zero where it did not change, or the row does not have it."""
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
            mean = exact_mean(paired) if weights is None else weighted_mean(paired, counts[known])
            # Gains and losses may cancel out but for rounding.
            mean = mean if abs(mean) >= SMALLEST else 0.0
        gains = gains * counts
        if names is None:
            sums, sizes = np.where(known, gains, 0.0), np.where(known, counts, 0.0)
        else:
            count = int(names.max(initial=-1)) + 1
            # Added in order of size, so that the order of the queries changes no bit.
            order = np.argsort(gains, kind="stable")
            order = order[known[order]]
            sums = np.bincount(names[order], gains[order], minlength=count)
            sizes = np.bincount(names[known], counts[known], minlength=count)
        sums = np.where(np.abs(sums) < ROUNDING, 0.0, sums)
        moves, there = sums != 0.0, sizes > 0.0
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

    @property
    def total(self) -> float:
        """The sum of all gains; exactly 0 where it is so but for rounding."""
        total = math.fsum(self.moved)
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
    second = math.fsum((means - means.mean()) ** 2)
    if second < SMALLEST:
        return 0.0
    return n * math.fsum((means - means[cut : n - cut].mean()) ** 4) / second**2
