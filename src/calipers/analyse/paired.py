"""Two retrievers on the same queries: is the difference more than noise?

Everything here takes differences, one per query: d = b - a, so that above 0 means b is better
(turn the sign for a metric where lower is better). NaN marks a query where either is undefined
and is left out.

The test flips the sign of each difference at random: were the two retrievers equally good, either
sign would have been as likely. p is the share of flips whose mean is at least as far from 0 as
the observed one. It assumes nothing about the shape of the differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.analyse.intervals import (
    Bounds,
    columns_by_pattern,
    exact_mean,
    mean_interval,
    mean_intervals,
    standard_deviation,
)
from calipers.analyse.resampling import (
    FloatArray,
    as_columns,
    exact_bits,
    require_resamples,
    sign_blocks,
    to_grid,
)
from calipers.errors import InvalidInput
from calipers.model.summary import Interval

# Up to this many non-zero differences, all sign flips are tried: 65,536 of them.
LARGEST_EXACT = 16
# Differences of scores near 1 carry noise of about 2**-53. A grid of 40 bits is coarse enough to
# hide it, so that differences which are equal on paper are equal on the grid.
_GRID_BITS = 40


@dataclass(frozen=True, slots=True)
class PairedResult:
    """What the paired differences of one metric say.

    `mean_difference` and `p_value` are None without any pair; `interval` with fewer than two.
    `effect_size` is Cohen's d_z, the mean difference over the standard deviation of the
    differences: 0 where all are 0, None where it has no finite value (a single pair, or all
    differences equal and not 0). `method` says whether all sign flips were tried or a sample.
    """

    n: int
    mean_difference: float | None
    interval: Interval | None
    p_value: float | None
    effect_size: float | None
    wins: int
    losses: int
    ties: int
    method: Literal["exact", "sampled"]


def paired_result(
    differences: ArrayLike,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    *,
    bounds: Bounds | None = None,
) -> PairedResult:
    """Interval, test, effect size and counts for one column of differences.

    >>> result = paired_result([0.5, 0.0, 0.25, 0.5, -0.25, 0.5])
    >>> result.mean_difference, result.p_value, result.method
    (0.25, 0.1875, 'exact')
    >>> result.wins, result.losses, result.ties
    (4, 1, 1)
    """
    return paired_results(_one_column(differences), level, resamples, seed, bounds=[bounds])[0]


def paired_results(
    differences: ArrayLike,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    *,
    bounds: Sequence[Bounds | None] | None = None,
) -> list[PairedResult]:
    """`paired_result` of every column of an (n, m) array, each the same as alone.

    >>> table = [[0.5, 0.0], [0.25, 0.0], [0.5, 0.0]]
    >>> [(result.wins, result.p_value) for result in paired_results(table)]
    [(3, 0.25), (0, 1.0)]
    """
    columns = as_columns(differences)
    p_values = randomisation_tests(columns, resamples, seed)
    intervals = mean_intervals(columns, level, resamples, seed, bounds=bounds, shares=False)
    return [
        _describe(column[~np.isnan(column)], interval, float(p))
        for column, interval, p in zip(columns.T, intervals, p_values, strict=True)
    ]


def paired_interval(
    differences: ArrayLike,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    *,
    bounds: Bounds | None = None,
) -> Interval | None:
    """The confidence interval of the mean difference; None with fewer than two pairs.

    >>> paired_interval([0.5, 0.25, 0.5, 0.25, 0.5, 0.25, 0.5, 0.25])
    Interval(low=0.28125, high=0.46875, level=0.95, method='bootstrap')
    """
    return mean_interval(differences, level, resamples, seed, bounds=bounds, shares=False)


def randomisation_test(differences: ArrayLike, resamples: int = 10_000, seed: int = 0) -> float:
    """The two-sided p-value of the sign-flip test on the mean; NaN without any pair.

    Up to 16 non-zero differences the p-value is exact. Beyond, `resamples` random flips are
    drawn and the observed one counts among them: p = (count + 1) / (resamples + 1), never 0.

    >>> randomisation_test([0.5, 0.25, 0.5, 0.125])
    0.125
    >>> randomisation_test([0.0, 0.0])
    1.0
    """
    return float(randomisation_tests(_one_column(differences), resamples, seed)[0])


def randomisation_tests(
    differences: ArrayLike, resamples: int = 10_000, seed: int = 0
) -> FloatArray:
    """`randomisation_test` of every column of an (n, m) array, each the same as alone.

    >>> randomisation_tests([[0.5, 0.0], [0.25, 0.0], [0.5, 0.0]]).tolist()
    [0.25, 1.0]
    """
    columns = as_columns(differences)
    require_resamples(resamples)
    p_values = np.full(columns.shape[1], np.nan)
    for at, defined in columns_by_pattern(columns):
        n = defined.shape[0]
        if n == 0:
            continue
        grid, _ = to_grid(defined, min(_GRID_BITS, exact_bits(n)))
        few = np.count_nonzero(defined, axis=0) <= LARGEST_EXACT
        for position, column in enumerate(at):
            if few[position]:
                p_values[column] = _exact_p(grid[:, position])
        many = np.flatnonzero(~few)
        if many.size:
            p_values[np.array(at)[many]] = _sampled_p(grid[:, many], resamples, seed)
    return p_values


def _exact_p(whole: FloatArray) -> float:
    sums = np.zeros(1)
    moving = whole[whole != 0.0]
    for value in moving:
        sums = np.concatenate([sums - value, sums + value])
    return float(np.count_nonzero(np.abs(sums) >= _least_extreme(whole))) / sums.size


def _sampled_p(whole: FloatArray, resamples: int, seed: int) -> FloatArray:
    total = whole.sum(axis=0)
    least = _least_extreme(whole)
    extreme = np.zeros(whole.shape[1], dtype=np.int64)
    for kept in sign_blocks(len(whole), resamples, seed, columns=whole.shape[1]):
        # Sum of the kept minus sum of the flipped = twice the kept minus the total.
        sums = 2.0 * (kept @ whole) - total
        extreme += np.count_nonzero(np.abs(sums) >= least, axis=0)
    return (extreme + 1) / (resamples + 1)


def _least_extreme(whole: FloatArray) -> FloatArray:
    """The smallest sum, in grid steps, that counts as being as extreme as the observed one.

    Each difference is rounded to the grid by at most half a step, so two sums that are equal on
    paper (1/3 + 1/3 + 1/3 and 1) can be as many steps apart as there are non-zero differences.
    With that much slack no tie is lost, and the comparison of whole numbers itself is exact.
    """
    slack = np.count_nonzero(whole, axis=0)
    least: FloatArray = np.abs(whole.sum(axis=0)) - slack
    return least


def _describe(defined: FloatArray, interval: Interval | None, p: float) -> PairedResult:
    n = len(defined)
    mean = exact_mean(defined) if n else None
    wins = int(np.count_nonzero(defined > 0))
    losses = int(np.count_nonzero(defined < 0))
    return PairedResult(
        n=n,
        mean_difference=mean,
        interval=interval,
        p_value=None if mean is None else p,
        effect_size=_effect_size(defined, mean),
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
        method="exact" if wins + losses <= LARGEST_EXACT else "sampled",
    )


def _effect_size(defined: FloatArray, mean: float | None) -> float | None:
    if mean is None:
        return None
    if not defined.any():
        return 0.0
    spread = standard_deviation(defined, mean)
    return mean / spread if spread > 0.0 else None


def _one_column(differences: ArrayLike) -> FloatArray:
    column = np.asarray(differences, dtype=np.float64)
    if column.ndim != 1:
        raise InvalidInput(
            f"The differences have the wrong shape: found {column.ndim} dimensions, 1 is needed."
        )
    return column[:, np.newaxis]
