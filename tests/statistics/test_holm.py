import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.statistics.holm import holm

p_lists = st.lists(st.floats(0, 1), max_size=12)


def naive_holm(p_values):
    """The adjusted value of p: the largest of (m - rank) * p over itself and all smaller ones."""
    ordered = sorted(p_values)
    m = len(ordered)
    return [
        min(1.0, max((m - rank) * q for rank, q in enumerate(ordered) if q <= p)) for p in p_values
    ]


@given(p_lists)
def test_agrees_with_the_naive_form(p_values):
    assert holm(p_values) == naive_holm(p_values)


@given(p_lists)
def test_never_below_the_raw_value_and_in_the_same_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= a <= 1.0 for p, a in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert all(np.diff(np.array(adjusted)[order]) >= 0)


@given(p_lists, st.integers(0, 12))
def test_what_was_not_tested_stays_and_does_not_count(p_values, at):
    at = min(at, len(p_values))
    adjusted = holm(p_values)
    assert holm([*p_values[:at], None, *p_values[at:]]) == [*adjusted[:at], None, *adjusted[at:]]
    with_nan = holm([*p_values[:at], math.nan, *p_values[at:]])
    assert math.isnan(with_nan.pop(at))
    assert with_nan == adjusted


def test_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_input_is_not_changed():
    p_values = [0.01, 0.02]
    holm(p_values)
    assert p_values == [0.01, 0.02]


@pytest.mark.parametrize("p", [-0.01, 1.01, math.inf])
def test_what_is_not_a_probability_is_refused(p):
    with pytest.raises(InvalidInput, match="position 1: found"):
        holm([0.5, p])
