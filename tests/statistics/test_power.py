"""The power that is found by trying is that of the test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_test import paired_tests
from calipers.statistics.power import (
    DRAWS,
    SLOTS,
    WORDS,
    Alternatives,
    numbers_moving,
    shown_share,
    words,
)

RNG = np.random.default_rng(0)
PILOTS = {
    "normal": RNG.normal(0.02, 0.2, 40),
    "skewed": 0.2 - RNG.gamma(2.0, 0.1, 50),
    "ties": np.repeat([-0.5, 0.0, 0.5, 1.0], [4, 40, 4, 2]),
}


@pytest.mark.parametrize(("name", "n"), [("ties", 8), ("skewed", 30), ("normal", 90)])
def test_the_share_shown_is_that_of_the_test(name, n):
    there = Alternatives.of(as_units(PILOTS[name])).at(0.4 / np.sqrt(n))
    rng = np.random.default_rng(5)
    moves = rng.random((400, n)) < there.moving
    values = np.where(moves, rng.choice(there.values, (400, n)), 0.0)
    shown = sum(one.p_above() <= 0.025 for one in paired_tests(list(values)))
    share = shown_share(there, n, 0.05, 0)
    assert share == pytest.approx(shown / 400, abs=4 * np.sqrt(0.25 / 400 + 0.25 / DRAWS))


@given(st.integers(1, 5000), st.floats(1e-6, 0.999999))
def test_the_numbers_that_move_are_binomial(n, share):
    levels = (np.arange(DRAWS) + 0.5) / DRAWS
    expected = stats.binom.ppf(levels, n, share)
    found = numbers_moving(n, share)
    # A level at the edge of a step may fall to either side.
    assert (found != expected).mean() <= 0.005
    assert np.abs(found - expected).max() <= 1


def test_more_queries_and_larger_differences_show_more():
    for pilot in PILOTS.values():
        ways = Alternatives.of(as_units(pilot))
        by_mean = [shown_share(ways.at(mean), 60, 0.05, 0) for mean in (0.02, 0.05, 0.1, 0.2)]
        by_number = [shown_share(ways.at(0.08), n, 0.05, 0) for n in (10, 20, 40, 80, 160)]
        assert by_mean == sorted(by_mean)
        assert by_number == sorted(by_number)


STEPS = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.0, 0.25, 1.0]), min_size=5, max_size=60)
MEANS = st.floats(0.001, 1.5)


def alternatives(pilot, sign=1.0):
    return Alternatives.of(as_units(pilot), sign)


def mean_of(there):
    return there.moving * there.values.mean() + (1.0 - there.moving) * there.still


@given(STEPS.filter(any), MEANS)
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


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 2**64))
def test_each_raw_word_gives_four_the_low_bits_first(rows, columns, seed):
    source = np.random.PCG64(seed)
    naive: list[int] = []
    while len(naive) < rows * columns:
        word = int(source.random_raw())
        naive += [word >> bits & WORDS - 1 for bits in (0, 16, 32, 48)]
    assert words(rows, columns, seed).ravel().tolist() == naive[: rows * columns]


def test_the_words_are_uniform():
    counts = np.bincount(words(100, 1600, 0).ravel() // 4096, minlength=16)
    # Each count has a standard deviation of 97.
    assert np.abs(counts - 10_000).max() < 400


def test_the_raw_stream_never_changes():
    # Written down once: a change here would change every plan.
    assert words(2, 3, 7).tolist() == [[19083, 61925, 16809], [40966, 27285, 44838]]


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_unusable_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match=r"seed is .*a whole number of at least 0"):
        words(1, 1, seed)
