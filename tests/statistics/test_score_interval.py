"""The closed interval of a mean."""

from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.score_interval import (
    normal_cdf,
    normal_quantile,
    score_ends,
    t_quantile,
    wilson,
)
from tests.statistics.ends import score_interval

SCORES = st.lists(st.integers(0, 60).map(lambda n: n / 60), min_size=2, max_size=60)
LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@given(SCORES, LEVELS, st.randoms())
@example([0.0, 4 / 60, 26 / 60, 46 / 60, 52 / 60, 52 / 60], 0.95, Random(0))
def test_laws(values, level, random):
    low, high = score_interval(values, level)
    # It holds the mean and stays in bounds, and more confidence is wider.
    assert 0.0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1.0
    wide = score_interval(values, 0.999)
    assert wide.low <= low
    assert wide.high >= high
    # Any order gives the same bits; turned upside down, or scaled, it is turned or scaled.
    assert score_interval(random.sample(values, len(values)), level) == (low, high)
    down = score_interval([1 - value for value in values], level)
    assert down == pytest.approx((1 - high, 1 - low), abs=1e-9)
    wide = score_interval([10 * value - 5 for value in values], level, bounds=(-5.0, 5.0))
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


@pytest.mark.parametrize(("count", "n"), [(0, 9), (3, 9), (9, 9), (70, 100)])
def test_wilson(count, n):
    expected = stats.binomtest(count, n).proportion_ci(method="wilson")
    assert wilson(count, n) == pytest.approx(tuple(expected), abs=1e-9)


DEGREES = [1, 1.5, 2, 3, 4, 5, 9, 39, 99, 100, 101, 1_000, 5_000, 100_000, 1_000_000]
PROBABILITIES = [1e-9, 1e-6, 1e-3, 0.01, 0.025, 0.1, 0.3, 0.499, 0.6, 0.9, 0.975, 0.995, 0.99999]


def test_quantiles_agree_with_scipy():
    for p in PROBABILITIES:
        assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9)
        for df in DEGREES:
            assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9)
    for z in (-30.0, -8.0, -1.96, 0.0, 0.5, 3.0):
        assert normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1, 1e6))
def test_t_is_symmetric(p, df):
    assert t_quantile(p, df) == pytest.approx(-t_quantile(1.0 - p, df), rel=1e-6, abs=1e-9)
    assert t_quantile(0.5, df) == 0.0
