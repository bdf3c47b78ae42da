"""How far judges agree, and which grade counts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.labels.agreement import agreement, alpha_of
from calipers.labels.agreement_document import verdict
from calipers.model.labels import Label
from calipers.store.pool import LabelState, LogEntry, PoolItem


def test_full_agreement_is_1_and_one_grade_is_no_value():
    full = np.array([[0.0, 1.0, 2.0, 3.0] * 3] * 3).T
    assert alpha_of(full).value == 1.0
    one = alpha_of(np.ones((12, 3)))
    assert (one.value, one.interval, one.n) == (None, None, 12)


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
            "agree at least fairly well: Krippendorff's ordinal alpha is 1.000",
        ),
        (
            [{"a": n % 4, "b": n % 4} for n in range(99)],
            "The judges agree well: Krippendorff's ordinal alpha is 1.000",
        ),
        (
            [{"a": n % 4, "b": n % 4 if n else 3} for n in range(12)],
            "An interval at most 0.2 wide would be clear.",
        ),
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
