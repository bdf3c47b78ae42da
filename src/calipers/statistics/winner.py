"""What the best of many settings gains on new queries.

The best of many is best by merit and by luck, and luck does not come along to other queries. So
each part of the queries is measured with the setting that is best on the others: what is chosen
and what it is measured on are never the same.

The parts are drawn at random, many times over. Units are put in order of their values first, so
the order of the queries does not matter; settings that lead together count by their mean.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Floats, Ints

PARTS = 10
MOST_TIMES = 40
_AT_MOST = 20_000_000
"""Values to add up in all: many queries need few repetitions."""
_TIE = 1e-12


@dataclass(frozen=True)
class WinnerGain:
    """By how much the best of several settings beats the one that is in use."""

    winner: int
    """The column that is best."""
    here: float
    """Its gain on these queries, on which it was chosen."""
    expected: float
    """The gain to expect on new queries of whatever is chosen so."""
    units: int


def winner_gain(
    values: ArrayLike, baseline: int, clusters: ArrayLike | None = None, seed: int = 0
) -> WinnerGain | None:
    """From values per query (rows) and setting (columns), higher is better; rows with NaN are out.

    None below two queries (or clusters), or where there is nothing to choose from.

    >>> luck = np.random.default_rng(1).random((60, 30)) < 0.5
    >>> found = winner_gain(luck, 0)
    >>> round(found.here, 2), round(found.expected, 2)
    (0.07, -0.1)
    """
    table = np.asarray(values, dtype=np.float64)
    whole = ~np.isnan(table).any(axis=1)
    sums, sizes = _units(table[whole], None if clusters is None else np.asarray(clusters)[whole])
    n, settings = sums.shape
    if n < 2 or settings < 2:
        return None
    # Settings by how good they are, then queries by their values: no order of the input is left.
    columns = np.lexsort((sums.T @ sums.mean(axis=1), (sums**2).sum(axis=0), sums.sum(axis=0)))
    rows = np.lexsort((sizes, *(sums[:, one] for one in columns)))
    sums, sizes = sums[rows], sizes[rows]
    means = sums.sum(axis=0) / sizes.sum()
    winner = int(np.argmax(np.where(np.arange(settings) == baseline, means + _TIE, means)))
    draw = np.random.default_rng([seed, n, settings])
    times = int(np.clip(_AT_MOST // sums.size, 1, MOST_TIMES))
    starts = np.arange(min(PARTS, n)) * n // min(PARTS, n)
    found = np.mean([_held_out(sums, sizes, starts, draw.permutation(n)) for _ in range(times)])
    expected = float(found - means[baseline])
    return WinnerGain(winner, float(means[winner] - means[baseline]), expected, n)


def _units(table: Floats, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """Sums and sizes of queries, or of clusters of them."""
    if clusters is None:
        return table, np.ones(len(table))
    _, which = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((int(which.max(initial=-1)) + 1, table.shape[1]))
    np.add.at(sums, which, table)
    return sums, np.bincount(which).astype(np.float64)


def _held_out(sums: Floats, sizes: Floats, starts: Ints, order: Ints) -> float:
    """The mean of each part by the setting that is best on all others."""
    parts = np.add.reduceat(sums[order], starts, axis=0)
    counts = np.add.reduceat(sizes[order], starts)
    others = (sums.sum(axis=0) - parts) / (sizes.sum() - counts)[:, None]
    leads = others >= others.max(axis=1, keepdims=True) - _TIE
    chosen = np.where(leads, parts, 0.0).sum(axis=1) / leads.sum(axis=1)
    return float(chosen.sum() / sizes.sum())
