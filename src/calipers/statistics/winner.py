"""What the best of many settings gains on new queries.

The best of many is best by merit and by luck, and luck does not carry over to new
queries. So each part of the queries is measured with the setting that is best on the
others (cross-validation): no setting is measured on queries that chose it.

The parts are drawn at random, many times. Units are sorted by their values first, so the
order of the queries does not matter; settings that tie for the lead count by their mean,
unless the one in use is among them: then it stays.

The interval is for the gain that the winner has among all queries like these. The choices
depend on the measured queries, so a plain t interval is too narrow where settings are
alike (it covers .75): it is widened, and its upper end is never below that of the winner
measured on the queries that chose it. Its lower end also allows for a collapse that no
query shows yet: it is at most that of the t interval with a part of a further query that
loses all the setting in use has.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.statistics.score_interval import Ends, t_quantile

PARTS = 20
MOST_TIMES = 20
_AT_MOST = 10_000_000
"""Values to add in all: with many queries, few repetitions are enough."""
_COLUMNS_AT_ONCE = 8
_ROWS_AT_ONCE = 10_000
"""Parts of the table that are copied at once."""
_TIE = 1e-12
_WIDER = 1.25
"""How much wider than the t interval it is."""
_UNSEEN = 0.7
"""The part of a further query that is lost; 30 queries show a collapse of one in thirty
in 2 of 3 samples, and without this the interval covers .79."""


@dataclass(frozen=True, eq=False)
class WinnerGain:
    """By how much the best of several settings beats the one that is in use."""

    winner: int
    """The column that is best."""
    here: float
    """Its gain on these queries, on which it was chosen."""
    expected: float
    """The expected gain on new queries of a setting that is chosen like this."""
    units: int
    interval: Ends | None
    """The interval of the gain on new queries; None where all units gain the same."""
    gains: Floats
    """That gain for each query that has all values; queries of a cluster share theirs."""
    whole: Bools
    """Which queries have all values."""


def winner_gain(
    values: ArrayLike,
    baseline: int,
    clusters: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> WinnerGain | None:
    """From values per query (rows) and setting (columns), higher is better; rows with NaN are out.

    None below two queries (or clusters), or where there is nothing to choose from.

    >>> luck = np.random.default_rng(1).random((60, 30)) < 0.5
    >>> found = winner_gain(luck, 0)
    >>> round(found.here, 2), round(found.expected, 2)
    (0.07, -0.05)
    """
    table = np.asarray(values, dtype=np.float64)
    whole: Bools = ~np.asarray(np.isnan(table).any(axis=1))
    complete = table[whole]
    unit = np.arange(len(complete))
    if clusters is not None:
        unit = np.unique(np.asarray(clusters)[whole], return_inverse=True)[1]
    sizes = np.bincount(unit).astype(np.float64)
    n = sizes.size
    settings = complete.shape[1]
    if n < 2 or settings < 2:
        return None
    sums = complete if clusters is None else _summed(complete, unit, n)
    rows = _order_of_queries(sums, sizes)
    place = np.argsort(rows)
    if clusters is None:
        # Out of the table itself, so that there are never two copies.
        del complete, sums
        sums = table[np.flatnonzero(whole)[rows]]
    else:
        sums = sums[rows]
    sizes = sizes[rows]
    means = sums.sum(axis=0) / sizes.sum()
    winner = int(
        np.argmax(np.where(np.arange(settings) == baseline, means + _TIE, means))
    )
    draw = np.random.default_rng([seed, n, settings])
    times = int(np.clip(_AT_MOST // sums.size, 1, MOST_TIMES))
    chosen = sum(
        _held_out(sums, sizes, baseline, draw.permutation(n)) for _ in range(times)
    )
    gains = chosen / times - sums[:, baseline]
    here = sums[:, winner] - sums[:, baseline]
    low, high = _t_ends(gains, sizes, confidence, _WIDER)
    if winner != baseline and high - low > _TIE:
        lost = -_UNSEEN * abs(float(means[baseline]))
        low = min(
            low, _t_ends(np.append(gains, lost), np.append(sizes, _UNSEEN), confidence)[0]
        )
    ends = Ends(low, max(high, _t_ends(here, sizes, confidence)[1]))
    return WinnerGain(
        winner,
        float(here.sum() / sizes.sum()),
        _expected(gains, here) / float(sizes.sum()),
        n,
        ends if ends.high - ends.low > _TIE else None,
        (gains / sizes)[place[unit]],
        whole,
    )


def _expected(gains: Floats, here: Floats) -> float:
    """The sum of the gains; the winner's own where they differ only by rounding."""
    total = float(gains.sum())
    chosen = float(here.sum())
    return chosen if abs(total - chosen) < _TIE * len(here) else total


