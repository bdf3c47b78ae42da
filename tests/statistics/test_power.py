"""The power that is found by trying is that of the test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.statistics.alternative import Alternatives
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_test import difference
from calipers.statistics.power import DRAWS, numbers_moving, shown_share

RNG = np.random.default_rng(0)
PILOTS = {
    "normal": RNG.normal(0.02, 0.2, 40),
    "skewed": 0.2 - RNG.gamma(2.0, 0.1, 50),
    "ties": np.repeat([-0.5, 0.0, 0.5, 1.0], [4, 40, 4, 2]),
}


@pytest.mark.parametrize("name", PILOTS)
@pytest.mark.parametrize("n", [8, 30, 90])
def test_the_share_shown_is_that_of_the_test(name, n):
    there = Alternatives.of(as_units(PILOTS[name])).at(0.4 / np.sqrt(n))
    rng, shown = np.random.default_rng(5), 0
    for _ in range(400):
        moves = rng.random(n) < there.moving
        values = np.where(moves, rng.choice(there.values, n), there.still)
        found = difference(np.where(moves, values, 0.0), limits=None)
        # Ties lie a little off zero, for the spread to be wider; they count as ties.
        known = difference(values, limits=None)
        known = type(known)(n, found.moving, known.mean, known.variance, known.skewness, 1.0, None)
        shown += known.interval().low > 0
    share = shown_share(there, n, 0.05, 0)
    assert share == pytest.approx(shown / 400, abs=4 * np.sqrt(0.25 / 400 + 0.25 / DRAWS))


@given(st.integers(1, 5000), st.floats(1e-6, 0.999999))
@settings(max_examples=40)
def test_the_numbers_that_move_are_binomial(n, share):
    levels = (np.arange(DRAWS) + 0.5) / DRAWS
    expected = stats.binom.ppf(levels, n, share)
    found = numbers_moving(n, share)
    # A level at the edge of a step may fall to either side.
    assert (found != expected).mean() <= 0.005
    assert np.abs(found - expected).max() <= 1


def test_more_queries_and_larger_differences_show_more():
    for pilot in PILOTS.values():
        ways = Alternatives.of(as_units(pilot))
        by_mean = [shown_share(ways.at(mean), 60, 0.05, 0) for mean in (0.02, 0.05, 0.1, 0.2)]
        by_number = [shown_share(ways.at(0.08), n, 0.05, 0) for n in (10, 20, 40, 80, 160)]
        assert by_mean == sorted(by_mean)
        assert by_number == sorted(by_number)
