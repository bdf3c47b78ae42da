"""Losses beyond what is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.non_inferiority import mean_of_runs, non_inferiority

VALUES = st.lists(st.integers(-6, 6).map(lambda n: n / 6), min_size=2, max_size=40)


@given(VALUES, st.floats(0, 0.5))
def test_the_verdict_is_where_the_one_sided_limits_lie(values, allow):
    found = non_inferiority(values, allow, limits=None)
    high, low = found.difference.high(0.95), found.difference.low(0.95)
    if min(abs(high + allow), abs(low + allow)) < 1e-9:
        return
    expected = "loss shown" if high < -allow else "no loss shown" if low > -allow else "neither"
    assert found.verdict() == expected


@given(VALUES)
def test_what_fails_with_more_allowed_fails_with_less(values):
    strict, lenient = non_inferiority(values, 0.0), non_inferiority(values, 0.1)
    assert lenient.p_loss >= strict.p_loss - 1e-12


def test_runs_are_averaged_in_any_order():
    rng = np.random.default_rng(0)
    runs = list(rng.random((4, 9)))
    assert mean_of_runs(runs).tolist() == mean_of_runs(runs[::-1]).tolist()
    assert mean_of_runs(runs) == pytest.approx(np.mean(runs, axis=0))


def test_bad_input():
    assert non_inferiority([0.1]) is None
    with pytest.raises(InvalidInput, match="allowed loss"):
        non_inferiority([0.1, 0.2], -0.1)
    with pytest.raises(InvalidInput, match="at least one run"):
        mean_of_runs([])
