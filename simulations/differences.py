"""Level and power of the test of paired differences."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.statistics.paired_test import paired_tests
from calipers.statistics.score_interval import t_quantile
from simulations.held_out import (
    CHANGED,
    EFFECTS,
    MILDLY_SKEWED,
    RARE_CHANGES,
    SEED,
    STRONGLY_SKEWED,
    SYMMETRIC_DIFFERENCES,
)
from simulations.rates import Rate
from simulations.shapes import Draw, Floats

NUMBERS = (10, 20, 50, 200)
ALPHA = 0.05
FEW = 10
"""With fewer queries that change, a t test shows more than any test by signs can."""
AT_ONCE = 48
"""Rows that share their random subsets, and are in memory together."""
KNOWN = {
    *(shape.name for shape in STRONGLY_SKEWED),
    # Moved to a mean of 0, what was a tie is a small change, the same in very many queries.
    "real: claims, hybrid and bm25, centred",
    "real: demo, hybrid and dense, centred",
}
"""Shapes with rare large changes one way, and many small ones the other way."""
Flags = NDArray[np.bool_]


def rejected(values: Floats, alpha: float) -> tuple[Flags, Flags]:
    """For each row, whether a mean below zero was shown, and one above (alpha for both)."""
    shown = [
        (one.p_below(), one.p_above())
        for start in range(0, len(values), AT_ONCE)
        for one in paired_tests(list(values[start : start + AT_ONCE]))
        if one is not None
    ]
    below, above = (np.array(shown) <= alpha / 2.0).T
    return below, above


def some_of(draws: int, n: int) -> int:
    """Fewer where each costs more."""
    return draws * 3 if n <= 16 else draws if n <= 100 else max(1, draws * 2 // 5)


def level(draws: int, numbers: Sequence[int] = NUMBERS) -> Iterator[Rate]:
    """Type I: how often a difference is shown where there is none, beside the t test."""
    for shape in (*SYMMETRIC_DIFFERENCES, *MILDLY_SKEWED, *STRONGLY_SKEWED):
        for n in numbers:
            some = some_of(draws, n)
            values = shape.draw(np.random.default_rng([SEED, 2, n]), (some, n))
            below, above = rejected(values, ALPHA)
            found = float((below | above).mean())
            yield Rate(shape.name, n, found, some, highest=0.06, known=shape.name in KNOWN)
            yield Rate(shape.name, f"t, {n}", _by_t(values), some)


def few_changes(draws: int, n: int = 30) -> Iterator[Rate]:
    """Type I where few hits change: on average, and by how many did."""
    rng = np.random.default_rng([SEED, 21, n])
    kinds = {name: draw(rng, (draws, n)) for name, draw in RARE_CHANGES.items()}
    for changed in CHANGED:
        values = np.zeros((draws, n))
        values[:, :changed] = rng.choice([-1.0, 1.0], (draws, changed))
        kinds[f"{changed} of {n} hits change"] = values
    for name, values in kinds.items():
        below, above = rejected(values, ALPHA)
        yield Rate(name, "signs", float((below | above).mean()), draws, highest=0.06)
        yield Rate(name, "t test", _by_t(values), draws)


def power(draws: int, numbers: Sequence[int] = (12, 30, 80)) -> Iterator[Rate]:
    """How often a true gain is shown, beside the t test on the same samples."""
    for name, draw in EFFECTS.items():
        for n in numbers:
            values = _drawn(draw, n, some_of(draws, n))
            _, above = rejected(values, ALPHA)
            rival = float(t_shows(values).mean())
            # Of few queries only some change, and few signs give few p-values.
            few = bool(n * np.mean(values != 0.0) < FEW)
            yield Rate(name, n, float(above.mean()), len(values), lowest=rival - 0.05, known=few)
            yield Rate(name, f"t, {n}", rival, len(values))


def _drawn(draw: Draw, n: int, draws: int) -> Floats:
    return draw(np.random.default_rng([SEED, 3, n]), (draws, n))


def _by_t(values: Floats) -> float:
    """How often a t test shows a mean above or below zero."""
    return float((t_shows(values) | t_shows(-values)).mean())


def t_shows(values: Floats) -> Flags:
    """Rows of which a two-sided t test shows a mean above zero; equal values show none."""
    n = values.shape[1]
    spread = values.std(axis=1, ddof=1)
    shows: Flags = (spread > 0) & (
        values.mean(axis=1) * np.sqrt(n) > t_quantile(0.975, n - 1) * spread
    )
    return shows
