"""The share of exact neighbours that an index found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.index_share import share_found


@given(st.permutations(range(8)), st.permutations(range(8)), st.integers(1, 8))
def test_without_ties_it_is_the_overlap(exact, found, k):
    expected = len(set(exact[:k]) & set(found[:k])) / k
    assert share_found(exact, found, k) == expected
    assert share_found(exact, found, k, exact_scores=np.arange(8.0) + 1) == expected


@given(
    st.lists(st.integers(1, 4), min_size=8, max_size=8),
    st.permutations(range(8)),
    st.integers(1, 8),
)
def test_any_order_of_equal_distances_is_perfect(distances, order, k):
    exact = sorted(range(8), key=lambda one: distances[one])
    other = sorted(order, key=lambda one: distances[one])
    scores = [distances[one] for one in exact]
    assert share_found(exact, other, k, exact_scores=scores) == 1.0
    # Exact search that lists no more than k: the index's own distances tell its equals.
    short = share_found(
        exact[:k], other, k, exact_scores=scores[:k], found_scores=[distances[one] for one in other]
    )
    assert short == 1.0


def test_an_equal_of_the_last_does_not_make_up_for_a_nearer_one():
    assert share_found([1, 2, 3], [2, 3], k=2, exact_scores=[0.1, 0.5, 0.5]) == 0.5


def test_an_id_found_twice_counts_once():
    assert share_found([1, 2], [1, 1], k=2) == 0.5


def test_too_few_exact_ids_are_refused():
    with pytest.raises(InvalidInput, match="lists 5 neighbours, and the recall at k = 10"):
        share_found(range(5), range(10), k=10)
    with pytest.raises(InvalidInput, match="an id twice"):
        share_found([1, 1], [1, 2], k=2)
    with pytest.raises(InvalidInput, match="exact scores do not fit"):
        share_found([1, 2], [1, 2], k=2, exact_scores=[1.0])
