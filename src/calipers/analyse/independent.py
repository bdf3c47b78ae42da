"""Some of the queries against the rest: is the difference more than noise?

Were the chosen queries like the others, any choice of as many would have done as well. So as
many are chosen again and again, blindly, and p is the share of choices whose mean is at least as
far from the mean of all as the observed one. It assumes nothing about the shape of the values.
"""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from calipers.analyse.resampling import (
    CELLS_PER_BLOCK,
    FloatArray,
    blocks,
    exact_bits,
    finite_columns,
    raw_source,
    require_resamples,
    to_grid,
)
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools

# Up to this many choices all are tried.
MOST_EXACT = 20_000
# As in `paired`: coarse enough to hide the rounding noise of scores.
_GRID_BITS = 40


def permutation_test(
    values: ArrayLike, chosen: ArrayLike, resamples: int = 10_000, seed: int = 0
) -> float:
    """The two-sided p-value of the chosen rows against the others; NaN if either side is empty.

    >>> permutation_test([1.0, 0.9, 0.8, 0.1, 0.2, 0.0], [True, True, True, False, False, False])
    0.1
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise InvalidInput(
            f"The values have the wrong shape: found {column.ndim} dimensions, 1 is needed."
        )
    mask = np.asarray(chosen, dtype=np.bool_)
    return float(permutation_tests(column[:, np.newaxis], mask, resamples, seed)[0])


def permutation_tests(
    values: ArrayLike, chosen: Bools, resamples: int = 10_000, seed: int = 0
) -> FloatArray:
    """`permutation_test` of every column of an (n, m) array without NaN, each as if alone."""
    columns = finite_columns(values)
    n, m = columns.shape
    if chosen.shape != (n,):
        raise InvalidInput(
            f"The choice of rows has the wrong shape: found {chosen.shape}, ({n},) is needed."
        )
    require_resamples(resamples)
    size = int(chosen.sum())
    if size in (0, n):
        return np.full(m, np.nan)
    grid, _ = to_grid(columns, min(_GRID_BITS, exact_bits(n)))
    expected = grid.sum(axis=0) * (size / n)
    # Rounding moves each value by half a grid step at most; with this slack no tie is lost.
    least = np.abs(grid[chosen].sum(axis=0) - expected) - n
    if comb(n, size) <= MOST_EXACT:
        choices = np.array(list(combinations(range(n), size)))
        sums = grid[choices].sum(axis=1)
        exact: FloatArray = np.count_nonzero(np.abs(sums - expected) >= least, axis=0) / len(sums)
        return exact
    extreme = np.zeros(m, dtype=np.int64)
    source = raw_source(seed)
    for start, stop in blocks(resamples, max(1, CELLS_PER_BLOCK // n)):
        words = source.random_raw((stop - start) * n).reshape(-1, n)
        # The rows that drew the smallest words are chosen: every set of this size is as likely.
        last = np.partition(words, size - 1, axis=1)[:, size - 1 : size]
        sums = (words <= last).astype(np.float64) @ grid
        extreme += np.count_nonzero(np.abs(sums - expected) >= least, axis=0)
    sampled: FloatArray = (extreme + 1) / (resamples + 1)
    return sampled
