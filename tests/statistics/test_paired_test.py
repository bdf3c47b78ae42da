"""Paired differences: one inversion, two answers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.paired_test import (
    difference,
    margins,
    mean_of_runs,
    non_inferiority,
    statistics,
    undone_by,
)

SIXTHS = st.lists(st.integers(-6, 6).map(lambda n: n / 6), min_size=2, max_size=40)
REAL = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=40)


@given(SIXTHS | REAL, st.sampled_from([0.8, 0.95, 0.99]), st.floats(-0.9, 0.9))
def test_interval_and_test_never_contradict_each_other(values, level, value):
    found = difference(values, limits=None)
    low, high = found.interval(level)
    if min(abs(value - low), abs(value - high)) < 1e-9:
        return
    assert (low < value < high) == (found.p_value(value) > 1 - level)


@given(SIXTHS | REAL)
def test_the_mean_lies_within_and_turning_the_sign_turns_it(values):
    one, other = difference(values), difference([-value for value in values])
    low, high = one.interval()
    assert low <= one.mean <= high
    assert other.interval() == pytest.approx((-high, -low), abs=1e-12)
    assert other.p_value() == pytest.approx(one.p_value(), abs=1e-12)
    assert one.p_above() == pytest.approx(other.p_below(), abs=1e-12)


@given(REAL, st.randoms())
def test_any_order_gives_the_same_bits(values, random):
    one, other = difference(values), difference(random.sample(values, len(values)))
    assert one == other


@given(st.integers(2, 30), st.integers(1, 6))
def test_equal_differences_have_the_sign_test(n, sixths):
    found = difference([sixths / 6] * n)
    assert found.p_value() == pytest.approx(min(1.0, 2 * 0.5**n))


def test_symmetric_differences_have_student_s_test():
    values = np.array([-0.3, -0.1, 0.1, 0.3, -0.2, 0.2]) + 0.15
    found = difference(values)
    assert found.skewness == pytest.approx(0.0, abs=1e-12)
    assert found.p_value() == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue)


def test_skewed_differences_by_hand():
    values = np.array([0.0, 0.1, 0.1, 0.2, 0.9]) + 0.01
    n, mean, sd = 5, values.mean(), values.std(ddof=1)
    skew = stats.skew(values)
    w = mean / sd
    hall = math.sqrt(n) * (w + skew * w**2 / 3 + skew**2 * w**3 / 27 + skew / (6 * n))
    least = min(math.sqrt(n) * w, hall)
    assert difference(values).p_above() == pytest.approx(stats.t.sf(least, n - 1))


def test_ties_take_degrees_of_freedom():
    found = difference([1.0] * 5 + [0.0] * 45)
    assert found.freedom == 4
    assert found.p_value() > 0.05
    assert difference([1.0] * 7 + [0.0] * 43).p_value() < 0.05


@given(st.floats(-4, 4), st.integers(3, 500), st.floats(-3, 3))
def test_margins_invert_the_statistics(skewness, n, t):
    away = margins(np.array([skewness]), n, np.array([t]))
    plain, bent = statistics(away, np.array([skewness]), n)
    least = min(plain[0], bent[0]) if t > 0 else max(plain[0], bent[0])
    assert least == pytest.approx(t, abs=1e-4)


def test_no_difference_at_all_leaves_room_up_to_the_bounds():
    found = difference([0.0] * 59)
    assert found.p_value() == 1.0
    assert found.p_above(-0.05) == pytest.approx(0.95**59)
    assert found.interval().high == pytest.approx(1 - 0.025 ** (1 / 59))
    assert difference([0.0] * 59, limits=None).interval() == (0.0, 0.0)


def test_a_cluster_counts_once():
    rng = np.random.default_rng(0)
    intents = rng.normal(0.1, 0.2, 12)
    one = difference(intents)
    five = difference(np.repeat(intents, 5), np.repeat(np.arange(12), 5))
    assert five.p_value() == pytest.approx(one.p_value())
    assert five.interval() == pytest.approx(one.interval())


def test_one_pair_says_nothing():
    assert difference([0.5]) is None
    assert difference([float("nan"), 0.5]) is None


@given(SIXTHS | REAL, st.sampled_from([0.9, 0.95, 0.99]))
def test_what_would_undo_a_mean_undoes_it(values, level):
    found = difference(values)
    unseen = undone_by(found, level)
    if unseen is None:
        share = 1 - (1 - level) ** (1 / len(values))
        # Not even half of the way to the other bound is enough.
        assert abs(found.mean) * (1 - share) > share * 0.5
    else:
        assert (1 - unseen.share) ** len(values) == pytest.approx(1 - level)
        left = (1 - unseen.share) * abs(found.mean) - unseen.share * unseen.change
        assert left == pytest.approx(0.0, abs=1e-12)
    assert undone_by(difference(values, limits=None), level) is None


VALUES = st.lists(st.integers(-6, 6).map(lambda n: n / 6), min_size=2, max_size=40)


@given(VALUES, st.floats(0, 0.5))
def test_the_verdict_is_where_the_one_sided_limits_lie(values, allow):
    found = non_inferiority(values, allow, limits=None)
    high, low = found.difference.high(0.95), found.difference.low(0.95)
    if min(abs(high + allow), abs(low + allow)) < 1e-9:
        return
    expected = "loss shown" if high < -allow else "no loss shown" if low > -allow else "neither"
    assert found.verdict() == expected


@given(VALUES)
def test_what_fails_with_more_allowed_fails_with_less(values):
    strict, lenient = non_inferiority(values, 0.0), non_inferiority(values, 0.1)
    assert lenient.p_loss >= strict.p_loss - 1e-12


def test_runs_are_averaged_in_any_order():
    rng = np.random.default_rng(0)
    runs = list(rng.random((4, 9)))
    assert mean_of_runs(runs).tolist() == mean_of_runs(runs[::-1]).tolist()
    assert mean_of_runs(runs) == pytest.approx(np.mean(runs, axis=0))


def test_bad_input():
    assert non_inferiority([0.1]) is None
    with pytest.raises(InvalidInput, match="allowed loss"):
        non_inferiority([0.1, 0.2], -0.1)
    with pytest.raises(InvalidInput, match="at least one run"):
        mean_of_runs([])
