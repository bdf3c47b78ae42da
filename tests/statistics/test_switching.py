"""New minus old from few labelled queries: exact at the end, honest on the way."""

import math

import numpy as np
import pytest
from scipy import stats

from calipers.statistics.switching import (
    draw_order,
    level_of,
    looks_of,
    many_lost,
    switch_totals,
    verdict_of,
)


def totals(differences, sizes, level=0.0125):
    found = switch_totals(differences, sizes, level)
    return float(found.low), float(found.estimate), float(found.high)


def test_all_labels_leave_nothing_open():
    assert totals([1.0, -2.0, 0.0], [1.0, 2.0, 3.0]) == (-1.0, -1.0, -1.0)


def test_the_interval_is_within_what_is_possible_and_closes():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 6, 80).astype(float)
    differences = np.round(sizes * rng.uniform(-1, 1, 80))
    widths = []
    for n in (10, 20, 40, 79):
        low, _, high = totals(differences[:n], sizes)
        assert differences[:n].sum() - sizes[n:].sum() <= low <= high
        assert high <= differences[:n].sum() + sizes[n:].sum()
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_exchanging_the_runs_exchanges_the_signs():
    sizes, differences = np.array([3.0, 1, 2, 2, 1, 4]), np.array([-3.0, 1, 0, 2])
    low, middle, high = totals(differences, sizes)
    assert totals(-differences, sizes) == pytest.approx((-high, -middle, -low))


def test_one_more_relevant_new_result_never_lowers_an_end():
    sizes = np.full(60, 2.0)
    differences = np.zeros(20)
    for at in range(20):
        more = differences.copy()
        more[at] += 1
        for before, after in zip(totals(differences, sizes), totals(more, sizes), strict=True):
            assert after >= before - 1e-12


def test_rare_collapses_are_left_possible():
    # 20 of 400 queries labelled, none changed in relevance: 1 % of collapses is not ruled out.
    low, _, _ = totals(np.zeros(20), np.full(400, 5.0))
    assert low < -0.01 * 400 * 5


def test_queries_are_drawn_by_size_and_not_by_order():
    rng = np.random.default_rng(3)
    sizes = np.tile([1.0, 3.0, 0.0], (4000, 1))
    first = draw_order(sizes, rng)[:, 0]
    assert (first == 1).mean() == pytest.approx(0.75, abs=0.03)
    assert not (first == 2).any()


def test_looks_share_the_error():
    assert looks_of(400) == (10, 20, 40, 80, 160, 320, 400)
    assert level_of(400) < 0.025
    assert level_of(9) == pytest.approx(0.025)


def test_verdicts():
    assert verdict_of(0.0, 0.0, 0.2) == "safe"
    assert verdict_of(-0.1, -0.01, 0.2) == "small loss"
    # What is allowed may be lost, and no more.
    assert verdict_of(-0.2, 0.1, 0.2) == "safe"
    assert verdict_of(-0.2, -0.1, 0.2) == "small loss"
    assert verdict_of(-0.21, -0.1, 0.2) == "loss"
    assert verdict_of(-0.21, 0.0, 0.2) == "open"


@pytest.mark.parametrize("lost", range(0, 15, 2))
def test_many_lost_is_a_sign_test(lost):
    for won in range(lost + 3):
        differences = np.array([-1.0] * lost + [0.5] * won + [0.0])
        n = lost + won
        tail = sum(math.comb(n, wins) for wins in range(won + 1)) / 2**n
        assert many_lost(differences) == (lost > won and tail < 0.01), won


def test_the_estimate_is_that_of_a_loop():
    """Of six queries four are labelled, drawn by size; each says how much the rest will change."""
    differences = [1.0, -1.0, 0.5, 2.0]
    sizes = [3.0, 2.0, 1.0, 4.0, 2.0, 3.0]
    whole = sum(sizes)
    guesses, weights = [], []
    for at, difference in enumerate(differences):
        left = sum(sizes[at:])
        guesses.append(sum(differences[:at]) + left * difference / sizes[at])
        weights.append((whole / left) ** 2)
    total = sum(weights) + 2.0
    estimate = sum(guess * weight for guess, weight in zip(guesses, weights, strict=True)) / total
    low, middle, high = totals(np.array(differences), np.array(sizes), 0.3)
    assert middle == pytest.approx(estimate)
    # The pseudo-differences -1 and 1 are two more draws of the whole.
    squares = 2.0 + 2.0 * (estimate / whole) ** 2
    for at, difference in enumerate(differences):
        expected = (estimate - sum(differences[:at])) / sum(sizes[at:])
        squares += (difference / sizes[at] - expected) ** 2
    half = stats.t.ppf(0.7, 5) * math.sqrt(squares / 5) * whole / math.sqrt(total)
    known = sum(differences)
    assert low == pytest.approx(max(estimate - half, known - sum(sizes[4:])))
    assert high == pytest.approx(min(estimate + half, known + sum(sizes[4:])))
