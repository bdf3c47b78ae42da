"""Agreement of judges beyond chance, and its interval by the jackknife.

A table has one row per judged item and one column per judge; NaN is a label that is
missing. A coefficient of 1 is full agreement, 0 is what chance gives, below 0 is worse
than chance. Where only one grade was ever used, chance alone explains everything and
there is no value.

For the interval each item in turn is left out. What varies is 1 - coefficient, the
disagreement over that of chance. The jackknife gives its standard error, and the interval
is made on its logarithm, which keeps it at or below 1. Where all agree there is no
disagreement to vary. Then, as for a share with a count of zero, up to 1 - (alpha / 2)**(1
/ n) of all items may have judges who disagree completely.

By chance no two judges may have given a rare grade to the same item, and then nothing
seems to vary either. So the upper end is at least that with one more item on which all
give the rarest grade, and the lower end at most that with one more on which they disagree
completely. Without this the interval of a kappa of 0.2, with a grade used for one item in
ten, covered it in 37 of 100 samples of twenty items (docs/statistics.md has the coverage
now).
"""

import math
from typing import NamedTuple

import numpy as np

from calipers.model.arrays import Floats
from calipers.statistics.score_interval import Ends, check_confidence, t_quantile

_DIGITS = 10
_LEAST = -1.0  # no alpha is lower: judges differ at most twice as much as by chance


class Agreed(NamedTuple):
    """A coefficient, and how many items it is made of."""

    value: float | None
    n: int
    """How many items it is computed from."""


def krippendorff_alpha(table: Floats) -> Agreed:
    """Krippendorff's alpha for an ordinal scale, over the items that at least two judged.

    >>> table = np.array([[1, 1, 1], [0, 0, np.nan], [1, 0, 1], [0, np.nan, np.nan]])
    >>> round(krippendorff_alpha(table).value, 3), krippendorff_alpha(table).n
    (0.533, 3)
    """
    paired = table[(~np.isnan(table)).sum(axis=1) >= 2]
    grades = np.unique(paired[~np.isnan(paired)])
    if len(grades) < 2:
        return Agreed(None, len(paired))
    # Coincidence matrix: how often two judges of one item give c and k; each label counts
    # once.
    counts = (paired[:, :, None] == grades).sum(axis=1)
    share = counts / (counts.sum(axis=1) - 1)[:, None]
    together = share.T @ counts - np.diag(share.sum(axis=0))
    # The ordinal distance of two grades counts the labels given between them.
    used = counts.sum(axis=0).astype(float)
    middle = np.cumsum(used) - used / 2
    distance = np.subtract.outer(middle, middle) ** 2
    total = used.sum()
    observed = float((together * distance).sum() / total)
    expected = float((np.outer(used, used) * distance).sum() / (total * (total - 1)))
    return Agreed(1 - observed / expected, len(paired))


def agreement_interval(table: Floats, confidence: float = 0.95) -> Ends | None:
    """The interval of alpha of a table, one row per item and one column per judge.

    None where alpha is undefined, or fewer than three rows have two judges.

    >>> table = np.array([[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15, float)
    >>> ends = agreement_interval(table)
    >>> round(ends.low, 2), round(ends.high, 2)
    (0.04, 0.62)
    """
    check_confidence(confidence)
    shared = table[(~np.isnan(table)).sum(axis=1) >= 2]
    value = krippendorff_alpha(shared).value if len(shared) >= 3 else None
    if value is None:
        return None
    ends = _interval(shared, confidence)
    if value >= 1.0:
        return ends
    lower = [_interval(np.vstack([shared, row]), confidence) for row in _apart(shared)]
    upper = _interval(np.vstack([shared, _agreed(shared)]), confidence)
    lows = [interval.low for interval in (ends, *lower) if interval is not None]
    highs = [interval.high for interval in (ends, upper) if interval is not None]
    if not lows or not highs:
        return None
    return Ends(max(_LEAST, min(*lows, value)), min(1.0, max(*highs, value)))


def _interval(table: Floats, confidence: float) -> Ends | None:
    value = krippendorff_alpha(table).value
    if value is None:
        return None
    whole = 1.0 - value
    n = len(table)
    if whole <= 0.0:
        alpha = krippendorff_alpha(np.vstack([table, _apart(table)[0]])).value
        unseen = 1.0 - (0.5 - 0.5 * confidence) ** (1.0 / n)
        low = None if alpha is None else 1.0 - (1.0 - alpha) * unseen * (n + 1)
        return None if low is None else Ends(max(_LEAST, low), 1.0)
    # Leaving out either of two equal rows gives the same value: one of each is enough.
    _, first, counts = np.unique(
        np.where(np.isnan(table), np.inf, table),
        axis=0,
        return_index=True,
        return_counts=True,
    )
    values = [krippendorff_alpha(np.delete(table, row, axis=0)).value for row in first]
    known = [1.0 - value for value in values if value is not None]
    if len(known) < len(values):
        return None
    without = np.array(known)
    mean = math.fsum((counts * without).tolist()) / n
    spread = math.sqrt((n - 1) / n * math.fsum((counts * (without - mean) ** 2).tolist()))
    margin = round(t_quantile(0.5 + 0.5 * confidence, n - 1), _DIGITS) * spread / whole
    # Beyond e**700 floats overflow, and long before that the end is below every
    # coefficient.
    return Ends(
        1.0 - whole * math.exp(min(margin, 700.0)), 1.0 - whole * math.exp(-margin)
    )


def _apart(table: Floats) -> tuple[Floats, Floats]:
    """Two rows in which judges alternate between the lowest and the highest grade."""
    known = table[~np.isnan(table)]
    row = np.full(table.shape[1], known.min())
    row[1::2] = known.max()
    return row, known.min() + known.max() - row


def _agreed(table: Floats) -> Floats:
    """A row in which all judges give the rarest grade; the lowest one in a tie."""
    grades, counts = np.unique(table[~np.isnan(table)], return_counts=True)
    return np.full(table.shape[1], grades[np.argmin(counts)])
