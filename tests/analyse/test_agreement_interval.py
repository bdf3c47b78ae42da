"""Intervals of agreement."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.analyse.agreement import cohen_kappa, krippendorff_alpha
from calipers.analyse.agreement_interval import agreement_interval


def kappa(table):
    return cohen_kappa(table).value


def alpha(table):
    return krippendorff_alpha(table, ["a", "b", "c"]).value


@given(st.integers(5, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_value_lies_within_and_nothing_above_one(n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    table = np.where(rng.random((n, 3)) < 0.3, rng.integers(0, 3, (n, 3)), truth[:, None])
    table = np.where(rng.random((n, 3)) < 0.1, np.nan, table)
    ends = agreement_interval(table, alpha)
    if ends is not None:
        assert ends.low <= alpha(table) <= ends.high <= 1.0


def test_against_the_jackknife_row_by_row():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 2, (20, 2)).astype(float)
    gaps = np.array([1 - kappa(np.delete(table, row, axis=0)) for row in range(20)])
    whole = 1 - kappa(table)
    margin = 2.093024 * np.sqrt(19 / 20 * ((gaps - gaps.mean()) ** 2).sum()) / whole
    expected = 1 - whole * np.exp(margin), 1 - whole * np.exp(-margin)
    assert agreement_interval(table, kappa) == pytest.approx(expected, abs=1e-6)


def test_full_agreement_is_not_certain():
    table = np.array([[0, 0], [1, 1]] * 10, float)
    low, high = agreement_interval(table, kappa)
    assert 0.4 < low < 1.0
    assert high == 1.0
    assert agreement_interval(np.repeat(table, 5, axis=0), kappa).low > low


def test_no_value_no_interval():
    assert agreement_interval(np.ones((10, 2)), kappa) is None
    assert agreement_interval(np.array([[1.0, 0.0]]), kappa) is None
