"""Bounds against all ways of judging, tried one by one."""

from itertools import product
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.questions.bounds.settings import bounds
from calipers.questions.evaluate.settings import evaluate, read

METRICS = [
    "hit_rate@3",
    "precision@3",
    "recall@3",
    "f1@3",
    "full_recall@2",
    "capped_recall@2",
    "tp@2",
    "fp@3",
    "fn@3",
    "mrr",
    "mrr@2",
    "map",
    "map@3",
    "map@3(denominator=min)",
    "r_precision",
    "ndcg",
    "ndcg@3",
    "ndcg@3(gain=exp)",
    "ndcg@3(gains={1:2,2:3})",
    "ndcg(gains={1:3,2:4})",
    "dcg@2",
    "err@3",
    "rbp",
    "bpref",
]
ITEMS = [f"i{n}" for n in range(6)]


def by_trying(truth, returned, metric):
    """The lowest and highest value over all ways to grade what was returned and not judged."""
    grades = sorted({0, *(grade for grade in truth.values() if grade > 0)})
    open_ones = [item for item in dict.fromkeys(returned) if item not in truth]
    seen = []
    for way in product(grades, repeat=len(open_ones)):
        judged = {"q": {**truth, **dict(zip(open_ones, way, strict=True))}}
        value = evaluate(ground_truth=judged, run={"q": returned}, metrics=[metric])[metric].mean
        seen.append(value)
    return min(seen), max(seen)


@given(
    truth=st.dictionaries(st.sampled_from(ITEMS[:4]), st.integers(0, 2), min_size=1),
    returned=st.lists(st.sampled_from(ITEMS), min_size=1, max_size=5),
    metric=st.sampled_from(METRICS),
)
def test_no_way_of_judging_leaves_the_bounds_and_some_way_reaches_them(truth, returned, metric):
    truth = {**truth, "i0": 2}
    returned = [*returned, "i0"]
    # With a metric that has no cut-off beside it, all that was returned is looked at.
    both = bounds(ground_truth={"q": truth}, run={"q": returned}, metrics=[metric, "rbp(p=0.5)"])
    found = both[metric]
    low, high = by_trying(truth, returned, metric)
    assert found.lowest == pytest.approx(low, abs=1e-12)
    assert found.highest == pytest.approx(high, abs=1e-12)


def test_a_relevant_result_below_the_cut_off_is_more_to_find():
    found = bounds(ground_truth={"q": ["a"]}, run={"q": ["a", "x"]}, metrics="recall@1,mrr")
    assert (found["recall@1"].lowest, found["recall@1"].value) == (0.5, 1.0)


def test_a_grade_in_between_can_be_worth_more_than_the_highest():
    truth = {"q": {"a": 1, "b": 1}, "other": {"c": 2}}
    found = bounds(ground_truth=truth, run={"q": ["a", "x"], "other": ["c"]}, metrics="ndcg")
    one = (1 + 1 / log2(3)) / (1 + 1 / log2(3) + 1 / log2(4))
    two = (1 + 2 / log2(3)) / (2 + 1 / log2(3) + 1 / log2(4))
    assert found["ndcg"].highest == pytest.approx((one + 1) / 2)
    assert found["ndcg"].all_relevant == pytest.approx((two + 1) / 2)
    assert one > two


def test_the_mean_of_bounds_is_over_queries_that_are_defined():
    truth = {"q": {"a": 1}, "r": {"b": 1}, "none": {}}
    run = {"q": ["x", "a"], "r": ["b"], "none": ["y"]}
    found = bounds(ground_truth=truth, run=run, metrics="mrr")["mrr"]
    assert (found.n, found.value, found.lowest, found.highest) == (2, 0.75, 0.75, 1.0)


def test_more_to_find_can_make_all_relevant_lower_than_as_it_is():
    run = {"q": ["a", "b", "x"]}
    found = bounds(ground_truth={"q": {"a": 1, "b": 0}}, run=run, metrics="ndcg@3")["ndcg@3"]
    assert found.value == found.highest == 1.0
    both = (1 + 1 / log2(4)) / (1 + 1 / log2(3))
    assert found.all_relevant == found.lowest == pytest.approx(both)


def test_a_repeated_result_is_not_judged_a_second_time():
    found = bounds(ground_truth={"q": ["a"]}, run={"q": ["x", "x", "a"]}, metrics="precision@3")
    assert (found.unjudged, found.shown) == (1, 2)
    assert found["precision@3"].highest == pytest.approx(2 / 3)


def test_everything_judged_leaves_no_room():
    found = bounds(ground_truth={"q": {"a": 1, "b": 0}}, run={"q": ["b", "a"]}, metrics="mrr,map")
    for one in found.bounds:
        assert one.lowest == one.value == one.highest == one.all_relevant == one.all_irrelevant


def test_metrics_about_judging_have_no_bounds():
    found = bounds(ground_truth={"q": ["a"]}, run={"q": ["a"]}, metrics="mrr,judged@3")
    assert found.skipped == ("judged@3",)
    with pytest.raises(InvalidInput, match="None of the metrics has bounds"):
        bounds(ground_truth={"q": ["a"]}, run={"q": ["a"]}, metrics="judged@3")


def test_what_is_not_a_mean_over_queries_is_none_here():
    pair = read(ground_truth={"q": ["a", "b"], "r": ["c"]}, run={"q": ["a"], "r": ["x", "c"]})
    names = "num_rel_ret,gm_map,unjudged@2"
    found, scores = bounds(pair, metrics=names), evaluate(pair, metrics=names)
    assert [(one.metric, one.value) for one in found.bounds] == [
        (name, scores[name].mean) for name in ("num_rel_ret", "gm_map")
    ]
    assert found["num_rel_ret"].highest == 3.0
    assert found.skipped == ("unjudged@2",)
    closed = [{"query": "q", "retrieved": ["a", "b"], "ground_truth": ["a"], "forbidden": ["b"]}]
    assert bounds(closed, metrics="leak@2,recall@1").skipped == ("leak@2",)


def test_depth_limits_metrics_without_a_cut_off():
    run = {"q": ["x", "y", "a"]}
    shallow = bounds(ground_truth={"q": ["a"]}, run=run, metrics="precision@3,rbp", depth=1)
    deep = bounds(ground_truth={"q": ["a"]}, run=run, metrics="precision@3,rbp")
    assert shallow["rbp"].highest < deep["rbp"].highest
    assert shallow["precision@3"].highest == deep["precision@3"].highest == 1.0


def test_quotes_have_bounds_too():
    record = {
        "query": "q",
        "retrieved": [{"text": "nothing of note"}, {"text": "here is the answer indeed"}],
        "ground_truth": [{"quote": "the answer"}],
    }
    found = bounds([record], metrics="mrr")["mrr"]
    assert (found.value, found.highest) == (0.5, 1.0)


def test_policies_are_enforced():
    with pytest.raises(InvalidInput, match="missing=error"):
        bounds(ground_truth={"q": ["s"], "r": ["t"]}, run={"q": ["s"]}, missing="error")
