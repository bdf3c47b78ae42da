import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.analyse.power import (
    power_of_paired_test,
    queries_needed,
    smallest_detectable_difference,
)
from calipers.errors import InvalidInput


def scipy_power(difference, sd, n, alpha=0.05):
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    shift = difference / sd * math.sqrt(n)
    return stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)


@pytest.mark.parametrize("n", [3, 4, 5, 8, 12, 30, 100, 1_000, 100_000])
@pytest.mark.parametrize("shift", [0.1, 1.0, 2.8, 5.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_power_agrees_with_the_noncentral_t_of_scipy(n, shift, alpha):
    difference = shift / math.sqrt(n)
    expected = scipy_power(difference, 1.0, n, alpha)
    assert power_of_paired_test(difference, 1.0, n, alpha) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [2, 5, 12, 50])
def test_power_agrees_with_simulation(n):
    difference = smallest_detectable_difference(n, sd=0.2)
    random = np.random.Generator(np.random.PCG64(n))
    samples = random.normal(difference, 0.2, size=(n, 20_000))
    rejected = np.mean(stats.ttest_1samp(samples, 0.0).pvalue < 0.05)
    # The standard error of the share is 0.0028.
    assert rejected == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("effect", [4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.01])
def test_queries_needed_is_the_first_number_that_is_enough(effect):
    n = queries_needed(effect, 1.0)
    assert scipy_power(effect, 1.0, n) >= 0.8
    assert scipy_power(effect, 1.0, n - 1) < 0.8


@given(st.integers(2, 5_000), st.floats(0.01, 10))
def test_the_two_questions_answer_each_other(n, sd):
    difference = smallest_detectable_difference(n, sd)
    # A hair above, as the answer sits on the edge.
    assert queries_needed(difference * (1 + 1e-9), sd) == n


@given(st.integers(2, 2_000))
def test_more_queries_see_smaller_differences(n):
    assert smallest_detectable_difference(n + 1, 0.3) < smallest_detectable_difference(n, 0.3)


def test_direction_does_not_matter():
    assert queries_needed(-0.05, 0.2) == queries_needed(0.05, 0.2) == 128
    assert power_of_paired_test(-0.05, 0.2, 50) == power_of_paired_test(0.05, 0.2, 50)


def test_without_difference_power_is_alpha():
    assert power_of_paired_test(0.0, 0.2, 25) == pytest.approx(0.05)


def test_without_spread_everything_shows():
    assert smallest_detectable_difference(10, 0.0) == 0.0
    assert queries_needed(0.01, 0.0) == 2
    assert power_of_paired_test(0.01, 0.0, 2) == 1.0


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_queries_detect_nothing(n):
    assert smallest_detectable_difference(n, 0.2) is None
    with pytest.raises(InvalidInput, match=f"Too few queries for a paired test: found {n}"):
        power_of_paired_test(0.1, 0.2, n)


def test_wrong_input_is_refused():
    with pytest.raises(InvalidInput, match="difference of 0"):
        queries_needed(0.0, 0.2)
    with pytest.raises(InvalidInput, match="too small to plan for"):
        queries_needed(1e-9, 0.2)
    with pytest.raises(InvalidInput, match="difference is not usable: found nan"):
        queries_needed(math.nan, 0.2)
    with pytest.raises(InvalidInput, match="standard deviation is out of range: found -1"):
        smallest_detectable_difference(10, -1)
    with pytest.raises(InvalidInput, match=r"power is out of range: found 0\.01"):
        smallest_detectable_difference(10, 1, power=0.01)
    with pytest.raises(InvalidInput, match="alpha is out of range: found 5"):
        smallest_detectable_difference(10, 1, alpha=5)
