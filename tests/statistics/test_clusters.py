"""Units: queries and clusters of them."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.clusters import (
    as_shares,
    as_units,
    cluster_sizes,
    effective_queries,
    exact_sum,
)
from calipers.statistics.score_interval import score_ends

VALUES = st.lists(st.floats(-1, 1), min_size=2, max_size=40)


@given(VALUES, st.randoms())
def test_any_order_gives_the_same_bits(values, random):
    names = [f"c{random.randrange(4)}" for _ in values]
    rows = list(zip(values, names, strict=True))
    one = as_units(values, names)
    random.shuffle(rows)
    other = as_units([value for value, _ in rows], [name for _, name in rows])
    facts = [(u.n, u.mean, u.variance, u.moves.sum()) for u in (one, other)]
    assert facts[0] == facts[1]


@given(VALUES)
def test_a_cluster_of_one_query_each_is_no_cluster(values):
    plain, each = as_units(values), as_units(values, list(range(len(values))))
    assert each.values == pytest.approx(plain.values, abs=1e-12)
    assert (each.mean, each.moves.sum()) == (plain.mean, plain.moves.sum())


def test_the_variance_is_that_of_a_ratio():
    values, names = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), ["a", "a", "b", "c", "c"]
    units = as_units(values, names)
    # Sums 1, 1, 1 of sizes 2, 1, 2 around a mean of 0.6, over an average size of 5 / 3.
    away = np.array([1 - 1.2, 1 - 0.6, 1 - 1.2]) / (5 / 3)
    assert units.variance == pytest.approx((away**2).sum() / 2)


def test_what_has_no_mean_is_refused():
    with pytest.raises(InvalidInput, match="found inf"):
        as_units([1.0, float("inf")])


# Repeated, so that a column is long enough for the quick way.
LONG = 300
values = st.floats(min_value=-1e300, max_value=1e300, allow_nan=False)


@given(st.lists(values, min_size=0, max_size=20), st.randoms())
@example([1e16, 1.0, -1e16, 1.0], Random(0))
@example(np.linspace(-0.3e-20, 5e-324, 20).tolist(), Random(0))
def test_a_sum_equals_fsum_to_the_last_bit_in_any_order(some, random):
    column = some * LONG
    random.shuffle(column)
    assert exact_sum(np.array(column)) == math.fsum(column)


def coverage(sizes, draws=4000):
    """How often the interval holds 0.66, where most queries of a cluster succeed or fail alike."""
    rng = np.random.default_rng(9)
    rates = np.where(rng.random((draws, len(sizes))) < 0.7, 0.9, 0.1)
    sums, n = rng.binomial(sizes, rates), sizes.sum()
    means = sums.sum(axis=1) / n
    units = means[:, None] + (sums - means[:, None] * sizes) / (n / len(sizes))
    low, high = score_ends(means, units.var(axis=1, ddof=1), len(sizes), 0.95)
    return ((low <= 0.66) & (high >= 0.66)).mean()


def of_sizes(sizes):
    return cluster_sizes(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize(
    ("large", "pairs"),
    [([30], 20), ([60], 50), ([20], 10), ([20], 50), ([20, 20], 50), ([20] * 5, 50), ([15], 20)],
)
def test_clusters_whose_intervals_cover_too_little_are_called_uneven(large, pairs):
    sizes = np.array([*large, *[2] * pairs])
    assert coverage(sizes) < 0.92
    assert of_sizes(sizes).uneven


@pytest.mark.parametrize("clusters", [10, 20, 50, 100])
def test_ordinary_clusters_are_not(clusters):
    rng = np.random.default_rng(clusters)
    even = np.full(clusters, 5)
    assert of_sizes(even).effective == clusters
    for sizes in (even, rng.integers(1, 10, clusters), 1 + rng.poisson(2, clusters)):
        assert coverage(sizes) > 0.92
        assert not of_sizes(sizes).uneven


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), min_size=1, max_size=30))
def test_shares_of_clusters_stand_for_the_mean_loss(rows):
    losses, names = np.array([loss for _, loss in rows]), [name for name, _ in rows]
    shares, scale = as_shares(losses, names)
    assert len(shares) == len(set(names))
    assert ((shares >= 0) & (shares <= 1)).all()
    assert scale * shares.mean() == pytest.approx(losses.mean())
    # A cluster that is lost whole counts with all of its queries.
    whole, scale = as_shares(np.ones(len(rows)), names)
    assert scale * whole.mean() == pytest.approx(1.0)


def test_a_weighted_unit_stands_on_the_side_of_its_value():
    """Twice the weight is twice the distance from the mean, and the mean stays."""
    units = as_units([1.0, 0.0, 0.0], weights=np.array([2.0, 1.0, 1.0]))
    assert units.mean == 0.5
    assert units.values.tolist() == pytest.approx([1.25, 0.125, 0.125])
    assert float(np.mean(units.values)) == pytest.approx(units.mean)


@given(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=9))
def test_unequal_weights_tell_less_than_as_many_queries(weights):
    effective = effective_queries(np.array(weights))
    assert effective == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert 1.0 - 1e-9 <= effective <= len(weights) + 1e-9
