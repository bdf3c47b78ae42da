"""Confidence intervals of a mean over queries.

Up to 5,000 queries: the percentile bootstrap, expanded for small samples. A plain percentile
interval is too narrow by sqrt((n - 1) / n) and ignores that the spread itself is estimated;
both are made good by taking wider percentiles, those where a normal distribution holds
sqrt(n / (n - 1)) times the Student t quantile (Hesterberg, "What Teachers Should Know About the
Bootstrap", 2015). Beyond 5,000 queries the mean is as good as normal, and the interval is the
mean plus and minus the t quantile times the standard error.

A column of only 0 and 1 is a share of queries, and gets Wilson's interval whatever their number:
a bootstrap of 20 hits out of 20 would claim that the true rate is exactly 1.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.analyse.distributions import normal_cdf, normal_quantile, t_quantile
from calipers.analyse.exact_sum import exact_sum
from calipers.analyse.resampling import (
    FloatArray,
    as_columns,
    blocks,
    bootstrap_means,
    finite_columns,
)
from calipers.errors import InvalidInput
from calipers.model.summary import Interval, Method

Bounds = tuple[float, float]

LARGEST_BOOTSTRAP = 5000
# Bootstrap means held at once, over all columns: 32 MB.
_MEANS_HELD = 1 << 22
# Functions such as lgamma may differ in the last digit between machines. Rounding what is
# made from them keeps the interval the same to the last bit.
_DIGITS = 10


def mean_interval(
    values: ArrayLike,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    *,
    bounds: Bounds | None = None,
    method: Method | None = None,
    shares: bool = True,
) -> Interval | None:
    """The confidence interval of the mean of one column; NaN is left out first.

    None with fewer than two values. `method` is chosen by the values unless given. `bounds` are
    the limits of the metric; the interval is cut there. `shares` says whether a column of only
    0 and 1 is a share of queries; among differences it is not.

    >>> mean_interval([0.5, 0.25, 1.0, 0.75, 0.0, 1.0, 0.5, 0.25])
    Interval(low=0.25, high=0.84375, level=0.95, method='bootstrap')
    >>> hits = mean_interval([1.0] * 20)
    >>> round(hits.low, 3), hits.high, hits.method
    (0.839, 1.0, 'wilson')
    >>> mean_interval([0.5, 0.5, float("nan")])
    Interval(low=0.5, high=0.5, level=0.95, method='bootstrap')
    >>> mean_interval([0.5]) is None
    True
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise InvalidInput(
            f"The values have the wrong shape: found {column.ndim} dimensions, 1 is needed."
        )
    return mean_intervals(
        column[:, np.newaxis], level, resamples, seed,
        bounds=[bounds], method=method, shares=shares,
    )[0]  # fmt: skip


def mean_intervals(
    values: ArrayLike,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    *,
    bounds: Sequence[Bounds | None] | None = None,
    method: Method | None = None,
    shares: bool = True,
) -> list[Interval | None]:
    """`mean_interval` of every column of an (n, m) array, in one pass.

    Columns that are undefined (NaN) for the same queries share their draws. Each result is the
    same as that of the column alone.

    >>> columns = [[0.5, 0.2], [0.0, 0.2], [1.0, float("nan")], [1.0, float("nan")]]
    >>> [(interval.low, interval.high) for interval in mean_intervals(columns)]
    [(0.0, 1.0), (0.2, 0.2)]
    """
    columns = as_columns(values)
    if not 0.0 < level < 1.0:
        raise InvalidInput(
            f"The confidence level is out of range: found {level}, "
            "a number above 0 and below 1 is allowed, such as 0.95."
        )
    if method not in (None, "bootstrap", "normal"):
        raise InvalidInput(
            f"The interval method is unknown: found {method!r}, 'bootstrap' or 'normal' is allowed."
        )
    found: dict[int, Interval] = {}
    for at, defined in columns_by_pattern(columns):
        if defined.shape[0] < 2:
            continue
        for chosen, which in _columns_by_method(defined, method, shares).items():
            ends = _ENDS[chosen](defined[:, which], level, resamples, seed)
            for column, (low, high) in zip((at[i] for i in which), ends, strict=True):
                limits = bounds[column] if bounds is not None else None
                if limits is not None:
                    low, high = max(low, limits[0]), min(high, limits[1])
                found[column] = Interval(low, high, level, chosen)
    return [found.get(column) for column in range(columns.shape[1])]


def _columns_by_method(
    defined: FloatArray, method: Method | None, shares: bool
) -> dict[Method, list[int]]:
    usual: Method = "bootstrap" if defined.shape[0] <= LARGEST_BOOTSTRAP else "normal"
    chosen: dict[Method, list[int]] = {}
    for i, column in enumerate(defined.T):
        fitting: Method = "wilson" if shares and _is_share(column) else usual
        chosen.setdefault(method or fitting, []).append(i)
    return chosen


