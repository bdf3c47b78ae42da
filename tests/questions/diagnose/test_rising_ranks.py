"""The first ranks in reverse order are told apart from targets that are only ranked late."""

import numpy as np
import pytest

from calipers.questions.diagnose.rising_ranks import rise_and_end

DRAWS = 100
FOUND = 60
"""Targets that forty queries find."""


def at_ranks(rank: np.ndarray) -> np.ndarray:
    """How many targets stand at each rank from 0 on."""
    return np.bincount(rank, minlength=60)


def share(draw, depth: int) -> float:
    """How often ranks that are drawn are taken for the first ones in reverse order."""
    rng = np.random.default_rng([depth, 5502])
    return sum(rise_and_end(at_ranks(draw(rng)), depth) for _ in range(DRAWS)) / DRAWS


def good(rng, scale: float) -> np.ndarray:
    ranks: np.ndarray = 1 + np.minimum(rng.exponential(scale, FOUND).astype(int), 40)
    return ranks


@pytest.mark.parametrize(
    ("depth", "scale", "least"), [(10, 1.5, 0.95), (10, 3.0, 0.95), (5, 1.5, 0.9), (20, 4.0, 0.95)]
)
def test_first_ranks_that_were_turned_round_are_seen(depth: int, scale: float, least: float):
    def turned(rng) -> np.ndarray:
        rank = good(rng, scale)
        return np.where(rank <= depth, depth + 1 - rank, rank)

    assert share(turned, depth) >= least


LATE = {
    "good order": lambda rng, depth: good(rng, 2.5),
    "any order": lambda rng, depth: rng.integers(1, 31, FOUND),
    "any order of the first": lambda rng, depth: rng.integers(1, depth + 1, FOUND),
    "from some rank on": lambda rng, depth: rng.integers(depth // 2, depth + 1, FOUND),
    "around the last": lambda rng, depth: 1 + rng.gamma(4, depth / 4, FOUND).astype(int),
    "from the last on": lambda rng, depth: depth - 1 + good(rng, 0.5),
    "behind": lambda rng, depth: depth + good(rng, 2.0),
}


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("depth", [5, 10, 20])
def test_targets_that_are_ranked_late_are_no_reverse_order(name: str, depth: int):
    assert share(lambda rng: LATE[name](rng, depth), depth) <= 0.05
