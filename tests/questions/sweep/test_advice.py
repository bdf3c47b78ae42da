from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.recall_advice import advise_recall, fewest_without_loss, usual_cutoffs
from calipers.questions.shown_results import ceilings
from calipers.statistics.bounded_mean import largest_mean


def advise(table, **settings):
    return advise_recall(list(range(1, table.shape[1] + 1)), table, **settings)


@given(st.integers(1, 5000))
def test_cutoffs_rise_from_1_to_the_depth_and_leave_none_out_below_100(depth):
    ks = usual_cutoffs(depth)
    assert ks == sorted(set(ks))
    assert (ks[0], ks[-1]) == (1, depth)
    assert ks[: min(depth, 100)] == list(range(1, min(depth, 100) + 1))
    assert all(later <= 1.22 * earlier for earlier, later in pairwise(ks[99:]))


def test_five_queries_make_no_smaller_k_safe():
    # Found at ranks 2 to 10, and once "k = 1" was the advice.
    found_at = np.array([2, 4, 6, 8, 10])
    table = (found_at[:, np.newaxis] <= np.arange(1, 21)).astype(float)
    advice = advise(table)
    assert (advice.safe_k, advice.best_guess, advice.fewest) == (20, 10, 59)
    assert advice.says == (
        "Use k = 10: it finds 100%, as much as k = 20. Not settled by 5 queries: k = 10 may lose "
        "up to 0.451; k = 20 is the safe choice. To rule out a loss of 0.05 takes at "
        "least 59 queries."
    )


def test_nothing_gained_makes_the_smallest_k_safe_where_the_queries_are_enough():
    advice = advise(np.ones((59, 4)))
    assert (advice.safe_k, advice.best_guess, advice.below) == (1, 1, None)
    assert advice.claim.line == "Use k = 1: it finds 100%, as much as k = 4."
    assert advice.claim.range.endswith("within the 0.05 allowed.")
    assert (advise(np.ones((58, 4))).safe_k, advise(np.ones((58, 4))).best_guess) == (4, 1)


def test_nothing_found_is_no_reason_for_a_small_k():
    assert advise(np.zeros((80, 3))).says == (
        "Nothing is found up to k = 3: no k can be chosen by recall."
    )


@given(st.integers(0, 500), st.integers(1, 90))
def test_staying_is_never_an_advice(seed, n):
    random = np.random.Generator(np.random.PCG64(seed))
    found_at = random.geometric(random.uniform(0.1, 1.0), n)
    advice = advise((found_at[:, np.newaxis] <= np.arange(1, 9)).astype(float))
    assert "tay" not in advice.says
    assert f"k = {advice.safe_k}" in advice.says or not advice.largest_recall


def test_undefined_queries_are_left_out_and_without_any_there_is_no_advice():
    table = np.ones((6, 2))
    table[0, 0] = np.nan
    assert advise(table).n == 5
    assert advise(np.full((4, 2), np.nan)) is None
    with pytest.raises(InvalidInput, match="one column for each of 3 k"):
        advise_recall([1, 2, 3], [[1.0, 1.0]])
    with pytest.raises(InvalidInput, match="margin"):
        advise_recall([1, 2], [[1.0, 1.0]], margin=0.0)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=10), st.integers(1, 12))
def test_ceilings_are_those_of_a_perfect_ranking(targets, k):
    recall, precision = ceilings(np.array(targets), k)
    assert recall == pytest.approx(sum(min(n, k) / n for n in targets) / len(targets))
    assert precision == pytest.approx(sum(min(n, k) / k for n in targets) / len(targets))


@pytest.mark.parametrize(("large", "p95"), [(1, 20), (2, 1000)])
def test_the_tokens_that_95_in_100_queries_do_not_exceed(large, p95):
    """Of 20 queries one may have too many."""
    records = [
        {
            "query": f"q{i}",
            "retrieved": [{"id": name, "tokens": 500 if i < large else 10} for name in "ab"],
            "ground_truth": ["a"],
        }
        for i in range(20)
    ]
    assert calipers.sweep(records).points[-1].tokens.p95 == p95


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
    assert (found.takes is None) or found.best_guess < found.safe_k


def test_a_loss_near_the_margin_is_no_guess():
    recall = np.column_stack([np.repeat([0.0, 1.0], [2, 48]), np.ones(50)])
    assert advise_recall([5, 10], recall).best_guess == 10
    assert advise_recall([5, 10], np.tile(recall, (40, 1))).best_guess == 5


@pytest.mark.parametrize(("margin", "confidence"), [(0.05, 0.95), (0.1, 0.9), (0.02, 0.99)])
def test_fewer_queries_make_no_smaller_k_safe_whatever_they_find(margin, confidence):
    fewest = fewest_without_loss(margin, confidence)
    sets = [np.ones((n, 2)) for n in (fewest, fewest - 1)]
    found = [advise_recall([5, 10], recall, margin, confidence).safe_k for recall in sets]
    assert found == [5, 10]


def test_what_a_loss_takes_is_said_where_enough_queries_lost_something():
    recall = np.column_stack([np.repeat([0.0, 1.0], [5, 195]), np.ones(200)])
    found = advise_recall([5, 10], recall)
    assert (found.best_guess, found.safe_k) == (5, 10)
    assert (found.takes.low, found.takes.high) == (150, 200)
    assert found.claim.next is None, "200 are there"
    halves = np.column_stack([np.repeat([0.0, 0.5, 1.0], [1, 5, 134]), np.ones(140)])
    some = advise_recall([5, 10], halves)
    assert some.claim.next == some.takes.sentence
    assert some.takes.low < 140 < some.takes.high
    four = np.column_stack([np.repeat([0.0, 1.0], [4, 156]), np.ones(160)])
    silent = advise_recall([5, 10], four)
    assert (silent.best_guess, silent.safe_k) == (5, 10)
    assert (silent.takes, silent.claim.next) == (None, None)


def test_a_cluster_loses_as_one():
    names = np.repeat(np.arange(30), 5)
    recall = np.ones((150, 2))
    assert advise_recall([5, 10], recall).safe_k == 5
    assert advise_recall([5, 10], recall, clusters=names).safe_k == 10
