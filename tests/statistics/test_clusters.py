"""Units: queries and clusters of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.clusters import as_units, exact_sum

VALUES = st.lists(st.floats(-1, 1), min_size=2, max_size=40)


@given(VALUES, st.randoms())
def test_any_order_gives_the_same_bits(values, random):
    names = [f"c{random.randrange(4)}" for _ in values]
    rows = list(zip(values, names, strict=True))
    one = as_units(values, names)
    random.shuffle(rows)
    other = as_units([value for value, _ in rows], [name for _, name in rows])
    facts = [(u.n, u.mean, u.variance, u.skewness, u.moving) for u in (one, other)]
    assert facts[0] == facts[1]


@given(VALUES)
def test_a_cluster_of_one_query_each_is_no_cluster(values):
    plain, each = as_units(values), as_units(values, list(range(len(values))))
    assert each.values == pytest.approx(plain.values, abs=1e-12)
    assert (each.mean, each.moving) == (plain.mean, plain.moving)


def test_the_variance_is_that_of_a_ratio():
    values, names = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), ["a", "a", "b", "c", "c"]
    units = as_units(values, names)
    # Sums 1, 1, 1 of sizes 2, 1, 2 around a mean of 0.6, over an average size of 5 / 3.
    away = np.array([1 - 1.2, 1 - 0.6, 1 - 1.2]) / (5 / 3)
    assert units.variance == pytest.approx((away**2).sum() / 2)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidInput, match="wrong shape"):
        as_units([[1.0]])
    with pytest.raises(InvalidInput, match="3 names for 2 values"):
        as_units([1.0, 2.0], ["a", "b", "c"])
    with pytest.raises(InvalidInput, match="found inf"):
        as_units([1.0, float("inf")])


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
