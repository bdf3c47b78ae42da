"""Agreement held to published examples, to references a reader can check, and to identities."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.labels.agreement import (
    NOTHING_SHARED,
    ONE_GRADE,
    agreement,
    coefficients,
    cohen_kappa,
    krippendorff_alpha,
    verdict,
)
from calipers.model.labels import Label
from calipers.store.pool import LabelState, LogEntry, PoolItem

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


def test_alpha_as_krippendorff_computes_it():
    found = krippendorff_alpha(FOUR_OBSERVERS, "abcd")
    assert round(found.value, 3) == 0.815
    assert found.n == 11  # The last unit has one label, which can be paired with none.
    binary = table_of([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    assert round(krippendorff_alpha(binary, TWO).value, 3) == 0.095


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


def naive_cohen(table):
    both = [(a, b) for a, b in table.tolist() if a == a and b == b]
    observed = sum(a != b for a, b in both) / max(len(both), 1)
    expected = sum(a != d for a, _ in both for _, d in both) / max(len(both), 1) ** 2
    return None if not expected else 1 - observed / expected


def same(found, expected):
    if expected is None:
        return found.value is None and found.why_not in (NOTHING_SHARED, ONE_GRADE)
    return found.value == pytest.approx(expected, abs=1e-9)


@given(tables(2))
def test_cohens_kappa_equals_its_reference(table):
    assert same(cohen_kappa(table, TWO), naive_cohen(table))


@given(tables(3), st.randoms())
def test_alpha_equals_its_reference_in_any_order_of_rows_and_judges(table, random):
    assert same(krippendorff_alpha(table, "abc"), naive_alpha(table))
    rows, columns = list(range(len(table))), list(range(3))
    random.shuffle(rows)
    random.shuffle(columns)
    one, other = (krippendorff_alpha(t, "abc").value for t in (table, table[rows][:, columns]))
    assert one == pytest.approx(other, abs=1e-9)


def test_full_agreement_is_1_and_one_grade_is_no_value():
    full = table_of(*[[0, 1, 2, 3] * 3] * 3)
    assert [one.value for one in coefficients(full, "abc")] == [1.0] * 4
    for one in coefficients(np.ones((12, 3)), "abc"):
        assert (one.value, one.why_not, one.n) == (None, ONE_GRADE, 12)


def test_fewer_than_ten_shared_results_and_one_judge_alone_have_no_coefficient():
    assert krippendorff_alpha(table_of([1, NONE], [NONE, 1]), TWO).why_not == NOTHING_SHARED
    nine = table_of([0, 1, 0] * 3 + [1], [0, 1, 1] * 3 + [NONE])
    assert coefficients(nine, TWO) == ()
    assert coefficients(np.ones((30, 1)), ["anna"]) == ()


def said(*grades):
    """Judges who gave these grades, item by item."""
    items = [PoolItem(n, Label("q", item=f"d{n}")) for n in range(len(grades))]
    given_ = [(n, who, float(g)) for n, row in enumerate(grades) for who, g in row.items()]
    state = LabelState(
        LogEntry(number=at, item=n, judge=who, kind="label", saved="", grade=g)
        for at, (n, who, g) in enumerate(given_, 1)
    )
    return agreement(items, state)


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        ([{"a": 1}], "One judge alone"),
        ([{"a": 1}, {"b": 1}], "No result was labelled by two"),
        ([{"a": 1, "b": 1}] * 8 + [{"a": 1, "b": 0}], "the same grade on 8 of 9 shared results"),
        ([{"a": 1, "b": 1}] * 10, "only one grade was used"),
        (
            [{"a": n % 4, "b": n % 4} for n in range(40)],
            "agree at least fairly well: alpha is 1.000",
        ),
        ([{"a": n % 4, "b": n % 4} for n in range(99)], "The judges agree well: alpha is 1.000"),
        (
            [{"a": n % 4, "b": n % 4 if n else 3} for n in range(12)],
            "How far judges agree is not clear",
        ),
        ([{"a": n % 4, "b": n // 4 % 4} for n in range(64)], "The judges hardly agree"),
    ],
)
def test_the_interval_decides_the_words(grades, words):
    assert words in verdict(said(*grades))


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=6))
def test_a_majority_has_more_votes_than_any_other_or_counts_for_nothing(grades):
    found = said(dict(zip("abcdef", grades, strict=False)))
    votes = Counter(grades)
    most = [grade for grade, n in votes.items() if n == max(votes.values())]
    conflicts = found.conflicts
    assert found.left_out == (len(most) > 1)
    assert len(conflicts) == (len(votes) > 1)
    if conflicts:
        assert conflicts[0].counts == (most[0] if len(most) == 1 else None)
        assert conflicts[0].standing == ("open" if len(most) > 1 else "counted")


def test_who_did_how_much_and_who_is_strict():
    rows = [{"anna": 2, "ben": 2 if n < 3 else 0} for n in range(4)]
    anna, ben = said(*rows, {"anna": 3}).judges
    assert (anna.labelled, ben.labelled) == (5, 4)
    assert (anna.shared, anna.same, anna.leaning) == (4, 0.75, 0.5)
    assert (ben.same, ben.leaning) == (0.75, -0.5)
