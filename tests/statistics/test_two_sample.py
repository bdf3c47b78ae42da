"""Two groups of unequal spread."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.statistics.score_interval import score_interval
from calipers.statistics.two_sample import unequal_interval, unequal_p

GROUP = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=2, max_size=30)


@given(GROUP, GROUP)
@settings(max_examples=50)
def test_p_value_and_interval_agree(first, second):
    p = unequal_p(first, second)
    for level in (0.8, 0.95):
        low, high = unequal_interval(first, second, level)
        if min(abs(low), abs(high)) > 1e-6:
            assert (low < 0 < high) == (p > 1 - level)


@given(GROUP, GROUP)
@settings(max_examples=50)
def test_the_other_way_round_it_is_the_same(first, second):
    low, high = unequal_interval(first, second)
    assert unequal_interval(second, first) == pytest.approx((-high, -low))
    assert unequal_p(first, second) == pytest.approx(unequal_p(second, first), rel=1e-6)


def test_newcombe_by_hand():
    one, other = [1.0] * 9 + [0.0], [0.5, 0.25, 0.75, 0.5]
    a, b = score_interval(one), score_interval(other)
    low = 0.4 - np.hypot(0.9 - a.low, b.high - 0.5)
    assert unequal_interval(one, other).low == pytest.approx(low)


def test_too_few_values():
    assert unequal_p([0.5], [0.1, 0.2]) is None
    assert unequal_interval([0.5], [0.1, 0.2]) is None
