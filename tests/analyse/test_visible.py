import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.analyse.paired import randomisation_test
from calipers.analyse.power import power_of_paired_test
from calipers.analyse.visible import fewest_queries, rounder_below, visibility
from calipers.errors import InvalidInput


def test_the_smallest_difference_has_the_promised_power_and_so_has_the_wanted_one():
    differences = np.random.Generator(np.random.PCG64(1)).normal(0.02, 0.3, 40)
    seen = visibility(differences, alpha=0.05, tests=4)
    spread = float(differences.std(ddof=1))
    assert seen.alpha == 0.0125
    assert power_of_paired_test(seen.smallest, spread, 40, seen.alpha) == pytest.approx(0.8)
    assert seen.wanted < seen.smallest
    assert power_of_paired_test(seen.wanted, spread, seen.needed, seen.alpha) >= 0.8
    assert power_of_paired_test(seen.wanted, spread, seen.needed - 1, seen.alpha) < 0.8


def test_more_tests_see_less():
    differences = [0.3, -0.3, 0.1, 0.2, -0.1] * 8
    one, many = (visibility(differences, tests=tests) for tests in (1, 20))
    assert one.smallest < many.smallest


def test_undefined_differences_are_left_out():
    nan = float("nan")
    with_gaps = visibility([0.3, nan, -0.3, 0.1] * 5)
    assert with_gaps == visibility([0.3, -0.3, 0.1] * 5)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 10, 0.25])
def test_fewest_queries_are_those_whose_most_extreme_outcome_passes(alpha):
    fewest = fewest_queries(alpha)
    assert randomisation_test([0.5] * fewest) <= alpha
    assert randomisation_test([0.5] * (fewest - 1)) > alpha


def test_too_few_queries_see_nothing():
    seen = visibility([0.9, 1.0, 0.8, 0.7, 0.6])
    assert (seen.smallest, seen.why_not, seen.fewest) == (None, "too few queries", 6)
    assert visibility([]).why_not == "too few queries"


@pytest.mark.parametrize("value", [0.0, 0.25])
def test_equal_differences_say_nothing_of_the_spread(value):
    seen = visibility([value] * 30)
    assert (seen.smallest, seen.needed, seen.why_not) == (None, None, "no spread")


@given(st.floats(1e-6, 1e6))
def test_the_rounder_number_is_below_and_not_far(value):
    rounder = rounder_below(value)
    assert rounder <= value * (1 + 1e-9)
    assert rounder > value / 2.5
    assert f"{rounder:e}"[0] in "125"


def test_no_tests_are_refused():
    with pytest.raises(InvalidInput, match="number of tests is 0"):
        visibility([0.1, 0.2], tests=0)
