"""Numbers of queries that are planned: whether that many show the difference."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

import calipers
from simulations.differences import rejected
from simulations.rates import Rate
from simulations.results import pair_of
from simulations.shapes import SKEWED, SYMMETRIC, Floats, Shape

SIZES = {"⅓": 1 / 3, "⅔": 2 / 3}
"""Differences, in standard deviations of the shape."""
REFERENCE = 20_000
"""Values that stand for a shape."""
TRIED = 200
Change = Callable[[Floats, float], Floats]
_SHIFTED = ("normal", "skewness 1", "skewness −1", "half ties, skewed")
_TURNED = ("80% ties, ±1", "halves, 60% ties", "70% ties, −½ or +¼", "half ties, skewed")
"""What only takes a few values cannot move by a little: there, other queries gain and lose."""


def shifted(values: Floats, mean: float) -> Floats:
    """What moves, moves further; the share that moves stays."""
    moves = values != 0.0
    return np.where(moves, values + (mean - values.mean()) / moves.mean(), 0.0)


def turned(values: Floats, mean: float) -> Floats:
    """More queries gain and fewer lose, and those that do by as much as before."""
    ways, low, high = np.sign(values), 0.0, 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        weights = np.exp(middle * (ways - 1.0))
        low, high = (low, middle) if weights @ values > mean * weights.sum() else (middle, high)
    levels = (np.arange(len(values)) + 0.5) / len(values)
    order = np.argsort(values)
    return values[order][np.searchsorted(np.cumsum(weights[order]) / weights.sum(), levels)]


def planned(
    draws: int,
    numbers: Sequence[int] = (30, 100, 300),
    sizes: Sequence[str] = tuple(SIZES),
    seed: int = 14,
) -> Iterator[Rate]:
    """How often the number of queries that `plan` gives shows the difference it was asked for."""
    for shape in [*SYMMETRIC, *SKEWED]:
        for name, names, change in (
            ("all that move gain", _SHIFTED, shifted),
            ("more gain, fewer lose", _TURNED, turned),
        ):
            if shape.name in names:
                for size in sizes:
                    yield from _planned(draws, numbers, shape, size, name, change, seed)


def _planned(
    draws: int,
    numbers: Sequence[int],
    shape: Shape,
    size: str,
    name: str,
    change: Change,
    seed: int,
) -> Iterator[Rate]:
    same = np.clip(shape.draw(np.random.default_rng(seed), (REFERENCE,)), -1.0, 1.0)
    mean = SIZES[size] * float(same.std())
    better = change(same, mean)
    for kind, among in (("equal", same), ("differing", better)):
        for pilot in numbers:
            rng = np.random.default_rng([seed, pilot])
            shown = [_shown(among, better, mean, pilot, rng) for _ in range(draws)]
            known = [one for one in shown if one is not None]
            # A pilot gives a share, which varies ten times less than a yes or no.
            yield Rate(
                f"{shape.name}: {name}, {size}",
                f"{pilot}, {kind}",
                float(np.mean(known)),
                10 * len(known),
                0.72,
                1.0,
            )


def _shown(
    among: Floats, better: Floats, mean: float, pilot: int, rng: np.random.Generator
) -> float | None:
    differences = np.clip(rng.choice(among, pilot), -1.0, 1.0)
    if np.count_nonzero(differences) < 2 or not np.ptp(differences):
        return None
    n = calipers.plan(pair_of(differences), difference=mean).queries
    _, above = rejected(rng.choice(better, (TRIED, n)))
    return float(above.mean())
