"""Holm's correction, and groups of systems that it does not tell apart."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.many_tests import family_of, groups_of, holm


@given(st.permutations(range(5)), st.sets(st.sampled_from(list(combinations(range(5), 2)))))
def test_groups_hold_exactly_what_cannot_be_told_apart(order, apart):
    groups = groups_of(order, apart)
    for first, last in groups:
        places = order[first : last + 1]
        assert not any(tuple(sorted(pair)) in apart for pair in combinations(places, 2))
    # Every system is in a group, and no group could be longer.
    assert {at for first, last in groups for at in range(first, last + 1)} == set(range(5))
    for (first, last), (later, _) in pairwise(groups):
        assert first < later
        longer = order[first : last + 2]
        assert any(tuple(sorted(pair)) in apart for pair in combinations(longer, 2))


def test_systems_that_nothing_tells_apart_are_one_group():
    assert groups_of([1, 0, 2], set()) == ((0, 2),)


p_lists = st.lists(st.floats(0, 1), max_size=12)


def naive_holm(p_values):
    """The adjusted value of p: the largest of (m - rank) * p over itself and all smaller ones."""
    ordered = sorted(p_values)
    m = len(ordered)
    return [
        min(1.0, max((m - rank) * q for rank, q in enumerate(ordered) if q <= p)) for p in p_values
    ]


@given(p_lists)
def test_agrees_with_the_naive_form(p_values):
    assert holm(p_values) == naive_holm(p_values)


@given(p_lists)
def test_never_below_the_raw_value_and_in_the_same_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= a <= 1.0 for p, a in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert all(np.diff(np.array(adjusted)[order]) >= 0)


@given(p_lists, st.integers(0, 12))
def test_what_was_not_tested_stays_and_does_not_count(p_values, at):
    at = min(at, len(p_values))
    adjusted = holm(p_values)
    assert holm([*p_values[:at], None, *p_values[at:]]) == [*adjusted[:at], None, *adjusted[at:]]
    with_nan = holm([*p_values[:at], math.nan, *p_values[at:]])
    assert math.isnan(with_nan.pop(at))
    assert with_nan == adjusted


def test_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_input_is_not_changed():
    p_values = [0.01, 0.02]
    holm(p_values)
    assert p_values == [0.01, 0.02]


@pytest.mark.parametrize("p", [-0.01, 1.01, math.inf])
def test_what_is_not_a_probability_is_refused(p):
    with pytest.raises(InvalidInput, match="position 1: found"):
        holm([0.5, p])


ROWS = st.lists(st.tuples(st.floats(0, 1), st.floats(0.0001, 1)), max_size=10)


@given(ROWS, st.sampled_from([0.01, 0.05, 0.2]))
def test_a_row_within_reach_could_be_shown_and_no_other_is(rows, alpha):
    least = [min(pair) for pair in rows]
    p_values = [max(pair) for pair in rows]
    found = family_of(p_values, least, alpha)
    assert found.tests == sum(found.reachable)
    for p, smallest, adjusted, reachable, together in zip(
        p_values, least, found.adjusted, found.reachable, found.rows, strict=True
    ):
        assert reachable == (smallest * together <= alpha * (1 + 1e-9))
        assert adjusted >= p
        if not reachable:
            assert adjusted > alpha


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_is_no_matter(rows, random):
    least, p_values = [min(pair) for pair in rows], [max(pair) for pair in rows]
    order = list(range(len(rows)))
    random.shuffle(order)
    found = family_of(p_values, least)
    turned = family_of([p_values[at] for at in order], [least[at] for at in order])
    assert turned.adjusted == tuple(found.adjusted[at] for at in order)
    assert turned.reachable == tuple(found.reachable[at] for at in order)


def test_rows_that_could_not_be_shown_cost_the_others_nothing():
    alone = family_of([0.02], [0.001])
    beside = family_of([0.02, 0.5, 0.5, 0.5], [0.001, 0.25, 0.25, 0.25])
    assert beside.adjusted[0] == alone.adjusted[0] == 0.02
    assert beside.reachable == (True, False, False, False)


def test_equal_rows_that_are_too_many_are_all_out_of_reach():
    found = family_of([1 / 128] * 10, [1 / 128] * 10)
    assert (found.tests, set(found.rows), set(found.adjusted)) == (0, {10}, {10 / 128})


def test_what_was_not_tested_stays_none():
    assert family_of([None, 0.01], [None, 0.001]).adjusted == (None, 0.01)
