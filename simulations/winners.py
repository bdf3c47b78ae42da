"""The best of many settings: the gain to expect on new queries, its bias and its interval.

The shapes and seeds were fixed before the first run.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calipers.statistics.winner import winner_gain
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

SETTINGS = 60
Table = tuple[Floats, Floats]
"""A value for each query (rows) and setting (columns), and the true mean of each setting."""
_WEIGHT = np.linspace(0.0, 1.0, SETTINGS)


def _hits(rng: Generator, n: int, rate: Floats) -> Table:
    """Hits and misses; a setting differs from the others on a third of the queries."""
    own = rng.random((n, SETTINGS)) < rate
    shared = rng.random((n, 1)) < 0.6
    differs = rng.random((n, SETTINGS)) < 1 / 3
    return np.where(differs, own, shared) * 1.0, 0.4 + rate / 3


def _alike(rng: Generator, n: int) -> Table:
    return _hits(rng, n, np.full(SETTINGS, 0.6))


def _one_better(rng: Generator, n: int) -> Table:
    return _hits(rng, n, np.where(np.arange(SETTINGS) == 7, 0.85, 0.6))


def _default_is_best(rng: Generator, n: int) -> Table:
    return _hits(rng, n, np.where(np.arange(SETTINGS) == 0, 0.75, 0.55))


def _weights(rng: Generator, n: int, height: float) -> Table:
    """Settings on a line of weights: neighbours give nearly the same value for each query."""
    likes = rng.beta(2, 2, (n, 1))
    value = 0.5 + 0.3 * (0.25 - (_WEIGHT - likes) ** 2) + rng.normal(0, 0.25, (n, 1))
    curve = height * (1 - ((_WEIGHT - 0.7) / 0.7) ** 2)
    value = value + curve + rng.normal(0, 0.02, (n, SETTINGS))
    mean = 0.5 + 0.3 * (0.25 - 0.05 - (_WEIGHT - 0.5) ** 2) + curve
    return value, mean


def _flat_weights(rng: Generator, n: int) -> Table:
    return _weights(rng, n, 0.0)


def _steep_weights(rng: Generator, n: int) -> Table:
    return _weights(rng, n, 0.12)


def _rare_gains(rng: Generator, n: int) -> Table:
    """Settings change few queries, by much: a tenth of the settings help one query in ten."""
    good = np.arange(SETTINGS) % 10 == 3
    up = rng.random((n, SETTINGS)) < np.where(good, 0.1, 0.03)
    down = rng.random((n, SETTINGS)) < 0.03
    return 0.5 + 0.5 * up - 0.5 * down, 0.5 + 0.5 * np.where(good, 0.07, 0.0)


SHAPES: dict[str, Callable[[Generator, int], Table]] = {
    "hits, all alike": _alike,
    "hits, one better": _one_better,
    "hits, the default is best": _default_is_best,
    "weights, flat": _flat_weights,
    "weights, steep": _steep_weights,
    "rare gains": _rare_gains,
}


def gains(draws: int, numbers: Sequence[int] = (30, 100, 300)) -> Iterator[Rate]:
    """How far the expected gain is off on average, and how often its interval holds the true one.

    The true gain is that of the setting that these queries chose. Settings are shuffled, so that a
    tie favours none. Where all queries gain the same there is no interval: then the gain itself has
    to be right. Few queries vary more, and get more draws.
    """
    for name, table in SHAPES.items():
        for n in numbers:
            many = draws * max(1, round(240 / n))
            off, held = np.zeros(many), np.zeros(many, dtype=bool)
            for at in range(many):
                rng = np.random.default_rng([SEED, 71, n, at])
                values, means = table(rng, n)
                order = rng.permutation(SETTINGS)
                default = int(np.flatnonzero(order == 0)[0])
                found = winner_gain(values[:, order], default, seed=at)
                if found is None:
                    continue
                true = float(means[order[found.winner]] - means[0])
                off[at] = found.expected - true
                low, high = found.interval or (found.expected, found.expected)
                held[at] = low - 1e-9 <= true <= high + 1e-9
            yield Rate(f"{name}: bias", n, abs(float(off.mean())), many, highest=0.005)
            yield Rate(f"{name}: coverage", n, float(held.mean()), many, lowest=0.93)
