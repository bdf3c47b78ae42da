import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput

IDS = "abcdefg"
HOW = ("concat", "last")


@st.composite
def agents(draw):
    """Questions, each with the lists of one to four calls, some of them without any hit."""
    made = [{"calls": [["a"]], "truth": ["a"]}]
    for _ in range(draw(st.integers(1, 5))):
        calls = draw(
            st.lists(st.lists(st.sampled_from(IDS), min_size=1, max_size=4), min_size=1, max_size=4)
        )
        truth = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4))
        made.append({"calls": calls, "truth": truth})
    return made


def text(one):
    return f"The {one * 4} part of the manual."


def records(made, *, quoted=False):
    return [
        {
            "query": f"q{i}",
            "ground_truth": [{"quote": text(t)} for t in one["truth"]] if quoted else one["truth"],
            "retrieved": [
                {"id": r, "text": text(r), "tokens": 10, "call": n}
                for n, call in enumerate(one["calls"], 1)
                for r in call
            ],
        }
        for i, one in enumerate(made)
    ]


def naive(one, how):
    """One ranking by hand."""
    calls = one["calls"]
    return calls[-1] if how == "last" else [r for call in calls for r in call]


@given(agents(), st.sampled_from(HOW), st.booleans())
def test_every_way_gives_the_ranking_made_by_hand(made, how, quoted):
    by = "quote" if quoted else "id"
    metrics = "recall@1,3,mrr,precision@2"
    found = calipers.evaluate(records(made, quoted=quoted), metrics=metrics, calls=how, match=by)
    plain = [
        {**one, "retrieved": [{"id": r, "text": text(r)} for r in naive(case, how)]}
        for one, case in zip(records(made, quoted=quoted), made, strict=True)
    ]
    wanted = calipers.evaluate(plain, metrics=metrics, match=by)
    names = ["recall@1", "recall@3", "mrr", "precision@2"]
    assert found.per_query.select(names).equals(wanted.per_query.select(names))
    assert found.policy.calls == how


@given(agents(), st.booleans())
def test_recall_after_each_call_is_that_of_a_loop(made, quoted):
    by = "quote" if quoted else "id"
    found = calipers.calls(records(made, quoted=quoted), match=by)
    answerable = [one for one in made if one["truth"]]
    for step in found.calls:
        recalls = []
        for one in answerable:
            after = set().union(*one["calls"][: step.call])
            truth = set(one["truth"])
            recalls.append(len(truth & after) / len(truth))
        assert step.recall == pytest.approx(sum(recalls) / len(recalls))
        lists = [one["calls"][step.call - 1] for one in made if len(one["calls"]) >= step.call]
        assert step.queries == len(lists)
        assert step.results == pytest.approx(sum(map(len, lists)) / len(lists))


def test_a_query_that_names_no_call_is_one_call():
    """Most traces search once; those are read without a call."""
    made = records([{"calls": [["a"], ["b"]], "truth": ["a", "b"]}])
    once = {"query": "once", "ground_truth": ["c"], "retrieved": [{"id": "c", "tokens": 5}]}
    steps = calipers.calls([*made, once]).calls
    assert [(one.call, one.queries, one.recall) for one in steps] == [(1, 2, 0.75), (2, 1, 1.0)]


def test_a_run_without_calls_and_calls_in_part_are_refused():
    with pytest.raises(InvalidInput, match="does not say which call"):
        calipers.calls(ground_truth={"q": ["a"]}, run={"q": ["a"]})
    mixed = [
        {"query": "q", "ground_truth": ["a"], "retrieved": [{"id": "a", "call": 1}, {"id": "b"}]}
    ]
    with pytest.raises(InvalidInput, match="numbered from 1"):
        calipers.evaluate(mixed)


def test_calls_of_nobody_are_refused():
    run = pl.DataFrame({"query": ["p"], "item": ["a"], "call": [1], "rank": [1]})
    with pytest.raises(InvalidInput, match="no query of the ground truth got any results"):
        calipers.calls(ground_truth={"q": ["a"]}, run=run, nothing_in_common="zero")
