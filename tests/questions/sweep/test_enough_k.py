"""The smallest k that is within the margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.questions.sweep.rule import advise_recall
from calipers.statistics.bounded_mean import largest_mean


@given(st.integers(1, 300), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.1, 0.3]))
def test_the_walk_ends_where_the_bound_first_exceeds_the_margin(n, seed, margin):
    rng = np.random.default_rng(seed)
    rank = rng.geometric(rng.uniform(0.1, 0.9), n)
    ks = [1, 2, 3, 5, 8, 13, 20]
    recall = (rank[:, None] <= np.array(ks)) * 1.0
    found = advise_recall(ks, recall, margin)
    bounds = [largest_mean(recall[:, -1] - recall[:, at]) for at in range(len(ks) - 1)]
    at = len(ks) - 1
    while at and bounds[at - 1] <= margin:
        at -= 1
    assert found.safe_k == ks[at]
    assert found.safe_recall == pytest.approx(recall[:, at].mean())
    assert found.safe_bound == (bounds[at] if at < len(ks) - 1 else 0.0)
    losses = recall[:, -1:].mean() - recall.mean(axis=0)
    little = next(i for i, loss in enumerate(losses) if loss <= margin / 2 + 1e-12)
    assert found.best_guess == min(ks[at], ks[little])
    guess = ks.index(found.best_guess)
    assert found.best_guess_recall == pytest.approx(recall[:, guess].mean())
    assert found.best_guess_bound == (bounds[guess] if guess < len(ks) - 1 else 0.0)
    assert found.below == (ks[ks.index(found.best_guess) - 1] if found.best_guess > 1 else None)
    assert (found.more is None) or found.best_guess < found.safe_k


def test_a_loss_near_the_margin_is_no_guess():
    recall = np.column_stack([np.repeat([0.0, 1.0], [2, 48]), np.ones(50)])
    assert advise_recall([5, 10], recall).best_guess == 10
    assert advise_recall([5, 10], np.tile(recall, (40, 1))).best_guess == 5


def test_more_queries_like_these_do_support_it():
    recall = np.column_stack([np.repeat([0.0, 1.0], [1, 39]), np.ones(40)])
    found = advise_recall([5, 10], recall)
    assert (found.best_guess, found.safe_k) == (5, 10)
    times = (40 + found.more) / 40
    assert largest_mean(1 - recall[:, 0], 0.95, times) <= 0.05
    assert largest_mean(1 - recall[:, 0], 0.95, times * 0.95) > 0.05


def test_a_cluster_loses_as_one():
    names = np.repeat(np.arange(30), 5)
    recall = np.ones((150, 2))
    assert advise_recall([5, 10], recall).safe_k == 5
    assert advise_recall([5, 10], recall, clusters=names).safe_k == 10


def test_undefined_queries_and_bad_input():
    assert advise_recall([1, 2], [[np.nan, 1.0]]) is None
    with pytest.raises(InvalidInput, match="one column for each of 3 k"):
        advise_recall([1, 2, 3], [[1.0, 1.0]])
    with pytest.raises(InvalidInput, match="margin"):
        advise_recall([1, 2], [[1.0, 1.0]], margin=0.0)
