"""The closed interval of a mean."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.score_interval import score_ends
from tests.statistics.ends import score_interval

SCORES = st.lists(st.integers(0, 60).map(lambda n: n / 60), min_size=2, max_size=60)
LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@given(SCORES, LEVELS)
def test_it_holds_the_mean_and_stays_in_bounds(values, level):
    low, high = score_interval(values, level)
    assert 0.0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1.0


@given(SCORES, st.randoms())
def test_any_order_gives_the_same_bits(values, random):
    shuffled = random.sample(values, len(values))
    assert score_interval(values) == score_interval(shuffled)


@given(SCORES)
def test_more_confidence_is_wider(values):
    narrow, wide = score_interval(values, 0.8), score_interval(values, 0.99)
    assert wide.low <= narrow.low
    assert wide.high >= narrow.high


@given(st.lists(st.integers(0, 10), min_size=2, max_size=40))
def test_turned_upside_down_it_is_turned_upside_down(tenths):
    low, high = score_interval([n / 10 for n in tenths])
    up = score_interval([1 - n / 10 for n in tenths])
    assert up == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(SCORES)
@example([0.0, 4 / 60, 26 / 60, 46 / 60, 52 / 60, 52 / 60])
def test_it_scales_with_the_bounds(values):
    low, high = score_interval(values)
    wide = score_interval([10 * value - 5 for value in values], bounds=(-5.0, 5.0))
    assert wide == pytest.approx((10 * low - 5, 10 * high - 5), abs=1e-7)


def test_without_bounds_it_is_the_t_interval():
    values = np.random.default_rng(0).normal(5, 2, 12)
    expected = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert score_interval(values, bounds=None) == pytest.approx(expected)


def test_many_hits_have_nearly_wilson_s_interval():
    hits = np.repeat([1.0, 0.0], [700, 300])
    expected = stats.binomtest(700, 1000).proportion_ci(method="wilson")
    assert score_interval(hits) == pytest.approx(tuple(expected), abs=1e-3)


def test_all_right_has_the_exact_limit():
    exact = stats.binomtest(20, 20).proportion_ci(method="exact")
    assert score_interval([1.0] * 20) == pytest.approx(tuple(exact), abs=1e-9)


def test_by_hand():
    # n = 50, m = 1/2 of values 1/4 and 3/4: v = 50/49/16, and 3 * 0.25 / 2500 on top.
    n, t = 50, stats.t.ppf(0.975, 49)
    worth = n * 0.25 / (50 / 49 / 16 + 3 * 0.25 / 2500)
    pull = t * t / worth
    margin = np.sqrt(pull * 0.25 + pull**2 / 4) / (1 + pull)
    found = score_interval([0.25, 0.75] * 25)
    assert found == pytest.approx((0.5 - margin, 0.5 + margin), abs=1e-9)


def test_many_samples_at_once_are_as_each_alone():
    table = np.random.default_rng(1).random((5, 9))
    low, high = score_ends(table.mean(axis=1), table.var(axis=1, ddof=1), 9, 0.9)
    for row, a, b in zip(table, low, high, strict=True):
        assert score_interval(row, 0.9) == pytest.approx((a, b))


def test_too_few_and_bad_levels():
    assert score_interval([0.5]) is None
    assert score_interval([0.5, float("nan")]) is None
    with pytest.raises(InvalidInput, match="confidence level"):
        score_interval([0.5, 0.6], 1.0)


@pytest.mark.parametrize("n", [40, 100, 400])
@pytest.mark.parametrize("hits", [1, 2, 3])
def test_few_hits_and_few_misses_do_not_promise_too_much(n, hits):
    """Were the share just below the lower end, 9 % of samples at most would have so many hits.

    By Wilson's interval alone, which is not made for so few, it would be 16 %.
    """
    low, high = score_interval([1.0] * hits + [0.0] * (n - hits))
    assert stats.binom.sf(hits - 1, n, low) <= 0.09
    assert 1.0 - score_interval([0.0] * hits + [1.0] * (n - hits)).high == pytest.approx(low)
    assert stats.binom.cdf(hits, n, high) <= 0.05
