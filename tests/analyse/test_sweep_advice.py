from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.analyse.paired import randomisation_test
from calipers.analyse.sweep import (
    advise_recall,
    ceilings,
    token_use,
    usual_cutoffs,
)


def advise(table, **settings):
    chosen = {"level": 0.95, "resamples": 500, "seed": 0, **settings}
    return advise_recall(list(range(1, table.shape[1] + 1)), table, **chosen)


@given(st.integers(1, 5000))
def test_cutoffs_rise_from_1_to_the_depth_and_leave_none_out_below_100(depth):
    ks = usual_cutoffs(depth)
    assert ks == sorted(set(ks))
    assert (ks[0], ks[-1]) == (1, depth)
    assert ks[: min(depth, 100)] == list(range(1, min(depth, 100) + 1))
    assert all(later <= 1.22 * earlier for earlier, later in pairwise(ks[99:]))


@given(st.integers(0, 1000))
def test_the_advised_k_is_the_smallest_that_is_not_significantly_lower(seed):
    random = np.random.Generator(np.random.PCG64(seed))
    found_at = random.integers(1, 9, 25)  # beyond 6: never found
    table = (found_at[:, np.newaxis] <= np.arange(1, 7)).astype(float)
    advice = advise(table)
    p = [randomisation_test(table[:, i] - table[:, -1], 500) for i in range(6)]
    assert all(one <= 0.05 for one in p[: advice.k - 1])
    assert p[advice.k - 1] > 0.05
    assert advice.recall == pytest.approx(table[:, advice.k - 1].mean())
    assert advice.difference == pytest.approx(advice.recall - advice.largest_recall)


def test_a_real_loss_makes_the_largest_k_the_advice():
    table = np.column_stack([np.zeros(30), np.zeros(30), np.ones(30)])
    advice = advise(table)
    assert (advice.k, advice.first_to_reach, advice.difference) == (3, 3, 0.0)


def test_nothing_gained_makes_the_smallest_k_the_advice():
    advice = advise(np.ones((30, 4)))
    assert (advice.k, advice.first_to_reach) == (1, 1)
    assert advice.visibility.why_not == "no spread"


def test_a_loss_that_cannot_be_shown_is_accepted_and_the_power_said():
    table = np.ones((30, 2))
    table[:3, 0] = 0.0
    advice = advise(table)
    assert (advice.k, advice.first_to_reach) == (1, 2)
    assert advice.difference == pytest.approx(-0.1)
    assert 0.05 < advice.visibility.smallest < 0.3


def test_undefined_queries_are_left_out_and_without_any_there_is_no_advice():
    table = np.ones((6, 2))
    table[0] = np.nan
    assert advise(table).visibility.n == 5
    assert advise(np.full((4, 2), np.nan)) is None


@given(st.lists(st.integers(1, 12), min_size=1, max_size=10), st.integers(1, 12))
def test_ceilings_are_those_of_a_perfect_ranking(targets, k):
    recall, precision = ceilings(np.array(targets), k)
    assert recall == pytest.approx(sum(min(n, k) / n for n in targets) / len(targets))
    assert precision == pytest.approx(sum(min(n, k) / k for n in targets) / len(targets))


def test_queries_without_targets_have_no_ceiling():
    assert ceilings(np.array([0, 0]), 3) == (None, None)
    assert ceilings(np.array([0, 2]), 1) == (0.5, 1.0)


def test_95_of_100_queries_need_no_more():
    column = np.arange(1.0, 101.0)
    use = token_use(column, price=None)
    assert (use.p95, use.highest, use.mean, use.cost_per_1000) == (95.0, 100, 50.5, None)
    assert token_use(np.array([7.0]), price=1.0).p95 == 7.0
