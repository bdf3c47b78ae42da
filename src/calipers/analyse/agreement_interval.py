"""Confidence intervals of agreement: what the coefficient would be without each thing in turn.

What varies is 1 - coefficient, the disagreement over that of chance. The jackknife gives its
standard error, and the interval is made on its logarithm, which keeps it at or below 1. Where all
agree there is no disagreement to vary. Then, as for a share of which none was seen, up to
1 - (alpha / 2)**(1 / n) of all things may find their judges as far apart as can be.
"""

import math
from collections.abc import Callable

import numpy as np

from calipers.analyse.distributions import t_quantile
from calipers.analyse.score_interval import Ends, check_confidence
from calipers.model.arrays import Floats

Coefficient = Callable[[Floats], float | None]
_DIGITS = 10


def agreement_interval(
    table: Floats, coefficient: Coefficient, confidence: float = 0.95
) -> Ends | None:
    """The interval of a coefficient of a table, one row per thing and one column per judge.

    None where the coefficient has no value, or loses it without one of the rows, and below
    three rows that two judges share.

    >>> from calipers.analyse.agreement import cohen_kappa
    >>> table = np.array([[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15, float)
    >>> ends = agreement_interval(table, lambda some: cohen_kappa(some).value)
    >>> round(ends.low, 2), round(ends.high, 2)
    (0.07, 0.61)
    """
    check_confidence(confidence)
    shared = table[(~np.isnan(table)).sum(axis=1) >= 2]
    value = coefficient(shared) if len(shared) >= 3 else None
    if value is None:
        return None
    if value >= 1.0:
        one = coefficient(_one_more(shared))
        unseen = 1.0 - (0.5 - 0.5 * confidence) ** (1.0 / len(shared))
        return None if one is None else _ends((1.0 - one) * unseen * (len(shared) + 1), 0.0)
    return _interval(shared, 1.0 - value, coefficient, confidence)


def _interval(
    table: Floats, whole: float, coefficient: Coefficient, confidence: float
) -> Ends | None:
    # Things that were judged alike leave the same gap: one of each kind is enough.
    _, first, counts = np.unique(
        np.where(np.isnan(table), np.inf, table), axis=0, return_index=True, return_counts=True
    )
    n = len(table)
    values = [coefficient(np.delete(table, row, axis=0)) for row in first]
    known = [1.0 - value for value in values if value is not None]
    if len(known) < len(values):
        return None
    without = np.array(known)
    mean = math.fsum((counts * without).tolist()) / n
    spread = math.sqrt((n - 1) / n * math.fsum((counts * (without - mean) ** 2).tolist()))
    margin = round(t_quantile(0.5 + 0.5 * confidence, n - 1), _DIGITS) * spread / whole
    return _ends(whole * math.exp(margin), whole * math.exp(-margin))


def _ends(most: float, least: float) -> Ends:
    """From the largest and smallest disagreement; twice that of chance is the most there can be."""
    return Ends(1.0 - min(most, 2.0), 1.0 - least)


def _one_more(table: Floats) -> Floats:
    known = table[~np.isnan(table)]
    row = np.full(table.shape[1], np.nan)
    row[0], row[1] = known.min(), known.max()
    return np.vstack([table, row])
