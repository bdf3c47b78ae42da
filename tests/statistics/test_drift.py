"""Nightly declines."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.drift import (
    ALLOWANCE,
    MOST_A_NIGHT,
    cusum,
    drift,
    reference,
    run_length,
    threshold,
)

QUIET = reference([[1.0, 0.0] * 25] * 7)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
@settings(max_examples=60)
def test_the_sums_one_by_one(means):
    expected, now = [], 0.0
    for mean in means:
        step = (QUIET.level - mean) / QUIET.spread - QUIET.slack - ALLOWANCE
        now = max(0.0, now + min(step, MOST_A_NIGHT))
        expected.append(now)
    assert cusum(np.array([means]), QUIET)[0] == pytest.approx(expected)


@given(st.integers(5, 30), st.integers(2, 40), st.integers(0, 2**32 - 1), st.randoms())
@settings(max_examples=40)
def test_the_order_of_nights_and_queries_does_not_matter_to_the_reference(n, m, seed, random):
    table = np.random.default_rng(seed).random((n, m))
    rows, columns = random.sample(range(n), n), random.sample(range(m), m)
    assert reference(table) == reference(table[rows][:, columns])


def test_the_budget_is_siegmund_s_run_length():
    for budget in (0.5, 1.0, 4.0):
        assert run_length(threshold(budget)) == pytest.approx(365 / budget, rel=1e-4)


def test_the_run_length_of_normal_nights():
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(2000, 2000)) - ALLOWANCE
    now, alive, length = np.zeros(2000), np.ones(2000, dtype=bool), np.zeros(2000)
    for column in steps.T:
        length += alive
        now = np.maximum(0.0, now + column)
        alive &= now <= threshold(4.0)
    assert length.mean() == pytest.approx(365 / 4, rel=0.15)


def test_a_retriever_without_noise_that_stays_the_same_never_alarms():
    assert drift(np.full(1000, 0.5), QUIET).alarm is None


def test_one_bad_night_is_no_alarm_and_three_are():
    once, thrice = np.full(20, 0.5), np.full(20, 0.5)
    once[10], thrice[10:13] = 0.0, 0.0
    assert drift(once, QUIET).alarm is None
    found = drift(thrice, QUIET)
    assert (found.alarm, found.since) == (12, 10)


def test_a_slow_decline_begins_where_it_begins():
    means = 0.5 - np.maximum(0.0, np.arange(80) - 29) * 0.002
    found = drift(means, QUIET)
    assert found.alarm is not None
    assert abs(found.since - 30) <= 3


def test_a_night_without_a_run_is_passed_over():
    means = np.full(12, 0.3)
    with_gaps = np.insert(means, [1, 2], np.nan)
    assert drift(with_gaps, QUIET).alarm == drift(means, QUIET).alarm + 2


def test_bad_input():
    with pytest.raises(InvalidInput, match="too short: found 4 nights"):
        reference(np.ones((4, 3)))
    with pytest.raises(InvalidInput, match="without gaps"):
        reference([[math.nan, 1.0]] * 7)
    with pytest.raises(InvalidInput, match="budget of false alarms"):
        threshold(0.0)
