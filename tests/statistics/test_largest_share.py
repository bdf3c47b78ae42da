"""The largest mean that losses leave possible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.largest_share import largest_mean, upper_shares

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
    assert largest_mean(losses, times=4.0) <= largest_mean(losses) + 1e-9


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
