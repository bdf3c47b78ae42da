"""Planning: the power that was promised is the power of the test."""

import numpy as np
import pytest

from calipers.errors import InvalidInput
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_needed import (
    needed_queries,
    visibility,
    visible_difference,
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
    rng = np.random.default_rng(5)
    moved = [sign * (pilot - pilot.mean()) + planned.difference for sign in (1.0, -1.0)]
    shown = [better(rng.choice(one, (100, 60))) for one in moved]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.08)


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


@pytest.mark.parametrize("name", PILOTS)
def test_neither_order_nor_direction_of_the_pilot_matters(name):
    pilot = PILOTS[name]
    turned = -np.random.default_rng(1).permutation(pilot)
    assert visible_difference(pilot, 30) == visible_difference(turned, 30)


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
        assert 0.2 * seen.smallest < seen.wanted <= 0.6 * seen.smallest
    # No number is given where even the largest difference would often be missed.
    assert visibility([0.0] * 7 + [0.5], alpha=0.01, largest=0.5).why_not == "too few moved"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda pilot: visible_difference(pilot[:2]), "pilot is too small"),
        (lambda pilot: visible_difference(pilot, power=1.0), "power"),
        (lambda pilot: needed_queries(pilot, 0.0), "other than 0"),
        (lambda pilot: visible_difference(pilot, 1), "at least 6"),
        (lambda pilot: visible_difference(0.0 * pilot), "all of them are equal"),
        (lambda pilot: needed_queries(pilot, 1e-9), "too small to plan for"),
    ],
)
def test_bad_input(ask, said):
    with pytest.raises(InvalidInput, match=said):
        ask(PILOTS["normal"])


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
