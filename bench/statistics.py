"""Intervals and paired tests against the resampling that people write by hand, as ratios."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from calipers.statistics.paired_test import paired_tests
from calipers.statistics.score_interval import score_interval

QUERIES, METRICS, RESAMPLES = 7_000, 20, 10_000
BY_HAND = 20
"""Resamples of the loop by hand; its time is taken for all of them in proportion."""


def rows(quick: bool = False) -> list[dict[str, Any]]:
    """One row per method: seconds of both, and how many times faster ours is."""
    n = 700 if quick else QUERIES
    values = np.random.default_rng(0).random((n, METRICS)).round(3)
    differences = values - values[::-1]
    size = f"{n:,} queries × {METRICS} metrics × {RESAMPLES:,} resamples"
    ours = {
        "intervals": lambda: [score_interval(column) for column in values.T],
        "paired tests": lambda: paired_tests(list(differences.T)),
    }
    theirs = {
        "intervals": lambda: _bootstrap_by_hand(values),
        "paired tests": lambda: _sign_flips_by_hand(differences),
    }
    found = []
    for name, work in ours.items():
        seconds = _timed(work)
        by_hand = _timed(theirs[name]) * RESAMPLES / BY_HAND
        found.append(
            {
                "row": f"statistics: {name}",
                "input": size,
                "peer": "numpy loop by hand (in proportion)",
                "ours_seconds": seconds,
                "peer_seconds": by_hand,
                "ratio": by_hand / seconds,
            }
        )
    return found


def _bootstrap_by_hand(values: np.ndarray) -> None:
    random = np.random.default_rng(0)
    for column in values.T:
        means = [random.choice(column, column.size).mean() for _ in range(BY_HAND)]
        np.percentile(means, [2.5, 97.5])


def _sign_flips_by_hand(differences: np.ndarray) -> None:
    random = np.random.default_rng(0)
    for column in differences.T:
        for _ in range(BY_HAND):
            (column * random.choice([-1, 1], column.size)).mean()


def _timed(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(2):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best
