import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.statistics.clusters import exact_sum

# Repeated, so that a column is long enough for the quick way.
LONG = 300
values = st.floats(min_value=-1e300, max_value=1e300, allow_nan=False)


@given(st.lists(values, min_size=2, max_size=20))
def test_equals_fsum_to_the_last_bit(some):
    column = np.array(some * LONG)
    assert exact_sum(column) == math.fsum(column.tolist())


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.randoms())
def test_does_not_depend_on_the_order(some, random):
    shuffled = some * LONG
    random.shuffle(shuffled)
    assert exact_sum(np.array(shuffled)) == exact_sum(np.array(some * LONG))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-20, 1.0, 1e20, 1e300])
def test_holds_over_the_whole_range_of_floats(scale):
    column = np.linspace(-0.3, 1.0, 1001) * scale
    assert exact_sum(column) == math.fsum(column.tolist())


def test_small_values_beside_large_ones_are_not_lost():
    column = np.array([1e16, 1.0, -1e16, 1.0] * LONG)
    assert exact_sum(column) == 2.0 * LONG


def test_nothing_adds_up_to_nothing():
    assert exact_sum(np.empty(0)) == 0.0
    assert exact_sum(np.zeros(1000)) == 0.0
