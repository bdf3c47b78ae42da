"""Confidence intervals of agreement: what the coefficient would be without each thing in turn.

The jackknife works on the logarithm of 1 - coefficient, the disagreement over that of chance,
which keeps the interval at or below 1 and its coverage near the level (docs/statistics.md).
Where all agree there is no disagreement to take away; then the interval reaches down to where it
would if one more thing had been judged, and its judges had been as far apart as can be.
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
        with_one_more = _interval(_one_more(shared), coefficient, confidence)
        return None if with_one_more is None else Ends(with_one_more.low, 1.0)
    return _interval(shared, coefficient, confidence)


def _interval(table: Floats, coefficient: Coefficient, confidence: float) -> Ends | None:
    # Things that were judged alike leave the same gap: one of each kind is enough.
    kinds, first, counts = np.unique(
        np.where(np.isnan(table), np.inf, table), axis=0, return_index=True, return_counts=True
    )
    n = len(table)
    whole = _distance(coefficient(table))
    without = [_distance(coefficient(np.delete(table, row, axis=0))) for row in first]
    if whole is None or any(one is None for one in without) or len(kinds) < 2:
        return None
    values = np.array(without, dtype=np.float64)
    mean = math.fsum((counts * values).tolist()) / n
    spread = (n - 1) / n * math.fsum((counts * (values - mean) ** 2).tolist())
    margin = round(t_quantile(0.5 + 0.5 * confidence, n - 1), _DIGITS) * math.sqrt(spread)
    return Ends(-math.expm1(whole + margin), -math.expm1(whole - margin))


def _distance(value: float | None) -> float | None:
    """log(1 - coefficient); a last bit of disagreement stands in where there is none."""
    return None if value is None else math.log(max(1.0 - value, 1e-6))


def _one_more(table: Floats) -> Floats:
    known = table[~np.isnan(table)]
    row = np.full(table.shape[1], np.nan)
    row[0], row[1] = known.min(), known.max()
    return np.vstack([table, row])
