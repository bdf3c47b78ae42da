"""Fisher's exact test against whole numbers."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.statistics.fisher import more_often


def by_counting(hits, of, other_hits, others):
    dealt = hits + other_hits
    some = range(hits, min(of, dealt) + 1)
    ways = sum(comb(of, one) * comb(others, dealt - one) for one in some)
    return float(Fraction(ways, comb(of + others, dealt)))


@given(st.data(), st.integers(1, 40), st.integers(1, 60))
def test_it_is_the_exact_tail(data, of, others):
    hits = data.draw(st.integers(0, of))
    other_hits = data.draw(st.integers(0, others))
    expected = by_counting(hits, of, other_hits, others)
    assert more_often(hits, of, other_hits, others) == pytest.approx(expected, rel=1e-9)


@given(st.data(), st.integers(2, 40), st.integers(1, 60))
def test_one_more_hit_never_raises_p(data, of, others):
    hits = data.draw(st.integers(0, of - 1))
    other_hits = data.draw(st.integers(0, others))
    p = more_often(hits, of, other_hits, others)
    assert more_often(hits + 1, of, other_hits, others) <= p + 1e-12
    if other_hits < others:
        assert more_often(hits, of, other_hits + 1, others) >= p - 1e-12
