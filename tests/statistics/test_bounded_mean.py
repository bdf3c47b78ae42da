"""Bounds of the mean of bounded values: Gaffke's and Stringer's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics import bounded_mean, score_interval
from calipers.statistics.bounded_mean import (
    largest_bounded_mean,
    largest_mean,
    rising_root,
    upper_shares,
)

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@pytest.mark.parametrize(("ones", "n"), [(0, 2), (0, 20), (3, 20), (19, 20), (40, 100)])
@pytest.mark.parametrize("alpha", [0.2, 0.025, 0.001])
def test_for_hits_it_is_the_exact_limit_of_a_share(ones, n, alpha):
    expected = stats.beta.ppf(1 - alpha, ones + 1, n - ones)
    found = largest_bounded_mean(np.repeat([1.0, 0.0], [ones, n - ones]), 1.0, alpha)
    assert found == pytest.approx(expected, rel=0.012)


def test_for_other_values_it_is_the_quantile_of_random_weights():
    rng = np.random.default_rng(1)
    values = np.concatenate([np.zeros(15), [-1.0, 0.4, 0.7]])
    drawn = rng.dirichlet(np.ones(19), 100_000) @ np.append(values, 1.0)
    assert largest_bounded_mean(values, 1.0, 0.05) == pytest.approx(
        np.quantile(drawn, 0.95), abs=3e-3
    )


@given(VALUES, st.integers(0, 29), st.floats(0, 1), st.randoms())
def test_laws(values, which, higher, random):
    column = np.array(values)
    bound = largest_bounded_mean(column, 1.0, 0.025)
    # Above the mean, within the range, whatever the order.
    assert column.mean() - 1e-9 <= bound <= 1.0 + 1e-9
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert largest_bounded_mean(np.array(shuffled), 1.0, 0.025) == bound
    # Raising a value never lowers it, and more certainty never either.
    raised = column.copy()
    raised[which % len(column)] = max(raised[which % len(column)], higher)
    assert largest_bounded_mean(raised, 1.0, 0.025) >= bound - 1e-3
    assert largest_bounded_mean(column, 1.0, 0.001) >= bound - 1e-9


def test_equal_values_at_the_end_of_the_range_leave_nothing_open():
    assert largest_bounded_mean(np.ones(5), 1.0, 0.05) == 1.0


def test_the_root_of_a_step_is_where_it_rises():
    assert rising_root(lambda x: -1.0 if x < 0.3 else 2.0, 0.0, 1.0, 1e-9) == pytest.approx(0.3)


LOSSES = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=1, max_size=60)


@given(st.integers(1, 5000), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_of_shares_are_exact(n, data, level):
    counts = np.array(sorted(data.draw(st.sets(st.integers(0, n), min_size=1, max_size=5))))
    expected = np.where(counts < n, stats.beta.ppf(level, counts + 1, np.maximum(n - counts, 1)), 1)
    assert upper_shares(n, counts, level) == pytest.approx(expected, abs=1e-10)


@given(LOSSES)
def test_stringer_s_sum(losses):
    sizes = sorted((loss for loss in losses if loss), reverse=True)
    p = upper_shares(len(losses), np.arange(len(sizes) + 1.0), 0.95)
    expected = p[0] + sum((p[j + 1] - p[j]) * size for j, size in enumerate(sizes))
    assert largest_mean(losses) == pytest.approx(min(1.0, expected), abs=1e-9)


@given(LOSSES)
def test_it_lies_above_the_mean_and_more_values_bring_it_down(losses):
    assert largest_mean(losses) >= np.mean(losses)
    assert largest_mean(np.tile(losses, 4)) <= largest_mean(losses) + 1e-9


def test_many_losses_are_merged_on_the_safe_side():
    losses = np.random.default_rng(0).random(5000) * 0.1
    merged = largest_mean(losses)
    sizes = np.sort(losses)[::-1]
    p = stats.beta.ppf(0.95, np.arange(5000) + 1, 5000 - np.arange(5000.0))
    exact = p[0] + float((np.diff(np.append(p, 1.0)) * sizes).sum())
    assert exact <= merged <= exact + 0.002


def test_losses_are_shares():
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        largest_mean([1.5])


@pytest.mark.parametrize("n", [1_000, 20_000, 100_000])
def test_the_limits_of_many_queries_take_few_steps(n, monkeypatch):
    """The fraction once ran on below rounding: 2,439 steps for 20,000 queries."""
    steps = []

    def counted(first, last):
        steps.append(0)
        for step in range(first, last):
            steps[-1] += 1
            yield step

    monkeypatch.setattr(score_interval, "range", counted, raising=False)
    bounded_mean._upper_shares.cache_clear()
    counts = np.linspace(0.0, 0.3 * n, 50).round()
    found = upper_shares(n, counts, 0.95)
    assert max(steps) <= 4 * math.sqrt(n) / 5 + 30
    assert found == pytest.approx(stats.beta.ppf(0.95, counts + 1, n - counts), abs=1e-11)
