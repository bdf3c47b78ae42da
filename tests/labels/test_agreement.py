"""Which grade counts, how agreement is said, and the ground truth that labels make."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.labels.agreement import agreement, alpha_of, judged_truth, verdict
from calipers.model.labels import Label
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings


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


GIVEN = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["anna", "ben", "carl", "machine:m"]),
        st.integers(0, 3),
        st.sampled_from(["label", "label", "final"]),
    ),
    max_size=15,
)


@given(GIVEN, st.booleans())
def test_the_ground_truth_is_the_final_label_or_the_majority(given_, machines):
    entries = [
        LogEntry(number=n, item=item, judge=judge, kind=kind, saved="", grade=float(grade))
        for n, (item, judge, grade, kind) in enumerate(given_, start=1)
    ]
    before = calipers.read([{"query": "q0", "retrieved": ["d0"], "ground_truth": ["d0", "old"]}])
    items = [PoolItem(at, Label(f"q{at // 3}", item=f"d{at}")) for at in range(6)]
    found = judged_truth(
        before.ground_truth, items, LabelState(entries), PoolSettings(), machines=machines
    )
    expected = {("q0", "d0"): 1.0, ("q0", "old"): 1.0}
    disputed = 0
    for at in range(6):
        here = [one for one in entries if one.item == at]
        given_now = [one for one in here if one.kind == "label"]
        latest = {one.judge: one.grade for one in given_now if machines or one.judge != "machine:m"}
        final = [one for one in here if one.kind == "final"][-1:]
        if final and all(one.number < final[0].number for one in given_now):
            expected[f"q{at // 3}", f"d{at}"] = final[0].grade
            continue
        if final:
            # Somebody changed theirs since: it counts on as one label more.
            who = {one.judge for one in given_now}
            if final[0].judge not in who and (machines or final[0].judge != "machine:m"):
                latest[final[0].judge] = final[0].grade
        if not latest:
            continue
        votes = list(latest.values())
        most = max(map(votes.count, votes))
        winners = {grade for grade in votes if votes.count(grade) == most}
        if len(winners) == 1:
            expected[f"q{at // 3}", f"d{at}"] = winners.pop()
        else:
            disputed += 1
    rows = found.ground_truth.targets.select("query", "item", "grade").iter_rows()
    assert {(query, item): grade for query, item, grade in rows} == expected
    assert found.left_out == disputed


def test_a_phrase_that_stands_twice_is_the_one_that_was_marked():
    label = Label("q", document="d", text="Yes. No. Yes.", start=100, end=113)
    items = [PoolItem(0, label)]
    for at, start in ((9, 109), (0, 100), (None, 100)):
        said: Any = {"number": 1, "item": 0, "judge": "anna", "kind": "label", "saved": ""}
        one = LogEntry(**said, grade=1, quote="Yes.", quote_start=at)
        found = judged_truth(None, items, LabelState([one]), PoolSettings(targets_as="span"))
        assert found.ground_truth.targets.select("start", "end").rows() == [(start, start + 4)]
