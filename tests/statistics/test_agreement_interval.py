"""Intervals of agreement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from calipers.labels.agreement import cohen_kappa, krippendorff_alpha
from calipers.statistics.agreement_interval import agreement_interval


def kappa(table):
    return cohen_kappa(table).value


def alpha(table):
    return krippendorff_alpha(table, ["a", "b", "c"]).value


@given(st.integers(5, 40), st.integers(0, 2**32 - 1))
def test_the_value_lies_within_and_nothing_above_one(n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    table = np.where(rng.random((n, 3)) < 0.3, rng.integers(0, 3, (n, 3)), truth[:, None])
    table = np.where(rng.random((n, 3)) < 0.1, np.nan, table)
    ends = agreement_interval(table, alpha)
    if ends is not None:
        assert ends.low <= alpha(table) <= ends.high <= 1.0


def jackknife(table):
    """The ends row by row, as on paper."""
    n = len(table)
    gaps = np.array([1 - kappa(np.delete(table, row, axis=0)) for row in range(n)])
    whole = 1 - kappa(table)
    spread = np.sqrt((n - 1) / n * ((gaps - gaps.mean()) ** 2).sum())
    margin = t.ppf(0.975, n - 1) * spread / whole
    return 1 - whole * np.exp(margin), 1 - whole * np.exp(-margin)


@pytest.mark.parametrize("seed", range(8))
def test_against_the_jackknife_row_by_row(seed):
    table = np.random.default_rng(seed).integers(0, 2, (20, 2)).astype(float)
    rarest = float(table.mean() < 0.5)
    more = {row: jackknife(np.vstack([table, row])) for row in [(0, 1), (1, 0), (rarest, rarest)]}
    low, high = jackknife(table)
    expected = min(low, more[0, 1][0], more[1, 0][0]), max(high, more[rarest, rarest][1])
    assert agreement_interval(table, kappa) == pytest.approx(expected, abs=1e-9)


def test_a_grade_that_nobody_shares_does_not_make_certain():
    table = np.array([[0, 0]] * 16 + [[0, 1], [1, 0]], float)
    low, high = agreement_interval(table, kappa)
    assert jackknife(table)[1] < 0.1
    assert high > 0.5
    assert low >= -1.0


@given(st.integers(3, 25), st.integers(0, 2**32 - 1))
def test_exchanging_the_judges_changes_nothing(n, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (n, 2)).astype(float)
    exchanged = agreement_interval(table[:, ::-1], kappa)
    assert exchanged == pytest.approx(agreement_interval(table, kappa), abs=1e-9)
    assert agreement_interval(rng.permutation(table), kappa) == agreement_interval(table, kappa)


@pytest.mark.parametrize(("judges", "coefficient"), [(2, kappa), (3, alpha)])
def test_full_agreement_is_not_certain(judges, coefficient):
    table = np.array([[0] * judges, [1] * judges] * 10, float)
    low, high = agreement_interval(table, coefficient)
    assert (0.4 < low < 1.0, high) == (True, 1.0)
    assert agreement_interval(np.repeat(table, 5, axis=0), coefficient).low > low


def test_no_value_no_interval():
    assert agreement_interval(np.ones((10, 2)), kappa) is None
    assert agreement_interval(np.array([[1.0, 0.0]]), kappa) is None
