"""Differences by a machine's labels, corrected by people's."""

import numpy as np
import pytest

from calipers.statistics.corrected_test import corrected_difference
from calipers.statistics.paired_test import paired_test


def sample(judged=40, n=200, seed=0, gain=0.15, wrong=0.05):
    rng = np.random.default_rng(seed)
    people = rng.choice([1.0, -1.0, 0.0], n, p=[0.1 + gain, 0.1, 0.8 - gain])
    machine = np.where(rng.random(n) < wrong, rng.choice([1.0, -1.0, 0.0], n), people)
    return machine, np.where(np.arange(n) < judged, people, np.nan)


def test_where_people_judged_everything_it_is_the_paired_test_of_their_values():
    machine, people = sample(judged=200)
    found, alone = corrected_difference(machine, people), paired_test(people)
    assert found.interval() == pytest.approx(alone.interval())
    assert found.mean == pytest.approx(alone.mean)
    assert (found.p_value() <= 0.05) == (alone.p_value() <= 0.05)


@pytest.mark.parametrize("seed", range(4))
def test_one_voice(seed):
    found = corrected_difference(*sample(seed=seed))
    p = found.p_value()
    assert p < 1
    low, high = found.interval(1 - p * 0.98)
    assert low <= 0 <= high
    low, high = found.interval(1 - min(p * 1.02, 0.999))
    assert low > 0 or high < 0


def test_swap_and_order():
    machine, people = sample()
    one, other = corrected_difference(machine, people), corrected_difference(-machine, -people)
    low, high = one.interval()
    assert other.interval() == pytest.approx((-high, -low))
    assert one.p_value() == pytest.approx(other.p_value())
    order = np.random.default_rng(1).permutation(200)
    assert corrected_difference(machine[order], people[order]).interval() == (low, high)


def test_a_gain_that_only_the_machine_sees_is_not_shown():
    rng = np.random.default_rng(3)
    machine = rng.choice([1.0, 0.0], 200, p=[0.2, 0.8])
    people = np.where(np.arange(200) < 40, 0.0, np.nan)
    assert paired_test(machine).p_value() < 0.001
    found = corrected_difference(machine, people)
    assert found.p_value() > 0.05
    assert found.mean < 0.05


def test_a_gain_that_people_confirm_is_shown():
    machine, people = sample(gain=0.4, wrong=0.0)
    assert corrected_difference(machine, people).p_above() < 0.01


def test_equal_runs_without_an_error_leave_room_for_some():
    people = np.where(np.arange(200) < 30, 0.0, np.nan)
    low, high = corrected_difference(np.zeros(200), people).interval()
    assert (low, high) == pytest.approx((-0.11, 0.11), abs=0.01)
