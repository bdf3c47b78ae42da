"""Agreement held to published examples, to references a reader can check, and to identities."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from calipers.statistics.agreement_interval import agreement_interval, krippendorff_alpha

NONE = float("nan")


def table_of(*columns):
    return np.array(columns, dtype=float).T


def tables(judges, missing=True):
    cell = st.sampled_from([0.0, 1.0, 2.0, 3.0, 7.0, *([NONE, NONE] if missing else [])])
    row = st.lists(cell, min_size=judges, max_size=judges)
    return st.lists(row, min_size=1, max_size=12).map(lambda rows: np.array(rows, dtype=float))


# Published worked examples. Each line is one observer, each column one unit.

FOUR_OBSERVERS = table_of(
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
)
"""Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), with missing data."""


def test_alpha_as_krippendorff_computes_it():
    found = krippendorff_alpha(FOUR_OBSERVERS)
    assert round(found.value, 3) == 0.815
    assert found.n == 11  # The last unit has one label, which can be paired with none.
    binary = table_of([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    assert round(krippendorff_alpha(binary).value, 3) == 0.095


# References that count one pair of labels at a time.


def naive_alpha(table):
    units = [[x for x in row if x == x] for row in table.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    values = sorted(x for unit in units for x in unit)
    used = Counter(values)

    def apart(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(n for grade, n in used.items() if low <= grade <= high)
        return (between - (used[a] + used[b]) / 2) ** 2

    observed = sum(
        apart(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)
    ) / max(len(values), 1)
    pairs = list(permutations(values, 2))
    expected = sum(apart(a, b) for a, b in pairs) / max(len(pairs), 1)
    return None if not expected else 1 - observed / expected


def same(found, expected):
    if expected is None:
        return found.value is None
    return found.value == pytest.approx(expected, abs=1e-9)


@given(tables(3), st.randoms())
def test_alpha_equals_its_reference_in_any_order_of_rows_and_judges(table, random):
    assert same(krippendorff_alpha(table), naive_alpha(table))
    rows, columns = list(range(len(table))), list(range(3))
    random.shuffle(rows)
    random.shuffle(columns)
    one, other = (krippendorff_alpha(t).value for t in (table, table[rows][:, columns]))
    assert one == pytest.approx(other, abs=1e-9)


def alpha(table):
    return krippendorff_alpha(table).value


@given(st.integers(5, 40), st.integers(0, 2**32 - 1))
def test_the_value_lies_within_and_nothing_above_one(n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    table = np.where(rng.random((n, 3)) < 0.3, rng.integers(0, 3, (n, 3)), truth[:, None])
    table = np.where(rng.random((n, 3)) < 0.1, np.nan, table)
    ends = agreement_interval(table)
    if ends is not None:
        assert ends.low <= alpha(table) <= ends.high <= 1.0


def jackknife(table):
    """The ends row by row, as on paper."""
    n = len(table)
    gaps = np.array([1 - alpha(np.delete(table, row, axis=0)) for row in range(n)])
    whole = 1 - alpha(table)
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
    assert agreement_interval(table) == pytest.approx(expected, abs=1e-9)


def test_a_grade_that_nobody_shares_does_not_make_certain():
    table = np.array([[0, 0]] * 16 + [[0, 1], [1, 0]], float)
    low, high = agreement_interval(table)
    assert jackknife(table)[1] < 0.1
    assert high > 0.5
    assert low >= -1.0


@given(st.integers(3, 25), st.integers(0, 2**32 - 1))
def test_exchanging_the_judges_changes_nothing(n, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (n, 2)).astype(float)
    exchanged = agreement_interval(table[:, ::-1])
    assert exchanged == pytest.approx(agreement_interval(table), abs=1e-9)
    assert agreement_interval(rng.permutation(table)) == agreement_interval(table)


@pytest.mark.parametrize("judges", [2, 3])
def test_full_agreement_is_not_certain(judges):
    table = np.array([[0] * judges, [1] * judges] * 10, float)
    low, high = agreement_interval(table)
    assert (0.4 < low < 1.0, high) == (True, 1.0)
    assert agreement_interval(np.repeat(table, 5, axis=0)).low > low


def test_no_value_no_interval():
    assert agreement_interval(np.ones((10, 2))) is None
    assert agreement_interval(np.array([[1.0, 0.0]])) is None
