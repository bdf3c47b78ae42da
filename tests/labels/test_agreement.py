"""Agreement held to published examples, to references a reader can check, and to identities."""

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.labels.agreement import (
    NOTHING_SHARED,
    ONE_GRADE,
    coefficients,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

NONE = float("nan")
TWO = ("anna", "bo")


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


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_as_krippendorff_computes_it(scale, alpha):
    found = krippendorff_alpha(FOUR_OBSERVERS, "abcd", scale)
    assert round(found.value, 3) == alpha
    assert found.n == 11  # The last unit has one label, which can be paired with none.


def test_alpha_of_two_observers_as_krippendorff_computes_it():
    binary = table_of([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    assert round(krippendorff_alpha(binary, TWO, "nominal").value, 3) == 0.095
    letters = table_of(list(map(ord, "aabbdcccedda")), list(map(ord, "babbbccceddd")))
    assert round(krippendorff_alpha(letters, TWO, "nominal").value, 3) == 0.692


def test_fleiss_kappa_as_fleiss_computes_it():
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    table = np.array([np.repeat(range(5), row) for row in counts], dtype=float)
    found = fleiss_kappa(table, [str(i) for i in range(14)])
    assert (round(found.value, 3), round(found.observed, 3), round(found.expected, 3)) == (
        0.210,
        0.378,
        0.213,
    )


@pytest.mark.parametrize(
    ("cells", "kappa"),
    # Yes/yes, yes/no, no/yes, no/no: three tables of two raters, all with known answers.
    [((20, 5, 10, 15), 0.4), ((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593)],
)
def test_cohens_kappa_of_two_by_two_tables(cells, kappa):
    pairs = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [pair for pair, n in zip(pairs, cells, strict=True) for _ in range(n)]
    found = cohen_kappa(np.array(rows, dtype=float))
    assert round(found.value, 4) == kappa
    assert found.n == sum(cells)


# References that count one pair of labels at a time.


def naive_alpha(table, scale):
    units = [[x for x in row if x == x] for row in table.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    values = sorted(x for unit in units for x in unit)
    used = Counter(values)

    def apart(a, b):
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(n for grade, n in used.items() if low <= grade <= high)
        return (between - (used[a] + used[b]) / 2) ** 2

    observed = sum(
        apart(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)
    ) / max(len(values), 1)
    pairs = list(permutations(values, 2))
    expected = sum(apart(a, b) for a, b in pairs) / max(len(pairs), 1)
    return None if not expected else 1 - observed / expected


def naive_cohen(table, weights):
    both = [(a, b) for a, b in table.tolist() if a == a and b == b]
    ladder = sorted({x for row in table.tolist() for x in row if x == x})

    def cost(a, b):
        steps = abs(ladder.index(a) - ladder.index(b))
        return {"none": float(steps > 0), "linear": steps, "quadratic": steps**2}[weights]

    observed = sum(cost(a, b) for a, b in both) / max(len(both), 1)
    expected = sum(cost(a, d) for a, _ in both for _, d in both) / max(len(both), 1) ** 2
    return None if not expected else 1 - observed / expected


def naive_fleiss(table):
    units = [row for row in table.tolist() if all(x == x for x in row)]
    alike = [a == b for unit in units for a, b in combinations(unit, 2)]
    everything = Counter(x for unit in units for x in unit)
    chance = sum((n / everything.total()) ** 2 for n in everything.values()) if units else 1
    return None if len(everything) < 2 else (sum(alike) / len(alike) - chance) / (1 - chance)


def same(found, expected):
    if expected is None:
        return found.value is None and found.why_not in (NOTHING_SHARED, ONE_GRADE)
    return found.value == pytest.approx(expected, abs=1e-9)


@given(tables(3), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_its_reference(table, scale):
    assert same(krippendorff_alpha(table, "abc", scale), naive_alpha(table, scale))


@given(tables(2), st.sampled_from(["none", "linear", "quadratic"]))
def test_cohens_kappa_equals_its_reference(table, weights):
    assert same(cohen_kappa(table, TWO, weights), naive_cohen(table, weights))


@given(tables(4))
def test_fleiss_kappa_equals_its_reference(table):
    assert same(fleiss_kappa(table, "abcd"), naive_fleiss(table))


# What must hold whatever the data.


@given(tables(3), st.randoms())
def test_the_order_of_rows_and_judges_changes_nothing(table, random):
    rows, columns = list(range(len(table))), list(range(3))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = table[rows][:, columns]
    for scale in ("nominal", "ordinal", "interval"):
        one, other = (krippendorff_alpha(t, "abc", scale).value for t in (table, shuffled))
        assert one == pytest.approx(other, abs=1e-9)
    one, other = (fleiss_kappa(t, "abc").value for t in (table, shuffled))
    assert one == pytest.approx(other, abs=1e-9)


@given(tables(2))
def test_with_two_grades_all_scales_and_weights_are_one(table):
    binary = np.where(np.isnan(table), np.nan, (table > 1).astype(float))
    kappas = [cohen_kappa(binary, TWO, w).value for w in ("none", "linear", "quadratic")]
    alphas = [krippendorff_alpha(binary, TWO, s).value for s in ("nominal", "ordinal", "interval")]
    for values in (kappas, alphas):
        assert values[1:] == [pytest.approx(values[0], abs=1e-9)] * 2


@given(tables(2, missing=False))
def test_linear_weights_are_an_average_of_two_by_two_tables(table):
    """Warrens (2013): cut the grades in two at every step; weigh by expected disagreement."""
    cuts = [
        cohen_kappa((table > grade).astype(float), TWO) for grade in np.unique(table)[:-1].tolist()
    ]
    shares = [(1 - one.expected, one.value) for one in cuts if one.value is not None]
    found = cohen_kappa(table, TWO, "linear")
    if not shares:
        assert found.why_not == ONE_GRADE
    else:
        total = sum(share for share, _ in shares)
        average = sum(share * kappa for share, kappa in shares) / total
        assert found.value == pytest.approx(average, abs=1e-9)


def test_full_agreement_is_1_and_one_grade_is_no_value():
    full = table_of([0, 1, 2], [0, 1, 2], [0, 1, 2])
    assert [one.value for one in coefficients(full, "abc")] == [1.0] * 5
    for one in coefficients(np.ones((4, 3)), "abc"):
        assert (one.value, one.why_not, one.n) == (None, ONE_GRADE, 4)


def test_nothing_in_common_is_said():
    for one in coefficients(table_of([1, NONE], [NONE, 1]), TWO):
        assert (one.value, one.n, one.why_not) == (None, 0, NOTHING_SHARED)


def test_one_judge_has_nobody_to_agree_with():
    assert coefficients(np.ones((3, 1)), ["anna"]) == ()


def test_a_step_between_grades_is_the_same_for_every_two_judges():
    # Anna and Bo use 0 and 2 only; Cem's 1 makes that two steps for everybody.
    table = table_of([0, 2, 2, 0], [0, 2, 0, 0], [1, 1, 0, 2])
    found = coefficients(table, ["anna", "bo", "cem"], weights="linear")[2]
    assert found.judges == TWO
    assert found.observed == 2 / 4


def test_unknown_words_are_refused():
    unknown: Any = "ordinals"
    with pytest.raises(InvalidInput, match=r"it can be nominal, ordinal, interval. Did you mean"):
        krippendorff_alpha(np.ones((2, 2)), TWO, unknown)
    with pytest.raises(InvalidInput, match="weights is 'ordinals'"):
        coefficients(np.ones((2, 2)), TWO, weights=unknown)
