"""Differences of another mean: what they keep of the pilot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.alternative import SLOTS, Alternatives
from calipers.statistics.clusters import as_units

STEPS = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.0, 0.25, 1.0]), min_size=5, max_size=60)
MEANS = st.floats(0.001, 1.5)


def alternatives(pilot, sign=1.0):
    return Alternatives.of(as_units(pilot), sign)


def mean_of(there):
    return there.moving * there.values.mean() + (1.0 - there.moving) * there.still


@given(STEPS.filter(any), MEANS)
@settings(max_examples=40)
def test_they_have_the_mean_that_is_asked_for(pilot, mean):
    there = alternatives(pilot).at(mean)
    assert len(there.values) == SLOTS
    assert 0.0 < there.moving <= 1.0
    # A slot is a chance of 1 in 65,536, and each value may be off by half of one.
    reach = np.ptp(there.values) * len(set(pilot))
    assert mean_of(there) == pytest.approx(mean, abs=1e-9 + reach / SLOTS)


@given(STEPS.filter(any), MEANS, st.randoms())
@settings(max_examples=25)
def test_neither_order_nor_sign_of_the_pilot_matters(pilot, mean, random):
    shuffled = random.sample(pilot, len(pilot))
    for sign in (1.0, -1.0):
        one = alternatives(pilot, sign).at(mean)
        other = alternatives([sign * value for value in shuffled]).at(mean)
        assert one.moving == pytest.approx(other.moving, abs=1e-12)
        assert np.array_equal(one.values, other.values)


def test_where_all_move_all_are_shifted():
    pilot = np.random.default_rng(0).normal(0.1, 0.2, 50)
    there = alternatives(pilot).at(0.3)
    assert there.moving == 1.0
    wider = np.sqrt(50 / 49)
    expected = 0.3 + wider * (np.sort(pilot) - pilot.mean())
    assert np.unique(there.values) == pytest.approx(expected, abs=1e-9)
    assert there.values.var() == pytest.approx(pilot.var(ddof=1), rel=1e-3)


def test_a_tilt_makes_more_gain_and_fewer_lose():
    pilot = np.repeat([-1.0, 0.0, 1.0], [50, 900, 50])
    shares = []
    for mean in (0.02, 0.05, 0.1):
        there = alternatives(pilot).at(mean)
        gain, lose = ((sign * there.values > 0).mean() * there.moving for sign in (1, -1))
        assert gain > 0.05 > lose
        # The tilt of three values keeps gains times losses over ties squared.
        assert gain * lose / (1 - gain - lose) ** 2 == pytest.approx((0.05 / 0.9) ** 2, rel=0.15)
        shares.append(there.moving)
    assert shares == sorted(shares)


def test_a_pilot_in_which_none_lost_expects_that_some_will():
    pilot = np.repeat([0.5, 0.0], [10, 40])
    there = alternatives(pilot).at(0.02)
    assert (there.values < 0).mean() * there.moving > 0.03


def test_beyond_what_a_tilt_reaches_ties_move_too():
    there = alternatives(np.repeat([-0.1, 0.0, 0.1], [2, 36, 2])).at(0.3)
    assert there.moving == 1.0
    assert there.values.min() > 0.0


def test_a_large_pilot_is_told_by_some_of_its_values():
    pilot = np.random.default_rng(1).normal(0.0, 0.2, 30_000)
    there = alternatives(pilot).at(0.05)
    assert len(np.unique(there.values)) <= 2048
    assert there.values.std() == pytest.approx(pilot.std(), rel=0.01)
