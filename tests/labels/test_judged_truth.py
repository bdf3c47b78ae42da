"""The ground truth that labels make: final labels, majorities, and marked phrases."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.labels.judged_truth import judged_truth
from calipers.model.labels import Label
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings

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
