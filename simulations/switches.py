"""May I switch? Coverage at every look, what is called safe, and how many labels it takes.

The shapes and seeds were fixed before the first run; the last three when the rule was ready, so
that it could not be made for them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from calipers.statistics.switching import (
    draw_order,
    level_of,
    looks_of,
    switch_totals,
    verdict_of,
)
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

ALLOW = 0.2
Population = Callable[[Generator, tuple[int, int]], tuple[Floats, Floats]]
"""From draws and queries: how many results differ on each side, and the difference."""


def _sizes(rng: Generator, shape: tuple[int, int], changed: float, most: int = 5) -> Floats:
    """How many results differ: none, or 1 to ``most``."""
    return (rng.random(shape) < changed) * (1 + rng.binomial(most - 1, 0.35, shape))


def _labels(changed: float, old: float, new: float, most: int = 5) -> Population:
    """Each result that differs is relevant with a rate of its side."""

    def drawn(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        size = _sizes(rng, shape, changed, most)
        return size, rng.binomial(size, new) - rng.binomial(size, old)

    return drawn


def _rare(share: float, rest: float = 0.0, size: int = 5) -> Population:
    """Rare queries lose all that they had; the others gain one with a rate, or nothing."""

    def drawn(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        lost = rng.random(shape) < share
        sizes = np.where(lost, size, _sizes(rng, shape, 0.6))
        gained = (rng.random(shape) < rest) & (sizes > 0)
        return sizes, np.where(lost, -size, gained * 1)

    return drawn


def _halves(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Half of what changed gains one or two, the other half loses as many."""
    size = (rng.random(shape) < 0.5) * rng.integers(1, 3, shape)
    return size, size * rng.choice([-1, 1], shape)


def _mixed(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Any difference that the size allows, a little more often a loss."""
    size = _sizes(rng, shape, 0.7)
    return size, np.clip(np.round(size * rng.normal(-0.1, 0.6, shape)), -size, size)


def _small_ones_lose(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Lists that change wholly lose nothing; a tenth of those that change by one lose it."""
    small = rng.random(shape) < 0.5
    size = np.where(small, 1, 5)
    return size, -1 * (small & (rng.random(shape) < 0.1))


def _two_kinds(rng: Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Nine of ten may lose one result of one or two; the others change wholly and gain."""
    other = rng.random(shape) < 0.1
    size = np.where(other, 5, rng.integers(1, 3, shape))
    return size, np.where(other, rng.integers(1, 4, shape), -1 * (rng.random(shape) < 0.3))


SHAPES: dict[str, Population] = {
    "labels alike, half changed": _labels(0.5, 0.3, 0.3),
    "labels alike, few relevant": _labels(0.6, 0.04, 0.04),
    "one-sided: only gains": _labels(0.5, 0.0, 0.4),
    "one-sided: only losses": _labels(0.5, 0.4, 0.0),
    "one-sided: rare small losses": _labels(0.5, 0.03, 0.0),
    "few changed": _labels(0.08, 0.5, 0.3),
    "all of ten changed": _labels(1.0, 0.2, 0.25, 10),
    "halves": _halves,
    "mixed": _mixed,
    "1% collapse": _rare(0.01),
    "3% collapse": _rare(0.03),
    "8% collapse": _rare(0.08),
    "3% collapse, a third gains": _rare(0.03, 0.33),
    "5% lose two, half gains": _rare(0.05, 0.5, 2),
    "small changes lose": _small_ones_lose,
    "one-sided: one result changed, a tenth lost": _labels(0.4, 0.1, 0.0, 1),
    "2% lose all ten, a fifth gains": _rare(0.02, 0.2, 10),
    "many lose one, few gain more": _two_kinds,
}
NUMBERS = (30, 60, 150, 400, 2000)


def _population(name: str, n: int, draws: int) -> tuple[Floats, Floats]:
    """The differences and sizes of all queries, in drawn order, for each draw."""
    rng = np.random.default_rng([SEED, 61, n])
    size, difference = SHAPES[name](rng, (draws, n))
    order = draw_order(size, rng)
    return (
        np.take_along_axis(np.asarray(difference, dtype=np.float64), order, -1),
        np.take_along_axis(np.asarray(size, dtype=np.float64), order, -1),
    )


def _looks(
    difference: Floats, size: Floats
) -> Iterator[tuple[int, Floats, Floats, Floats, Floats]]:
    """For each number of changed queries and look: which draws, the look, and the interval."""
    n = size.shape[1]
    changed = (size > 0).sum(axis=1)
    for many in np.unique(changed[changed > 0]):
        rows = np.flatnonzero(changed == many)
        level = level_of(int(many))
        for look in looks_of(int(many)):
            found = switch_totals(difference[rows, :look], size[rows, :many], level)
            yield look, rows, found.low / n, found.high / n, size[rows, :look].sum(axis=1)


def coverage(draws: int, numbers: tuple[int, ...] = NUMBERS) -> Iterator[Rate]:
    """How often the intervals of all looks hold the difference; and that of where one stops."""
    for name in SHAPES:
        for n in numbers:
            difference, size = _population(name, n, draws)
            truth = difference.sum(axis=1) / n
            held, stopped = np.ones(draws, dtype=bool), np.zeros(draws, dtype=bool)
            wrong = np.zeros(draws, dtype=bool)
            labels = np.zeros(draws)
            for _, rows, low, high, used in _looks(difference, size):
                true = truth[rows]
                held[rows] &= (low <= true + 1e-9) & (true <= high + 1e-9)
                said = [verdict_of(a, b, ALLOW) for a, b in zip(low, high, strict=True)]
                now = (np.array(said) != "open") & ~stopped[rows]
                bad = [
                    (one == "safe" and at < -ALLOW - 1e-9) or (one == "loss" and at >= 0)
                    for one, at in zip(said, true.tolist(), strict=True)
                ]
                wrong[rows] |= now & np.array(bad)
                labels[rows] = np.where(stopped[rows], labels[rows], used)
                stopped[rows] |= now
            share = float((labels / np.maximum(size.sum(axis=1), 1)).mean())
            yield Rate(f"{name}: every look", n, float(held.mean()), draws, lowest=0.93)
            yield Rate(f"{name}: a wrong verdict", n, float(wrong.mean()), draws, highest=0.05)
            yield Rate(f"{name}: labels, of all", n, share, draws)
