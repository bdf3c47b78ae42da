import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.score_interval import normal_cdf, normal_quantile, t_quantile

DEGREES = [1, 1.5, 2, 3, 4, 5, 9, 39, 99, 100, 101, 1_000, 5_000, 100_000, 1_000_000]
PROBABILITIES = [1e-9, 1e-6, 1e-3, 0.01, 0.025, 0.1, 0.3, 0.499, 0.6, 0.9, 0.975, 0.995, 0.99999]


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("p", PROBABILITIES)
def test_t_agrees_with_scipy(df, p):
    expected = stats.t.ppf(p, df)
    assert t_quantile(p, df) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("z", [-30.0, -8.0, -1.96, 0.0, 0.5, 3.0])
def test_normal_cdf_agrees_with_scipy(z):
    assert normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_normal_quantile_agrees_with_scipy(p):
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1, 1e6))
def test_t_is_symmetric(p, df):
    assert t_quantile(p, df) == pytest.approx(-t_quantile(1.0 - p, df), rel=1e-6, abs=1e-9)
    assert t_quantile(0.5, df) == 0.0


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, math.nan])
def test_impossible_probability_is_refused(p):
    with pytest.raises(InvalidInput, match=r"probability of a quantile is .*above 0 and below 1"):
        t_quantile(p, 3)
    with pytest.raises(InvalidInput, match=r"probability of a quantile is .*above 0 and below 1"):
        normal_quantile(p)


@pytest.mark.parametrize("df", [0, -1, math.inf, math.nan])
def test_impossible_degrees_of_freedom_are_refused(df):
    with pytest.raises(InvalidInput, match=r"degrees of freedom is .*above 0"):
        t_quantile(0.9, df)
