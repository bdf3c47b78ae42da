"""A group against the rest: the laws of the permutation test, and what it marks by chance."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.two_sample import group_tests, step_down

SIXTHS = st.integers(0, 6).map(lambda n: n / 6)
GROUP = st.lists(SIXTHS, min_size=2, max_size=14)
FEW = settings(max_examples=20, deadline=None)
NOISE = 0.015
"""Of a p-value from 20,000 draws: four standard errors, twice."""


def answer_of(first, second, clusters=None):
    inside = [True] * len(first) + [False] * len(second)
    return group_tests([*first, *second], [inside], clusters)[0]


def by_hand(first, second):
    """Twice the smaller share of all groups of that size whose mean lies as far out."""
    values, size = [*first, *second], len(first)
    sums = np.array(
        [sum(values[at] for at in one) for one in combinations(range(len(values)), size)]
    )
    tails = [np.mean(sums >= sum(first) - 1e-9), np.mean(sums <= sum(first) + 1e-9)]
    return min(1.0, 2 * min(tails))


@given(st.lists(SIXTHS, min_size=2, max_size=6), st.lists(SIXTHS, min_size=2, max_size=6))
@FEW
def test_it_is_the_share_of_all_groups(first, second):
    assert answer_of(first, second).p == pytest.approx(by_hand(first, second), abs=2 * NOISE)


def test_hits_and_misses_are_fishers_exact_test():
    exact = 2 * math.comb(12, 3) / math.comb(54, 3)
    assert answer_of([0] * 3 + [1] * 9, [1] * 42).p == pytest.approx(exact, abs=0.004)


def test_a_mean_of_clusters_is_over_their_queries():
    """Four clusters of 1 to 4 queries in a group, three outside: of all 35 groups of four."""
    values = [[1.0], [1.0, 0.5], [0.5, 0.5, 1.0], [1.0] * 4, [0.0], [0.5, 0.0], [0.5, 0.0, 0.5]]
    clusters = [str(at) for at, unit in enumerate(values) for _ in unit]
    found = group_tests(
        [value for unit in values for value in unit],
        [[int(name) < 4 for name in clusters]],
        clusters,
    )[0]
    differences = [
        np.mean([value for at in chosen for value in values[at]])
        - np.mean([value for at in range(7) if at not in chosen for value in values[at]])
        for chosen in combinations(range(7), 4)
    ]
    above = np.mean(np.array(differences) >= differences[0] - 1e-9)
    below = np.mean(np.array(differences) <= differences[0] + 1e-9)
    assert found.p == pytest.approx(2 * min(above, below), abs=2 * NOISE)


@given(GROUP, GROUP, st.data())
@FEW
def test_lowering_a_value_of_the_lower_group_never_weakens_it(first, second, data):
    at = data.draw(st.integers(0, len(first) - 1))
    lowered = [*first]
    lowered[at] = max(0.0, lowered[at] - data.draw(SIXTHS))
    before, after = answer_of(first, second), answer_of(lowered, second)
    if np.mean(first) < np.mean(second):
        assert after.p <= before.p + 2 * NOISE


@given(GROUP, GROUP)
@FEW
def test_exchanging_the_sides_changes_nothing(first, second):
    inside = np.array([True] * len(first) + [False] * len(second))
    one, other = group_tests([*first, *second], [inside, ~inside])
    # Two halves of all queries are one test.
    assert one.p == other.p == one.adjusted == other.adjusted


@given(GROUP, GROUP, GROUP, st.randoms(use_true_random=False))
@FEW
def test_the_order_of_queries_and_groups_is_no_matter(first, second, third, random):
    parts = [one for one, some in enumerate((first, second, third)) for _ in some]
    # Where two groups have exactly the same p, the draws decide which comes first.
    values = [one + 0.01 * at**0.5 for at, one in enumerate((*first, *second, *third))]
    ordered = [*zip(values, parts, strict=True)]
    shuffled = random.sample(ordered, len(ordered))

    def found(pairs, names):
        values, named = zip(*pairs, strict=True)
        tests = group_tests(values, [np.array(named) == name for name in names])
        return {name: (test.p, test.adjusted) for name, test in zip(names, tests, strict=True)}

    one = found(ordered, (0, 1, 2))
    for name, (p, adjusted) in found(shuffled, (2, 0, 1)).items():
        assert (p, adjusted) == pytest.approx(one[name], abs=2 * NOISE)
        assert adjusted >= p


@given(GROUP, GROUP)
@FEW
def test_more_of_the_same_never_weakens_what_is_marked(first, second):
    if answer_of(first, second).p <= 0.04:
        assert answer_of(first * 2, second * 2).p <= 0.05


def test_clusters_are_units():
    values = [1, 1, 1, 1, 0, 0, 0, 0] * 2
    clusters = [at // 4 for at in range(16)]
    inside = [one in (0, 2) for one in clusters]
    [found] = group_tests(values, [inside], clusters)
    assert found.p == pytest.approx(2 / 6, abs=NOISE)
    assert group_tests(values, [inside])[0].p < 0.01
    # One unit, or one with a value, is too few.
    assert answer_of([0.5], [0.1, 0.2]) is answer_of([0.5, math.nan], [0.1, 0.2]) is None


@pytest.mark.parametrize("n", [1500, 40_000])
def test_many_units_are_like_the_normal_distribution(n):
    values = np.random.default_rng(3).beta(2, 5, n)
    inside = np.arange(n) % 3 == 0
    spread = values.std() * math.sqrt(1 / inside.sum() + 1 / (n - inside.sum()))
    [lower] = group_tests(values - 2 * spread * inside, [inside])
    lowered = values - 2 * spread * inside
    z = abs(lowered[inside].mean() - lowered[~inside].mean()) / spread
    assert lower.p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.01)


def test_a_row_that_cannot_be_marked_costs_the_others_nothing():
    draws = np.linspace(0.0, 1.0, 1000)
    alone = step_down(np.array([[0.04, *draws]]))
    beside = step_down(np.array([[0.04, *draws], [0.5, *np.full(1000, 0.5)]]))
    assert beside[0] == alone[0]
    same = step_down(np.array([[0.04, *draws], [0.04, *draws]]))
    assert same.tolist() == [alone[0]] * 2
