"""Level and power of the test of paired differences."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.statistics.paired_test import paired_test, paired_tests
from simulations.rates import Rate
from simulations.shapes import RARE, SKEWED, SYMMETRIC, Floats, Shape

NUMBERS = (2, 6, 10, 20, 42, 100, 300, 1000, 6000)
AT_ONCE = 64
"""Rows that share their random subsets."""
Flags = NDArray[np.bool_]


def rejected(values: Floats, alpha: float = 0.05) -> tuple[Flags, Flags]:
    """For each row, whether a mean below zero was shown, and one above (alpha for both)."""
    found = [
        test
        for start in range(0, len(values), AT_ONCE)
        for test in paired_tests(list(values[start : start + AT_ONCE]))
    ]
    shown = [(one.p_below(), one.p_above()) for one in found if one is not None]
    below, above = (np.array(shown) <= alpha / 2.0).T
    return below, above


def rate(shape: Shape, n: int, draws: int, rng: np.random.Generator) -> float:
    found = 0
    for start in range(0, draws, step := max(AT_ONCE, 1_000_000 // n)):
        below, above = rejected(shape.draw(rng, (min(step, draws - start), n)))
        found += int((below | above).sum())
    return found / draws


def level(draws: int, numbers: Sequence[int] = NUMBERS, seed: int = 3) -> Iterator[Rate]:
    """Type I: how often a difference is shown where there is none."""
    for shape in [*SYMMETRIC, *SKEWED, *RARE]:
        for n in numbers:
            some = max(200, min(draws, 200_000 // n))
            found = rate(shape, n, some, np.random.default_rng([seed, n]))
            if shape in RARE:
                # Rare large losses break every paired test; the page says how often.
                yield Rate(shape.name, n, found, some, highest=1.0)
            else:
                yield Rate(shape.name, n, found, some, highest=0.06 if n >= 10 else 1.0)


def power(draws: int, seed: int = 4) -> Iterator[Rate]:
    """How often a true loss of 0.05 or 0.10 is shown."""
    for spread in (0.1, 0.2, 0.3):
        for loss in (0.05, 0.1):
            for n in (20, 50, 100, 200, 500):
                rng = np.random.default_rng([seed, n])
                below, _ = rejected(rng.normal(-loss, spread, (min(draws, 100_000 // n), n)))
                name = f"loss {loss:.2f}, spread {spread:.1f}"
                yield Rate(name, n, float(below.mean()), len(below))


def gated(
    draws: int, numbers: Sequence[int] = (20, 50, 100, 300, 1000), seed: int = 16
) -> Iterator[Rate]:
    """Builds in which a gate shows a loss (one-sided, a single row).

    A query in ten changes by a quarter, by luck; where there is a loss, a fifth lose as much.
    """
    for n in numbers:
        some = max(200, min(draws, 200_000 // n))
        rng = np.random.default_rng([seed, n])
        luck = rng.choice([-0.25, 0.0, 0.25], (some, n), p=[0.05, 0.9, 0.05])
        lost = luck - 0.25 * (rng.random((some, n)) < 0.2)
        for name, values, highest in (
            ("unchanged: fails", luck, 0.06),
            ("a loss of 0.05: fails", lost, math.inf),
        ):
            tests = paired_tests(list(values))
            shown = float(np.mean([one is not None and one.p_below() <= 0.05 for one in tests]))
            yield Rate(name, n, shown, some, highest=highest)


def clustered_level(draws: int, seed: int = 5) -> Iterator[Rate]:
    """Type I with paraphrases: 5 of each intent, whose differences are alike."""
    for clusters in (10, 20, 50):
        rng = np.random.default_rng([seed, clusters])
        as_clusters = as_queries = 0
        for _ in range(draws):
            names = np.repeat(np.arange(clusters), rng.integers(2, 9, clusters))
            values = rng.normal(0, 0.2, clusters)[names] + rng.normal(0, 0.2, len(names))
            as_clusters += paired_test(values, names).p_value() <= 0.05
            as_queries += paired_test(values).p_value() <= 0.05
        column = f"{clusters} intents"
        yield Rate("as clusters", column, as_clusters / draws, draws, highest=0.06)
        yield Rate("as queries", column, as_queries / draws, draws)


def lucky_baseline(draws: int, seed: int = 6) -> Iterator[Rate]:
    """Unchanged builds that fail, on average and with the luckiest tenth of the baselines."""
    n = 50
    hard = np.random.default_rng(seed).beta(4.0, 2.0, n)
    for runs in (1, 3, 5, 20):
        rng = np.random.default_rng([seed, runs])
        luck, failed = np.empty(draws), np.empty(draws)
        for draw in range(draws):
            base = (rng.random((runs, n)) < hard).mean(axis=0)
            builds = (rng.random((100, n)) < hard) * 1.0
            below, _ = rejected(builds - base, alpha=0.1)
            luck[draw], failed[draw] = base.mean(), below.mean()
        luckiest = luck >= np.quantile(luck, 0.9)
        name = f"{runs} run" + ("s" if runs > 1 else "")
        yield Rate(name, "all baselines", float(failed.mean()), draws * 100, highest=0.06)
        yield Rate(name, "the luckiest tenth", float(failed[luckiest].mean()), draws * 10)
