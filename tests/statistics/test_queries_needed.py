"""Planning: the power that was promised is the power of the test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_needed import (
    DRAWS,
    SLOTS,
    WORDS,
    Alternatives,
    needed_queries,
    numbers_moving,
    queries_like_these,
    shown_share,
    visibility,
    visible_difference,
    words,
)

RNG = np.random.default_rng(0)
PILOTS = {
    "normal": RNG.normal(0.02, 0.2, 40),
    "skewed": 0.2 - RNG.gamma(2.0, 0.1, 50),
    "dense steps": RNG.choice([-0.5, -0.25, 0.25, 0.5], 30),
    "ties": RNG.choice([-1.0, 0.0, 0.5, 1.0], 60, p=[0.06, 0.8, 0.06, 0.08]),
}
NUMBERS = (12, 15, 20, 30, 45, 70, 110, 200, 1000, 5000, 200_000)


def better(rows, alpha=0.05):
    """The share of rows whose test says better."""
    found = paired_rows(list(rows), alpha=alpha, marked=[False] * len(rows))
    return np.mean([one.standing == "better" for one in found])


@pytest.mark.parametrize("name", ["skewed", "dense steps"])
def test_the_visible_difference_is_seen_four_times_in_five(name):
    pilot = PILOTS[name]
    planned = visible_difference(pilot, 60)
    rng, shown = np.random.default_rng(5), []
    for sign in (1.0, -1.0):
        moved = sign * (pilot - pilot.mean()) + planned.difference
        shown.append(better(rng.choice(moved, (200, 60))))
    # The harder way counts; the other shows more.
    assert min(shown) == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize("name", PILOTS)
def test_more_queries_show_smaller_differences(name):
    visible = [visible_difference(PILOTS[name], n).difference for n in NUMBERS]
    assert visible == sorted(visible, reverse=True)
    assert visible[-1] == pytest.approx(visible[-2] * np.sqrt(5000 / 200_000), rel=0.1)


@pytest.mark.parametrize("name", PILOTS)
@pytest.mark.parametrize("difference", [0.3, 0.06, 0.01])
def test_both_questions_have_one_answer(name, difference):
    pilot = PILOTS[name]
    n = needed_queries(pilot, difference).queries
    assert visible_difference(pilot, n).difference <= 1.01 * difference
    assert n == 6 or visible_difference(pilot, int(0.9 * n)).difference > 0.99 * difference


@given(
    st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.0, 0.0, 0.5]), min_size=5, max_size=40),
    st.randoms(),
)
@settings(max_examples=8)
def test_neither_order_nor_direction_of_the_pilot_matters(pilot, random):
    if len(set(pilot)) == 1:
        return
    turned = [-value for value in random.sample(pilot, len(pilot))]
    assert visible_difference(pilot, 30) == visible_difference(turned, 30)


def test_one_way_shows_sooner_than_the_other():
    skewed = RNG.gamma(1.0, 0.2, 200) - 0.2
    up, down = (visible_difference(sign * skewed, one_way=True).difference for sign in (1.0, -1.0))
    assert up < down
    assert visible_difference(skewed).difference == down


def test_few_that_move_are_not_taken_for_many():
    """Neither far steeper than the root of the number of queries, nor a sharp answer from few."""
    few = np.repeat([1.0, -1.0, 0.0], [3, 2, 37])
    visible = [visible_difference(few, n).difference for n in (42, 64, 125)]
    assert visible[0] / visible[2] < 1.5 * np.sqrt(125 / 42)
    assert visible[0] > visible_difference(few + 1e-9, 42).difference


def test_a_pilot_in_clusters_counts_clusters():
    rng = np.random.default_rng(3)
    names = np.repeat(np.arange(20), 4)
    each = rng.normal(0.0, 0.2, 20)
    together = visible_difference(each[names], clusters=names)
    assert together.pilot == together.queries == 20
    assert together.difference == pytest.approx(visible_difference(each).difference, rel=1e-5)


def test_what_is_said_beside_a_comparison_is_the_plan():
    for pilot in PILOTS.values():
        seen = visibility(pilot, 0.05 / 3)
        assert seen.smallest == visible_difference(pilot, alpha=0.05 / 3).difference
        assert seen.needed == needed_queries(pilot, seen.wanted, alpha=0.05 / 3).queries


def test_bad_input():
    with pytest.raises(InvalidInput, match="pilot is too small"):
        visible_difference([0.1, 0.2])
    with pytest.raises(InvalidInput, match="power"):
        visible_difference(PILOTS["normal"], power=1.0)
    with pytest.raises(InvalidInput, match="other than 0"):
        needed_queries(PILOTS["normal"], 0.0)
    with pytest.raises(InvalidInput, match="at least 6"):
        visible_difference(PILOTS["normal"], 1)
    with pytest.raises(InvalidInput, match="all of them are equal"):
        visible_difference([0.5] * 10)
    with pytest.raises(InvalidInput, match="too small to plan for"):
        needed_queries(PILOTS["normal"], 1e-9)


@pytest.mark.parametrize("shape", ["normal", "ties"])
def test_the_high_end_is_enough_also_for_an_unlucky_pilot(shape):
    """In the worst tenth of pilots the number alone is not: that is what the range is for."""
    rng = np.random.default_rng(21)
    draw = {
        "normal": lambda n: rng.normal(0.0, 0.3, n),
        "ties": lambda n: rng.choice([-1.0, 0.0, 1.0], n, p=[0.15, 0.7, 0.15]),
    }[shape]
    truth = needed_queries(draw(4_000), 0.15).queries
    found = [needed_queries(draw(25), 0.15) for _ in range(40)]
    assert sum(one.high >= 0.85 * truth for one in found) >= 36
    assert sum(one.low <= 1.15 * truth for one in found) >= 36
    assert np.median([one.queries for one in found]) == pytest.approx(truth, rel=0.35)


def test_a_larger_pilot_has_a_narrower_range_and_scaling_changes_nothing():
    pilot = np.tile([0.4, -0.3, 0.1, 0.0, -0.1], 6)
    wide, narrow = needed_queries(pilot, 0.1), needed_queries(np.tile(pilot, 4), 0.1)
    assert narrow.high / narrow.queries < wide.high / wide.queries
    assert narrow.low / narrow.queries > wide.low / wide.queries
    turned = needed_queries(-pilot, 0.1)
    assert (turned.queries, turned.low, turned.high) == (wide.queries, wide.low, wide.high)
    shown = visible_difference(pilot, 200)
    assert shown.low < shown.difference < shown.high


def test_where_no_difference_would_show_often_enough_nothing_is_searched_for_ever():
    few = [0.0] * 7 + [0.5]
    assert visibility(few, alpha=0.01).why_not == "too few moved"
    with pytest.raises(InvalidInput, match="would often miss a difference of any size"):
        visible_difference(few, alpha=0.01)


@pytest.mark.parametrize("alpha", [0.05, 0.025])
@pytest.mark.parametrize("pilot", [[-1.0] * 3 + [0.0] * 9, [0.3, -0.2] * 15 + [0.1] * 5])
def test_as_many_like_these_show_it_about_four_times_in_five(pilot, alpha):
    rng = np.random.default_rng(5)
    n = queries_like_these(paired_rows([pilot])[0], alpha)
    drawn = rng.choice(pilot, (200, n))
    assert 0.7 <= better(drawn, alpha) + better(-drawn, alpha) <= 0.9


MOVING = {
    "normal": RNG.normal(0.02, 0.2, 40),
    "skewed": 0.2 - RNG.gamma(2.0, 0.1, 50),
    "ties": np.repeat([-0.5, 0.0, 0.5, 1.0], [4, 40, 4, 2]),
}


@pytest.mark.parametrize(("name", "n"), [("ties", 8), ("skewed", 30), ("normal", 90)])
def test_the_share_shown_is_that_of_the_test(name, n):
    there = Alternatives.of(as_units(MOVING[name])).at(0.4 / np.sqrt(n))
    rng = np.random.default_rng(5)
    moves = rng.random((400, n)) < there.moving
    values = np.where(moves, rng.choice(there.values, (400, n)), 0.0)
    share = shown_share(there, n, 0.05, 0)
    assert share == pytest.approx(better(values), abs=4 * np.sqrt(0.25 / 400 + 0.25 / DRAWS))


@given(st.integers(1, 5000), st.floats(1e-6, 0.999999))
def test_the_numbers_that_move_are_binomial(n, share):
    levels = (np.arange(DRAWS) + 0.5) / DRAWS
    expected = stats.binom.ppf(levels, n, share)
    found = numbers_moving(n, share)
    # A level at the edge of a step may fall to either side.
    assert (found != expected).mean() <= 0.005
    assert np.abs(found - expected).max() <= 1


def test_more_queries_and_larger_differences_show_more():
    for pilot in MOVING.values():
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
