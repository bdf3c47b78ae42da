"""A group against the rest: the laws of the permutation test, and what it marks by chance."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.many_tests import family_of
from calipers.statistics.two_sample import two_sample_test, two_sample_tests

SIXTHS = st.integers(0, 6).map(lambda n: n / 6)
GROUP = st.lists(SIXTHS, min_size=2, max_size=14)
FEW = settings(max_examples=20, deadline=None)


def answer_of(first, second, **asked):
    inside = [True] * len(first) + [False] * len(second)
    return two_sample_test([*first, *second], inside, **asked)


def by_hand(first, second):
    """The share of all groups of that size whose mean is at least as high."""
    values, size = [*first, *second], len(first)
    groups = [sum(values[at] for at in group) for group in combinations(range(len(values)), size)]
    return np.mean(np.array(groups) >= sum(first) - 1e-9)


@given(st.lists(SIXTHS, min_size=2, max_size=6), st.lists(SIXTHS, min_size=2, max_size=6))
@FEW
def test_few_units_are_counted_one_by_one(first, second):
    assert answer_of(first, second).p_above() == pytest.approx(by_hand(first, second))
    assert answer_of(first, second).p_below() == pytest.approx(by_hand(second, first))


def test_hits_and_misses_are_fishers_exact_test():
    found = answer_of([0] * 3 + [1] * 9, [1] * 42)
    exact = math.comb(12, 3) / math.comb(54, 3)
    assert found.p_below() == pytest.approx(exact, abs=0.002)


@given(GROUP, GROUP, st.data())
@FEW
def test_raising_a_value_inside_makes_higher_only_more_certain(first, second, data):
    at = data.draw(st.integers(0, len(first) - 1))
    raised = [*first]
    raised[at] = min(1.0, raised[at] + data.draw(SIXTHS))
    before, after = answer_of(first, second), answer_of(raised, second)
    noise = 0.0 if math.comb(len(first) + len(second), len(first)) <= 20_000 else 0.02
    assert after.p_above() <= before.p_above() + noise
    assert after.p_below() >= before.p_below() - noise


@given(GROUP, GROUP)
@FEW
def test_exchanging_the_sides_exchanges_the_signs_and_nothing_else(first, second):
    one, other = answer_of(first, second), answer_of(second, first)
    assert one.p_above() == other.p_below()
    assert one.p_value() == other.p_value()
    low, high = one.interval()
    assert other.interval() == pytest.approx((-high, -low), abs=1e-9)
    turned = answer_of([1 - value for value in first], [1 - value for value in second])
    assert turned.p_above() == pytest.approx(one.p_below(), abs=1e-12)


@given(GROUP, GROUP, st.randoms(use_true_random=False))
@FEW
def test_the_order_of_the_queries_is_no_matter(first, second, random):
    shuffled = [*zip([*first, *second], [True] * len(first) + [False] * len(second), strict=True)]
    random.shuffle(shuffled)
    values, inside = zip(*shuffled, strict=True)
    one, other = answer_of(first, second), two_sample_test(values, inside)
    assert (one.p_value(), one.interval()) == (other.p_value(), other.interval())


@given(GROUP, GROUP)
@FEW
def test_p_value_and_interval_have_one_voice(first, second):
    found = answer_of(first, second)
    for level in (0.8, 0.95):
        low, high = found.interval(level)
        assert (low > 0 or high < 0) == (found.p_value() <= 1 - level + 1e-12)
        assert low - 1e-9 <= found.difference <= high + 1e-9


@given(GROUP, GROUP)
@FEW
def test_more_of_the_same_never_weakens_what_is_shown(first, second):
    if answer_of(first, second).p_value() <= 0.05:
        assert answer_of(first * 2, second * 2).p_value() <= 0.05


def test_a_group_that_misses_all_is_shown_among_many_tests():
    found = answer_of([0.0] * 16, [1.0] * 80)
    assert found.p_value() * 20 <= 0.05
    assert found.interval().high < -0.5


def test_what_did_not_happen_is_not_ruled_out():
    low, high = answer_of([1.0] * 5, [1.0] * 95).interval()
    assert low == pytest.approx(-(1 - 0.025 ** (1 / 5)))
    assert high == pytest.approx(1 - 0.025 ** (1 / 95))


def test_the_smallest_p_is_known_beforehand():
    assert answer_of([0, 0], [1, 1, 1]).least_p == pytest.approx(2 / 10)
    assert answer_of([0, 0], [1, 1, 1]).p_value() == pytest.approx(2 / 10)
    assert answer_of([0.5] * 30, [0.5] * 60).least_p < 0.001


def test_clusters_are_units():
    values = [1, 1, 1, 1, 0, 0, 0, 0] * 2
    clusters = [at // 4 for at in range(16)]
    inside = [one in (0, 2) for one in clusters]
    found = two_sample_test(values, inside, clusters)
    assert (found.n, found.rest, found.difference) == (2, 2, 1.0)
    assert found.p_value() == pytest.approx(2 / 6)
    assert two_sample_test(values, inside).p_value() < 0.01


def test_too_few_units():
    assert answer_of([0.5], [0.1, 0.2]) is None
    assert answer_of([0.5, math.nan], [0.1, 0.2]) is None


@pytest.mark.parametrize("n", [1500, 4000])
def test_many_units_are_like_the_normal_distribution(n):
    values = np.random.default_rng(3).beta(2, 5, n)
    inside = np.arange(n) % 3 == 0
    lower = two_sample_test(values - 0.02 * inside, inside)
    spread = values.std() * math.sqrt(1 / inside.sum() + 1 / (n - inside.sum()))
    z = lower.difference / spread
    assert lower.p_below() == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=0.01)


SKEWED = {
    "average precision": lambda rng, n: np.where(rng.random(n) < 0.3, 1.0, rng.beta(0.35, 1.4, n)),
    "nDCG with a few zeros": lambda rng, n: np.where(
        rng.random(n) < 0.025, 0.0, rng.uniform(0.95, 1.0, n)
    ),
    "hits": lambda rng, n: (rng.random(n) < 0.85).astype(float),
}


@pytest.mark.parametrize("shape", SKEWED)
@pytest.mark.parametrize(("sizes", "tables"), [((3, 4, 4, 5), 200), ((6, 8, 20), 25)])
def test_slices_of_one_distribution_are_seldom_marked(shape, sizes, tables):
    rng = np.random.default_rng([4, len(sizes)])
    parts = np.repeat(np.arange(len(sizes)), sizes)
    groups = [parts == one for one in range(len(sizes))]
    marked = 0
    for _ in range(tables):
        found = two_sample_tests(SKEWED[shape](rng, len(parts)), groups)
        family = family_of([one.p_value() for one in found], [one.least_p for one in found])
        marked += any(p <= 0.05 for p in family.adjusted)
    # At most 0.06 of them, and three standard errors.
    assert marked <= 0.06 * tables + 3 * math.sqrt(0.06 * tables)


@pytest.mark.parametrize("misses", range(8))
def test_two_sides_are_twice_the_smaller_one(misses):
    """Against all ways to put so many misses among seven of sixteen queries."""
    found = answer_of([0] * misses + [1] * (7 - misses), [0, 0, 0] + [1] * 6)
    ways = [math.comb(7, n) * math.comb(9, misses + 3 - n) for n in range(misses + 4)]
    below, above = sum(ways[misses:]) / sum(ways), sum(ways[: misses + 1]) / sum(ways)
    assert found.p_below() == pytest.approx(below)
    assert found.p_above() == pytest.approx(above)
    assert found.p_value() == pytest.approx(min(1.0, 2 * min(below, above)))
