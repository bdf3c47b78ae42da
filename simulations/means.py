"""Coverage of the interval of a mean."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.statistics.score_interval import score_ends, score_interval
from simulations.rates import Rate
from simulations.shapes import VALUES, Floats, Shape

NUMBERS = (2, 3, 5, 7, 10, 15, 20, 30, 42, 50, 100, 500, 1000, 6000)


def coverage(draws: int, numbers: Sequence[int] = NUMBERS, seed: int = 1) -> Iterator[Rate]:
    """How often the interval holds the true mean."""
    for shape in VALUES:
        for n in numbers:
            # As many as fit: what is near certain for large n needs no more.
            some = max(500, min(draws, 20_000_000 // n))
            held = covered(shape, n, some, np.random.default_rng([seed, n]))
            highest = 0.98 if n >= 50 and not shape.share else 1.0
            yield Rate(shape.name, n, held, some, 0.93, highest)


def covered(shape: Shape, n: int, draws: int, rng: np.random.Generator) -> float:
    inside = 0
    for start in range(0, draws, step := max(1, 2_000_000 // n)):
        values = shape.draw(rng, (min(step, draws - start), n))
        low, high = score_ends(*moments(values), n, 0.95)
        inside += int(((low <= shape.mean + 1e-12) & (high >= shape.mean - 1e-12)).sum())
    return inside / draws


def moments(values: Floats) -> tuple[Floats, Floats]:
    """Means and variances of rows; of equal values the variance is 0, not nearly."""
    variance = values.var(axis=1, ddof=1)
    variance[np.ptp(values, axis=1) == 0.0] = 0.0
    return values.mean(axis=1), variance


def intents(rng: np.random.Generator, clusters: int, *, even: bool) -> tuple[Floats, Floats]:
    """Paraphrases of intents: each intent has a rate of its own, drawn from beta(2, 1)."""
    sizes = np.full(clusters, 5) if even else rng.integers(1, 10, clusters)
    names = np.repeat(np.arange(clusters), sizes)
    rates = rng.beta(2.0, 1.0, clusters)[names]
    return (rng.random(len(names)) < rates) * 1.0, names.astype(np.float64)


def clustered(draws: int, seed: int = 2) -> Iterator[Rate]:
    """Coverage with paraphrases of one intent as one unit, and as if they were many."""
    for even in (True, False):
        for clusters in (5, 10, 20, 50, 100):
            rng = np.random.default_rng([seed, clusters])
            with_names = without = 0
            for _ in range(draws):
                values, names = intents(rng, clusters, even=even)
                ends = score_interval(values, clusters=names)
                plain = score_interval(values)
                with_names += ends.low <= 2 / 3 <= ends.high
                without += plain.low <= 2 / 3 <= plain.high
            label = "5 of each" if even else "1 to 9 of each"
            yield Rate(
                f"{label}, as clusters", f"{clusters} intents", with_names / draws, draws, 0.93, 1.0
            )
            yield Rate(f"{label}, as queries", f"{clusters} intents", without / draws, draws)