def _t_ends(sums: Floats, sizes: Floats, confidence: float, wider: float = 1.0) -> Ends:
    """The t interval of a mean over queries in units of some sizes."""
    mean = float(sums.sum() / sizes.sum())
    left = sums - mean * sizes
    error = math.sqrt(len(sums) / (len(sums) - 1) * float((left**2).sum())) / float(
        sizes.sum()
    )
    half = wider * t_quantile(0.5 + 0.5 * confidence, len(sums) - 1) * error
    return Ends(mean - half, mean + half)


def _order_of_queries(sums: Floats, sizes: Floats) -> Ints:
    """An order of the queries that depends on their values alone.

    Settings by how good they are, then queries by their values: no order of the input is
    left. Sums are taken in sorted order, so that not even their last digits depend on it.
    """
    totals = np.empty(sums.shape[1])
    squares = np.empty(sums.shape[1])
    # Some columns at a time, and in place: with many queries each copy of the table is
    # much of the memory. Never one column alone, whose sum numpy takes in another order.
    for part in _columns_at_once(sums.shape[1]):
        by_value = np.sort(sums[:, part], axis=0)
        totals[part] = by_value.sum(axis=0)
        squares[part] = np.square(by_value, out=by_value).sum(axis=0)
    alike = np.round(sums.T @ sums.mean(axis=1), 9)
    columns = np.lexsort((alike, squares, totals))
    weights = np.random.default_rng(0).random(sums.shape[1])
    mixed = np.empty(len(sums))
    for first in range(0, len(sums), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        mixed[rows] = (sums[rows][:, columns] * weights).sum(axis=1)
    return np.lexsort((sizes, mixed))


def _columns_at_once(columns: int) -> Iterator[slice]:
    """Yield slices of at least two columns, as far as there are two."""
    last = max(columns // _COLUMNS_AT_ONCE, 1) * _COLUMNS_AT_ONCE
    for first in range(0, last, _COLUMNS_AT_ONCE):
        end = first + _COLUMNS_AT_ONCE
        yield slice(first, columns if end >= last else end)


def _summed(table: Floats, unit: Ints, units: int) -> Floats:
    """The sum of the rows of each unit."""
    sums = np.zeros((units, table.shape[1]))
    np.add.at(sums, unit, table)
    return sums


def _held_out(sums: Floats, sizes: Floats, baseline: int, order: Ints) -> Floats:
    """The value of each unit by the setting that is best on all other parts.

    Where the baseline is among the best it stays, as it does on all queries.
    """
    n = order.size
    parts = min(PARTS, order.size)
    part = np.empty(n, dtype=np.int64)
    part[order] = np.repeat(np.arange(parts), np.diff(np.arange(parts + 1) * n // parts))
    member = (np.arange(parts)[:, None] == part).astype(np.float64)
    left = sizes.sum() - member @ sizes
    others = (sums.sum(axis=0) - member @ sums) / left[:, None]
    leads = (others >= others.max(axis=1, keepdims=True) - _TIE).astype(np.float64)
    leads[leads[:, baseline] > 0.0] = np.arange(sums.shape[1]) == baseline
    leads /= leads.sum(axis=1, keepdims=True)
    chosen: Floats = (sums @ leads.T)[np.arange(n), part]
    return chosen
