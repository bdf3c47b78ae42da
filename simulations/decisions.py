"""The k that is advised, and marks on slices."""

from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from calipers.statistics.largest_share import largest_mean
from simulations.rates import Rate
from simulations.results import found_at, result
from simulations.shapes import Draw, choice

MARGIN = 0.05
# Losses of recall whose true mean is just above the margin: to advise that k is an error.
LOSSES: dict[str, Draw] = {
    "whole targets": choice([1, 0], [0.051, 0.949]),
    "halves": choice([0.5, 0], [0.102, 0.898]),
    "thirds": choice([1 / 3, 0], [0.153, 0.847]),
    "quarters to wholes": choice([0.25, 0.5, 1, 0], [0.068, 0.034, 0.017, 0.881]),
    "the same everywhere": choice([0.051], [1.0]),
    "many small (beta)": lambda rng, size: rng.beta(0.102, 1.898, size),
    "even where any": lambda rng, size: np.where(rng.random(size) < 0.102, rng.random(size), 0.0),
    "few large, many small": choice([1, 0.0217], [0.03, 0.97]),
}


def too_small_k(draws: int, numbers: Sequence[int], seed: int = 7) -> Iterator[Rate]:
    """How often a k is called safe that loses more than the margin."""
    for name, draw in LOSSES.items():
        for n in numbers:
            some = max(100, min(draws, 300_000 // n))
            rng = np.random.default_rng([seed, n])
            # What `sweep` and `diagnose` ask of each smaller k; a test holds them to that.
            wrong = sum(largest_mean(draw(rng, (n,))) <= MARGIN for _ in range(some))
            yield Rate(name, n, wrong / some, some, highest=0.05)


def advised(draws: int, seed: int = 8) -> Iterator[Rate]:
    """The k that `sweep` calls safe on average, for a target that stands at a random rank.

    A share of 0.02 of the targets is found at no rank; k = 12 is the smallest within the margin.
    """
    for n in (30, 60, 100, 300, 1000, 6000):
        some = max(5, min(draws, 40_000 // n))
        rng = np.random.default_rng([seed, n])
        found = []
        for _ in range(some):
            ranks = np.where(rng.random(n) < 0.02, 99, rng.geometric(0.22, n))
            swept = calipers.sweep(found_at(ranks, 20), metrics="recall", margin=MARGIN)
            found += [] if swept.recall is None else [swept.recall.safe_k]
        true = _true_k(range(1, 21))
        yield Rate("safe k, mean", n, float(np.mean(found)), some)
        yield Rate("smallest k within the margin", n, float(true), some)
        too_small = float(np.mean([k < true for k in found]))
        yield Rate("share called safe below it", n, too_small, some, highest=0.05)


def _true_k(ks: Sequence[int]) -> int:
    recall = {k: 0.98 * (1.0 - 0.78**k) for k in ks}
    return min(k for k in ks if recall[ks[-1]] - recall[k] <= MARGIN)


# Six shapes of scores with a mean of 0.7.
SCORES: list[Draw] = [
    choice([1, 0], [0.7, 0.3]),
    choice([1, 0.25], [0.6, 0.4]),
    choice([0.875, 0], [0.8, 0.2]),
    choice([1 / 3, 2 / 3, 1], [0.25, 0.4, 0.35]),
    lambda rng, size: rng.beta(1.4, 0.6, size),
    lambda rng, size: rng.beta(70, 30, size),
]
SIZES = {
    "5 to 120": (5, 8, 10, 15, 20, 30, 40, 50, 80, 120),
    "3 to 300": (3, 3, 4, 4, 5, 5, 6, 6, 300, 300),
    "30 each": (30,) * 10,
    "100 each": (100,) * 10,
}


def false_marks(draws: int, seed: int = 9) -> Iterator[Rate]:
    """Tables of `slices`: ten of one distribution each; how many carry any mark."""
    for name, sizes in SIZES.items():
        rng = np.random.default_rng([seed, sum(sizes)])
        parts = np.repeat(np.arange(len(sizes)), sizes)
        marked = 0
        for _ in range(draws):
            values = SCORES[rng.integers(len(SCORES))](rng, (len(parts),))
            found = calipers.slices(result(values, {"part": parts.tolist()}), "part")
            marked += any(row.standing in ("above", "below") for row in found.rows)
        yield Rate(name, "10 slices", marked / draws, draws, highest=0.06)
