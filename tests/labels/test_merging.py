"""Several grades become one, and what cannot be decided is not guessed."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.labels.agreement_result import Opinions
from calipers.labels.merging import disagreements, merge_opinions, merged_grade
from calipers.model.labels import Label

GRADES = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=6)


def opinions(*given):
    return {one.about.pair: one for one in given}


@given(GRADES)
def test_a_majority_has_more_votes_than_any_other_or_is_none(grades):
    found = merged_grade(grades, "majority")
    votes = Counter(grades)
    if found is None:
        assert sorted(votes.values())[-2:] == [max(votes.values())] * 2
    else:
        assert all(votes[found] > n for grade, n in votes.items() if grade != found)


@given(GRADES)
def test_an_option_decides_ties_among_the_grades_that_are_tied(grades):
    votes = Counter(grades)
    most = [grade for grade, n in votes.items() if n == max(votes.values())]
    assert merged_grade(grades, "majority", "max") == max(most)
    assert merged_grade(grades, "majority", "min") == min(most)
    assert merged_grade(grades, "majority", "mean") == pytest.approx(sum(most) / len(most))


def test_mean_max_and_min():
    assert [merged_grade([0, 2, 2], how) for how in ("mean", "max", "min")] == [4 / 3, 2, 0]


def test_disagreements_come_largest_first():
    given = [
        Opinions(Label("q", item=item), dict(zip("xy", grades, strict=True)))
        for item, grades in (("a", (0, 0)), ("b", (1, 2)), ("c", (0, 2)), ("d", (2, 1)))
    ]
    assert [one.about.item for one in disagreements(given)] == ["c", "b", "d"]


def test_the_records_are_a_ground_truth():
    found = merge_opinions(
        opinions(
            Opinions(Label("q1", "Who?", item="a", document="d"), {"anna": 1.0, "bo": 1.0}),
            Opinions(Label("q1", "Who?", item="b"), {"anna": 0.0, "bo": 2.0}),
            Opinions(Label("Why so?", "Why so?", text="A lock."), {"anna": 1.5}),
        )
    )
    assert found.records == (
        {"id": "q1", "query": "Who?", "ground_truth": [{"id": "a", "document": "d", "grade": 1}]},
        {"query": "Why so?", "ground_truth": [{"quote": "A lock.", "grade": 1.5}]},
    )
    assert [one.about.item for one in found.tied] == ["b"]
    assert found.targets == 2


@pytest.mark.parametrize(
    ("judges", "tags"),
    [
        (["anna"], None),
        (["machine:m"], {"source": "machine:m"}),
        (["machine:m", "machine:n"], {"source": "machine:m and machine:n"}),
        (["anna", "machine:m"], {"source": "people and machine:m"}),
    ],
)
def test_what_a_machine_made_is_marked(judges, tags):
    one = Opinions(Label("q", item="a"), dict.fromkeys(judges, 1.0))
    assert merge_opinions(opinions(one)).records[0].get("tags") == tags


def test_other_ways_to_recognise_an_item():
    label = Label("q", item="a", text="A lock.", document="d", start=3, end=10)
    one = opinions(Opinions(label, {"anna": 1.0}))
    assert merge_opinions(one, targets_as="quote").records[0]["ground_truth"] == [
        {"quote": "A lock.", "document": "d", "grade": 1}
    ]
    assert merge_opinions(one, targets_as="span").records[0]["ground_truth"] == [
        {"document": "d", "start": 3, "end": 10, "grade": 1}
    ]
    bare = opinions(Opinions(Label("q", item="a"), {"anna": 1.0}))
    by: Any
    for by, what in (("quote", "text"), ("span", "document")):
        with pytest.raises(InvalidInput, match=f"'a' of the query 'q' has no {what}"):
            merge_opinions(bare, targets_as=by)


def test_a_question_that_loses_its_only_target_to_a_tie_is_named():
    def said(query, item, **grades):
        return Opinions(Label(query_id=query, query=query, item=item), grades)

    found = merge_opinions(
        opinions(
            said("lost", "a", ann=1.0, bob=0.0),
            said("lost", "b", ann=0.0, bob=0.0),
            said("kept", "a", ann=1.0, bob=0.0),
            said("kept", "b", ann=1.0, bob=1.0),
            said("gone", "a", ann=2.0, bob=1.0),
            said("never", "a", ann=0.0, bob=0.0),
        )
    )
    assert found.left_without == ("lost", "gone")
    assert found.to_dict()["left_without"] == ["lost", "gone"]
