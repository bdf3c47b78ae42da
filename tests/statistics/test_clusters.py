"""Units: queries and clusters of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.clusters import as_units

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