def columns_by_pattern(columns: FloatArray) -> Iterator[tuple[list[int], FloatArray]]:
    """Column numbers that are NaN in the same rows, with what is left of those columns.

    >>> nan = float("nan")
    >>> table = np.array([[1.0, 4.0, nan], [2.0, 5.0, 6.0]])
    >>> [(at, defined.tolist()) for at, defined in columns_by_pattern(table)]
    [([0, 1], [[1.0, 4.0], [2.0, 5.0]]), ([2], [[6.0]])]
    """
    missing: NDArray[np.bool_] = np.isnan(columns)
    if not missing.any():
        yield list(range(columns.shape[1])), finite_columns(columns)
        return
    groups: dict[bytes, list[int]] = {}
    for column in range(columns.shape[1]):
        groups.setdefault(np.packbits(missing[:, column]).tobytes(), []).append(column)
    for at in groups.values():
        kept = ~missing[:, at[0]]
        # Column by column in memory, as they are used.
        defined = np.empty((np.count_nonzero(kept), len(at)), order="F")
        for i, column in enumerate(at):
            defined[:, i] = columns[kept, column]
        yield at, finite_columns(defined)


def exact_mean(column: FloatArray) -> float:
    """The mean from a sum that is rounded once, whatever the order of the values.

    >>> exact_mean(np.array([1e16, 1.0, -1e16, 1.0]))
    0.5
    """
    mean = exact_sum(column) / len(column)
    # The division rounds once more, which can lift the mean of equal values off them.
    return min(max(mean, float(column.min())), float(column.max()))


def standard_deviation(column: FloatArray, mean: float) -> float:
    """The standard deviation of a sample (n - 1), 0.0 where it is only rounding noise.

    >>> standard_deviation(np.array([1.0, 3.0]), mean=2.0) == 2**0.5
    True
    >>> standard_deviation(np.array([0.1, 0.3 - 0.2, 0.4 - 0.3]), mean=0.1)
    0.0
    """
    if np.ptp(column) <= 1e-12 * np.abs(column).max():
        return 0.0
    return math.sqrt(exact_sum((column - mean) ** 2) / (len(column) - 1))


def _is_share(column: FloatArray) -> bool:
    # The first values tell most columns, at no cost.
    return all(((some == 0.0) | (some == 1.0)).all() for some in (column[:100], column))


def _wilson_ends(defined: FloatArray, level: float, _resamples: int, _seed: int) -> list[Bounds]:
    n = defined.shape[0]
    z = round(normal_quantile(0.5 + 0.5 * level), _DIGITS)
    ends = []
    for column in defined.T:
        share = exact_mean(column)
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        margin = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        ends.append((min(middle - margin, share), max(middle + margin, share)))
    return ends


def _normal_ends(defined: FloatArray, level: float, _resamples: int, _seed: int) -> list[Bounds]:
    n = defined.shape[0]
    width = round(t_quantile(0.5 + 0.5 * level, n - 1), _DIGITS) / math.sqrt(n)
    ends = []
    for column in defined.T:
        mean = exact_mean(column)
        margin = width * standard_deviation(column, mean)
        ends.append((mean - margin, mean + margin))
    return ends


def _bootstrap_ends(defined: FloatArray, level: float, resamples: int, seed: int) -> list[Bounds]:
    n, m = defined.shape
    expanded = math.sqrt(n / (n - 1)) * t_quantile(0.5 + 0.5 * level, n - 1)
    tail = round(normal_cdf(-expanded), _DIGITS)
    ends = []
    for start, stop in blocks(m, max(1, _MEANS_HELD // resamples)):
        means = np.sort(bootstrap_means(defined[:, start:stop], resamples, seed), axis=0)
        for column, sorted_means in zip(defined[:, start:stop].T, means.T, strict=True):
            ends.append(_percentile_ends(column, sorted_means, tail))
    return ends


def _percentile_ends(column: FloatArray, sorted_means: FloatArray, tail: float) -> Bounds:
    smallest, largest = float(column.min()), float(column.max())
    # A mean of resampled values cannot leave their range, but its grid can, by a hair. And an
    # interval that misses the mean it is printed beside would only puzzle: with few resamples
    # or a low level that can happen, so it is stretched to hold it.
    mean = exact_mean(column)
    low = max(quantile_of_sorted(sorted_means, tail), smallest)
    high = min(quantile_of_sorted(sorted_means, 1.0 - tail), largest)
    return min(low, mean), max(high, mean)


def quantile_of_sorted(ordered: FloatArray, p: float) -> float:
    """The p-quantile at position p * (count + 1), between neighbours by straight line.

    This is the position at which a new draw falls below with probability p, which is what a
    bootstrap percentile asks for. Own arithmetic, as numpy's may change between versions.

    >>> quantile_of_sorted(np.array([1.0, 2.0, 3.0]), 0.5)
    2.0
    >>> quantile_of_sorted(np.array([1.0, 2.0, 3.0]), 0.4375)
    1.75
    """
    position = min(max(p * (len(ordered) + 1) - 1.0, 0.0), len(ordered) - 1.0)
    before = int(position)
    after = min(before + 1, len(ordered) - 1)
    low, high = float(ordered[before]), float(ordered[after])
    return low + (high - low) * (position - before)


_ENDS: dict[Method, Callable[[FloatArray, float, int, int], list[Bounds]]] = {
    "bootstrap": _bootstrap_ends,
    "normal": _normal_ends,
    "wilson": _wilson_ends,
}
