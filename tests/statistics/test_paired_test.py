"""The paired test: laws over random differences, and against a naive reference."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.paired_test import (
    mean_of_runs,
    paired_test,
    paired_tests,
    shown_above,
    undone_by,
)

VALUES = st.one_of(
    st.sampled_from([-1.0, 0.0, 0.0, 1.0]),
    st.sampled_from([-0.5, -0.25, 0.0, 1 / 3, 0.5]),
    st.floats(-1, 1).map(lambda one: round(one, 3)),
)
FEW = st.lists(VALUES, min_size=2, max_size=9)
SOME = st.lists(VALUES, min_size=2, max_size=40)
LEVELS = (0.8, 0.9, 0.95, 0.99)


def naive(differences, value=0.0):
    """The share of all sign flips whose sum is at least what was seen."""
    away = np.asarray(differences) - value
    flips = [np.dot(signs, away) for signs in product((1, -1), repeat=len(away))]
    return float(np.mean(np.array(flips) >= away.sum() - 1e-9))


@given(FEW, st.sampled_from([-0.4, -0.1, 0.0, 0.2]))
def test_it_is_the_randomisation_test(differences, value):
    test = paired_test(differences, limits=None)
    assert test.p_above(value) == pytest.approx(naive(differences, value))
    assert test.p_below(value) == pytest.approx(naive(-np.asarray(differences), -value))


@pytest.mark.parametrize(("won", "lost", "tied"), [(9, 0, 3), (10, 2, 0), (3, 7, 6), (13, 4, 23)])
def test_for_hits_it_is_the_sign_test(won, lost, tied):
    test = paired_test([1] * won + [-1] * lost + [0] * tied)
    exact = stats.binomtest(won, won + lost, alternative="greater").pvalue
    assert test.p_above() == pytest.approx(exact, abs=0 if won + lost + tied <= 16 else 0.004)


@given(SOME, st.data())
def test_raising_one_difference_never_speaks_against_it(differences, data):
    at = data.draw(st.integers(0, len(differences) - 1))
    raised = list(differences)
    raised[at] = data.draw(st.floats(raised[at], 1.0))
    before, after = paired_test(differences), paired_test(raised)
    assert after.p_above() <= before.p_above()
    assert after.p_below() >= before.p_below()
    for level in LEVELS:
        assert after.interval(level).low >= before.interval(level).low - 1e-9
        assert after.interval(level).high >= before.interval(level).high - 1e-9


@given(st.integers(6, 40), st.integers(0, 60), st.floats(0.001, 1.0))
def test_six_that_changed_one_way_are_shown(changed, tied, size):
    test = paired_test([size] * changed + [0.0] * tied)
    assert test.p_value() <= 0.05
    assert test.interval().low > 0


@given(SOME)
def test_the_interval_leaves_out_zero_exactly_where_the_test_rejects(differences):
    test = paired_test(differences)
    for level in LEVELS:
        low, high = test.interval(level)
        assert (low > 0 or high < 0) == (test.p_value() <= 1 - level + 1e-12)
        assert low <= test.mean <= high


@given(FEW, st.sampled_from([-0.4, -0.05, 0.0, 0.03, 0.2]), st.sampled_from([0.01, 0.025, 0.05]))
def test_each_end_is_where_the_one_sided_test_turns(differences, value, alpha):
    for limits in ((-1.0, 1.0), None):
        test = paired_test(differences, limits=limits)
        low, high = test.low(1 - alpha), test.high(1 - alpha)
        if min(abs(low - value), abs(high - value)) > 1e-7:
            assert (low > value) == (test.p_above(value) <= alpha + 1e-12)
            assert (high < value) == (test.p_below(value) <= alpha + 1e-12)


@given(SOME, st.randoms())
def test_exchanging_the_systems_exchanges_the_signs_and_order_is_nothing(differences, random):
    test, other = paired_test(differences), paired_test([-one for one in differences])
    assert (test.p_above(), test.p_below()) == (other.p_below(), other.p_above())
    assert test.interval() == pytest.approx([-end for end in other.interval()][::-1])
    mixed = random.sample(differences, len(differences))
    assert paired_test(mixed).interval() == test.interval()
    assert paired_test(mixed).p_value() == test.p_value()


@given(SOME, st.floats(0.0, 1.0))
def test_more_of_the_same_never_weakens_a_claim(differences, shift):
    higher = [min(1.0, one + shift) for one in differences]
    test, twice = paired_test(higher), paired_test(higher * 2)
    if test.p_value() <= 0.05:
        assert twice.p_value() <= 0.05
    if len(higher) <= 8:
        assert twice.p_above() <= test.p_above() + 1e-9 or test.mean <= 0


@given(st.lists(FEW, min_size=2, max_size=5))
def test_many_at_once_are_each_alone(columns):
    for column, together in zip(columns, paired_tests(columns), strict=True):
        alone = paired_test(column)
        assert (together.p_value(), together.interval()) == (alone.p_value(), alone.interval())


@given(SOME)
def test_a_cluster_of_its_own_for_each_query_changes_nothing(differences):
    one, other = paired_test(differences), paired_test(differences, range(len(differences)))
    assert one.p_value() == other.p_value()
    assert one.interval() == other.interval()


def test_clusters_are_flipped_as_wholes():
    differences = [1.0] * 6 + [0.0] * 6
    assert paired_test(differences).p_value() <= 0.05
    assert paired_test(differences, [0] * 6 + list(range(1, 7))).p_value() == 1.0


def test_where_nothing_changed_the_rule_of_three_speaks():
    low, high = paired_test([0.0] * 60).interval()
    assert high == pytest.approx(1 - 0.025 ** (1 / 60))
    assert low == -high
    assert paired_test([0.0] * 60).p_value() == 1.0
    assert paired_test([0.0] * 59).p_above(-0.05) == pytest.approx(0.95**59)
    assert paired_test([0.0] * 59, limits=None).interval() == (0.0, 0.0)


def test_a_cluster_counts_once():
    intents = np.random.default_rng(0).normal(0.1, 0.2, 12)
    one = paired_test(intents)
    five = paired_test(np.repeat(intents, 5), np.repeat(np.arange(12), 5))
    assert five.p_value() == pytest.approx(one.p_value())
    assert five.interval() == pytest.approx(one.interval())


@pytest.mark.parametrize("changed", [3, 6, 40])
@pytest.mark.parametrize("shift", [0.05, 0.15, 0.4])
def test_planning_asks_nearly_the_same_test(changed, shift):
    tries = np.random.default_rng(changed).normal(shift, 0.3, (200, changed))
    least = np.abs(tries).min(axis=1)
    moving = np.full(200, changed)
    fast = shown_above(tries.sum(axis=1), (tries**2).sum(axis=1), least, moving, 0.05)
    exact = [one.p_above() <= 0.025 for one in paired_tests(list(tries))]
    assert np.mean(fast) == pytest.approx(np.mean(exact), abs=0.06)


def test_many_queries_are_told_by_the_normal_distribution():
    random = np.random.default_rng(5)
    differences = np.clip(random.normal(0.01, 0.2, 4002), -1, 1)
    many, fewer = paired_test(differences[:2002]), paired_test(differences[:2000])
    assert many.p_value() == pytest.approx(fewer.p_value(), abs=0.004)
    assert many.interval() == pytest.approx(fewer.interval(), abs=5e-4)


@pytest.mark.parametrize("changed", range(1, 9))
def test_a_few_that_changed_among_thousands_show_what_the_sign_test_shows(changed):
    test = paired_test([1.0] * changed + [0.0] * 3000)
    assert test.p_value() >= min(1.0, 2 * 0.5**changed)
    assert (test.interval().low > 0) == (test.p_value() <= 0.05) == (changed >= 6)


def test_what_cannot_be_tested():
    assert paired_test([]) is None
    assert paired_test([0.5, float("nan")]) is None
    assert paired_test([0.5, 0.25], ["a", "a"]) is None


@given(SOME, st.sampled_from([0.9, 0.95, 0.99]))
def test_what_would_undo_a_mean_undoes_it(values, level):
    found = paired_test(values)
    unseen = undone_by(found, level)
    if unseen is None:
        share = 1 - (1 - level) ** (1 / len(values))
        # Not even half of the way to the other bound is enough.
        assert abs(found.mean) * (1 - share) > share * 0.5
    else:
        assert (1 - unseen.share) ** len(values) == pytest.approx(1 - level)
        left = (1 - unseen.share) * abs(found.mean) - unseen.share * unseen.change
        assert left == pytest.approx(0.0, abs=1e-12)
    assert undone_by(paired_test(values, limits=None), level) is None


def test_runs_are_averaged_in_any_order():
    rng = np.random.default_rng(0)
    runs = list(rng.random((4, 9)))
    assert mean_of_runs(runs).tolist() == mean_of_runs(runs[::-1]).tolist()
    assert mean_of_runs(runs) == pytest.approx(np.mean(runs, axis=0))


def test_bad_input():
    assert paired_test([0.1]) is None
    with pytest.raises(InvalidInput, match="at least one run"):
        mean_of_runs([])


@pytest.mark.parametrize("n", [2, 16, 17, 60, 700])
def test_neither_the_order_nor_the_name_of_a_system_moves_a_bit(n):
    """Also where subsets are drawn: from 17 queries on."""
    rng = np.random.default_rng(n)
    differences = rng.choice([-1.0, -0.5, 0.0, 0.25, 1.0], n, p=[0.1, 0.2, 0.3, 0.2, 0.2])
    test = paired_test(differences)
    shuffled = paired_test(rng.permutation(differences))
    exchanged = paired_test(-differences)
    for value in (-0.1, 0.0, 0.05):
        assert shuffled.p_above(value) == test.p_above(value) == exchanged.p_below(-value)
        assert shuffled.p_below(value) == test.p_below(value) == exchanged.p_above(-value)
    assert shuffled.interval() == test.interval()
    assert (-exchanged.interval().high, -exchanged.interval().low) == test.interval()


def test_what_did_not_change_is_neither_better_nor_worse():
    test = paired_test([0.5, 0.0, -0.25, 0.0, 0.0, 1.0, 1e-12])
    assert (test.n, test.better, test.worse, test.changed) == (7, 2, 1, 3)


@pytest.mark.parametrize("n", range(2, 12))
def test_the_smallest_p_is_that_of_all_won(n):
    won = paired_test([1.0] * n, limits=None)
    assert won.p_value() == pytest.approx(won.least_p()) == pytest.approx(2 * 0.5**n)
    assert won.least_p(tests=3) == pytest.approx(min(1.0, 6 * 0.5**n))
