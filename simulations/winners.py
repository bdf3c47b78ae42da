"""The best of many settings: the gain to expect on new queries, its bias and its interval.

The shapes and seeds were fixed before the first run; the last four when the rule was ready, so that
it could not be made for them. One of these, rare collapses, showed intervals that were too narrow
(0.79 of 30 queries); the lower end was mended for it, and the last shape fixed before the next run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from calipers.questions.fuse.fuser import Fuser, ranks_of
from calipers.questions.fuse.lanes import CandidateBlock
from calipers.questions.fuse.ways import every_way
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


def _slope(rng: Generator, n: int) -> Table:
    """Recall of four targets, by settings that are each a little better than the one before."""
    rate = np.linspace(0.50, 0.62, SETTINGS)
    shared = rng.random((n, 4)) < 0.56
    own = rng.random((n, SETTINGS, 4)) < rate[None, :, None]
    differs = rng.random((n, SETTINGS, 1)) < 0.4
    value = np.where(differs, own, shared[:, None, :]).mean(axis=2)
    return value, 0.6 * 0.56 + 0.4 * rate


def _small_gains_rare_collapses(rng: Generator, n: int) -> Table:
    """A third of the settings gain a little on most queries and lose all on one in thirty."""
    usual = rng.beta(6, 3, (n, 1))
    wavers = rng.normal(0, 0.03, (n, SETTINGS))
    bold = np.arange(SETTINGS) % 3 == 2
    gained = 0.06 * (rng.random((n, SETTINGS)) < 0.7) * bold
    lost = (rng.random((n, 1)) < 1 / 30) & bold
    value = np.where(lost, 0.0, usual + wavers + gained)
    kept = 2 / 3 + 0.06 * 0.7
    return value, np.where(bold, kept * 29 / 30, 2 / 3)


def _dead_for_a_topic(rng: Generator, n: int) -> Table:
    """Half of the settings raise nDCG a little, and find nothing for one topic of forty."""
    usual, dead = rng.beta(3, 2, (n, 1)), rng.random((n, 1)) < 1 / 40
    new = np.arange(SETTINGS) % 2 == 1
    gained = 0.08 * (1 - usual) * rng.random((n, SETTINGS)) * 2 * new
    value = np.where(dead & new, 0.0, usual + rng.normal(0, 0.02, (n, SETTINGS)) + gained)
    return value, np.where(new, (0.6 + 0.08 * 0.4) * 39 / 40, 0.6)


ALL_QUERIES = 4_000
"""Queries that stand for all of their kind."""
RESULTS, DEPTH = 40, 20


@cache
def _fused_lanes(blind: tuple[float, float], lift: tuple[float, float], seed: int) -> Floats:
    """nDCG@10 of every way to fuse two lanes, each blind to some queries."""
    rng = np.random.default_rng([SEED, seed])
    score = rng.normal(0, 1, (2, ALL_QUERIES, RESULTS))
    # The target is the last candidate, so that no tie favours it.
    for lane in (0, 1):
        score[lane, :, -1] += np.where(rng.random(ALL_QUERIES) < blind[lane], -1.0, lift[lane])
    rank = 1 + np.argsort(np.argsort(-score, axis=2), axis=2)
    rank[rank > DEPTH] = 0
    block = CandidateBlock(0, np.ones(rank.shape[1:], dtype=bool), rank, score)
    fuser, row = Fuser(block), np.arange(ALL_QUERIES)
    column = np.full(ALL_QUERIES, RESULTS - 1)
    ways = every_way(2, scored=True)
    at = np.stack([ranks_of(fuser(way), row, column) for way in ways], axis=1)
    value = 1 / np.log2(1 + np.maximum(at, 1))
    return np.where((at > 0) & (at <= 10), value, 0.0)


def _lanes(rng: Generator, n: int) -> Table:
    known = _fused_lanes((0.25, 0.35), (2.0, 1.8), 72)
    return known[rng.integers(0, ALL_QUERIES, n)], known.mean(axis=0)


def _equal_lanes(rng: Generator, n: int) -> Table:
    known = _fused_lanes((0.25, 0.25), (2.0, 2.0), 73)
    return known[rng.integers(0, ALL_QUERIES, n)], known.mean(axis=0)


def _hits_of_equal_lanes(rng: Generator, n: int) -> Table:
    known = (_fused_lanes((0.1, 0.1), (1.5, 1.5), 74) > 0.0) * 1.0
    return known[rng.integers(0, ALL_QUERIES, n)], known.mean(axis=0)


SHAPES: dict[str, Callable[[Generator, int], Table]] = {
    "hits, all alike": _alike,
    "hits, one better": _one_better,
    "hits, the default is best": _default_is_best,
    "weights, flat": _flat_weights,
    "weights, steep": _steep_weights,
    "rare gains": _rare_gains,
    "recall of four, a slope": _slope,
    "two lanes, every way to fuse": _lanes,
    "small gains, rare collapses": _small_gains_rare_collapses,
    "small gains, nothing for a topic": _dead_for_a_topic,
}


EQUAL_LANES: dict[str, Callable[[Generator, int], Table]] = {
    "two equal lanes, nDCG": _equal_lanes,
    "two equal lanes, hits": _hits_of_equal_lanes,
}


def of_equal_lanes(draws: int, numbers: Sequence[int] = (40,)) -> Iterator[Rate]:
    """The same for two lanes that are equally good."""
    yield from gains(draws, numbers, EQUAL_LANES)


def gains(
    draws: int,
    numbers: Sequence[int] = (30, 100, 300),
    shapes: Mapping[str, Callable[[Generator, int], Table]] = SHAPES,
) -> Iterator[Rate]:
    """How far the expected gain is off on average, and how often its interval holds the true one.

    The true gain is that of the setting that these queries chose. Settings are shuffled, so that a
    tie favours none. Where all queries gain the same there is no interval: then the gain itself has
    to be right. Few queries vary more, and get more draws.
    """
    for name, table in shapes.items():
        for n in numbers:
            many = draws * max(1, round(240 / n))
            off, held = np.zeros(many), np.zeros(many, dtype=bool)
            for at in range(many):
                rng = np.random.default_rng([SEED, 71, n, at])
                values, means = table(rng, n)
                order = rng.permutation(values.shape[1])
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
