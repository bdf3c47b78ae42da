"""Intervals and paired tests against the resampling that people write by hand, as ratios."""

from collections.abc import Callable

import numpy as np

from bench.measure import Measured, Row, compared, quickest
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.score_interval import score_interval

QUERIES, METRICS, RESAMPLES = 7_000, 20, 10_000
BY_HAND = 20
"""Resamples of the loop by hand; its time is taken for all of them in proportion."""


def rows(quick: bool = False) -> list[Row]:
    """One row per method: seconds of both, and how many times faster ours is."""
    n = 700 if quick else QUERIES
    values = np.random.default_rng(0).random((n, METRICS)).round(3)
    differences = values - values[::-1]
    size = f"{n:,} queries × {METRICS} metrics × {RESAMPLES:,} resamples"
    by_hand = "numpy loop by hand (in proportion)"
    return [
        compared(
            "statistics: intervals",
            size,
            quickest(lambda: [score_interval(column) for column in values.T], 2),
            by_hand,
            _in_proportion(lambda: _bootstrap(values)),
        ),
        compared(
            "statistics: paired tests",
            size,
            quickest(lambda: paired_rows(list(differences.T)), 2),
            by_hand,
            _in_proportion(lambda: _sign_flips(differences)),
        ),
    ]


def _in_proportion(loop: Callable[[], None]) -> Measured:
    return Measured((quickest(loop, 2).seconds or 0.0) * RESAMPLES / BY_HAND)


def _bootstrap(values: np.ndarray) -> None:
    random = np.random.default_rng(0)
    for column in values.T:
        means = [random.choice(column, column.size).mean() for _ in range(BY_HAND)]
        np.percentile(means, [2.5, 97.5])


def _sign_flips(differences: np.ndarray) -> None:
    random = np.random.default_rng(0)
    for column in differences.T:
        for _ in range(BY_HAND):
            (column * random.choice([-1, 1], column.size)).mean()
