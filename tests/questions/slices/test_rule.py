import numpy as np
import pytest

from calipers import evaluate, slices
from calipers.errors import InvalidInput
from calipers.model.slicing import MOST_SLICES, cut
from calipers.statistics.score_interval import mean_interval
from calipers.statistics.two_sample import group_tests
from tests.systems import records, tagged

GROUPS = {"fact": [1] * 14 + [2], "multi-hop": [None] * 9 + [3], "other": [1, 2, None, 1, 3, 2]}


@pytest.fixture(scope="module")
def scores():
    return evaluate(tagged(GROUPS), metrics="recall@5,mrr")


def test_each_slice_has_its_numbers_and_the_rest_has_the_others(scores):
    found = slices(scores, "type", primary="mrr")
    row = next(row for row in found.rows if (row.value, row.metric) == ("multi-hop", "mrr"))
    column = scores.of("mrr")
    inside = np.array([query.startswith("multi-hop") for query in scores.queries["query"]])
    assert (row.n, row.queries, row.rest_n) == (10, 10, 21)
    assert row.mean == pytest.approx(column[inside].mean())
    assert row.rest == pytest.approx(column[~inside].mean())
    assert row.difference == pytest.approx(row.mean - row.rest)
    assert row.interval == mean_interval(column[inside])
    assert row.rest_interval == mean_interval(column[~inside])
    assert row.p_value == pytest.approx(group_tests(column, [inside])[0].p, abs=0.005)
    assert row.standing == "worse"
    assert row.is_worse


def test_the_primary_metric_alone_is_tested_and_corrected_over_slices(scores):
    found = slices(scores, "type")
    assert (found.primary, found.tests) == ("recall@5", 3)
    rows = [row for row in found.rows if row.metric == "recall@5"]
    assert all(row.p_adjusted >= row.p_value for row in rows)
    rest = [row for row in found.rows if row.metric != "recall@5"]
    assert {(row.p_value, row.p_adjusted, row.standing) for row in rest} == {(None, None, None)}
    both = slices(scores, ["type", "targets", "length"])
    assert both.by == ("type", "targets", "length")
    assert both.tests == 3  # every query has two words and one target: nothing to test


def test_clusters_are_units_of_the_test_too():
    made = tagged({"a": [1] * 12 + [3] * 4, "b": [2] * 8 + [None] * 8})
    for i, record in enumerate(made):
        record["tags"]["intent"] = f"{i // 4}"
    alone, together = (
        slices(evaluate(made, metrics="mrr", cluster=cluster), "type").rows[0]
        for cluster in (None, "intent")
    )
    assert alone.mean == together.mean
    assert alone.p_value < together.p_value


def test_a_lower_first_rank_is_better_than_the_rest():
    scores = evaluate(tagged({"a": [1] * 8, "b": [4] * 8}), metrics="first_rank")
    low, high = slices(scores, "type").rows
    assert (low.standing, high.standing) == ("better", "worse")
    assert (low.is_worse, high.is_worse) == (False, True)


def test_few_metrics_are_sliced_unless_named():
    scores = evaluate(tagged(GROUPS))
    assert slices(scores, "type").metrics == ("recall@10", "precision@10", "ndcg@10", "mrr")
    assert slices(scores, "type", metrics="f1@3").metrics == ("f1@3",)
    with pytest.raises(InvalidInput, match="no 'f1@4'"):
        slices(scores, "type", metrics="f1@4")


def test_queries_are_cut_by_length_and_by_targets():
    made = [
        {
            "query": " ".join(["word"] * n),
            "retrieved": ["a"],
            "ground_truth": [f"t{i}" for i in range(n % 7)],
        }
        for n in (1, 4, 5, 9, 10, 19, 20, 40)
    ]
    scores = evaluate([*made, {"query": "hit", "retrieved": ["a"], "ground_truth": ["a"]}])
    lengths = {name: int(mask.sum()) for name, mask in cut(scores, "length")}
    assert lengths == {
        "1 to 4 words": 3,
        "5 to 9 words": 2,
        "10 to 19 words": 2,
        "over 19 words": 2,
    }
    targets = {name: int(mask.sum()) for name, mask in cut(scores, "targets")}
    assert targets == {"1 target": 2, "2 targets": 1, "3 to 5 targets": 5, "over 5 targets": 1}


def test_a_tag_goes_before_what_is_computed_and_gaps_have_a_name():
    made = records([1, 2, 3])
    made[0]["tags"] = {"length": "long"}
    scores = evaluate(made, metrics="mrr")
    assert [name for name, _ in cut(scores, "length")] == ["long", "(none)"]


def asked_in_two_languages():
    """Nobody tagged that German questions find nothing."""
    made = []
    for i in range(15):
        hit = {"retrieved": ["a"], "ground_truth": ["a"]}
        made.append({"query": f"How is the {i}th word of it found?", **hit})
        miss = {"retrieved": ["b"], "ground_truth": ["a"]}
        made.append({"query": f"Wie wird das {i}. Wort davon gefunden?", **miss})
    return made


def test_auto_finds_what_nobody_tagged():
    found = slices(evaluate(asked_in_two_languages(), metrics="recall@1"), "auto")
    assert found.by == ("language",)
    assert {row.value: row.standing for row in found.rows} == {
        "English": "better",
        "German": "worse",
    }
    both = slices(evaluate(tagged(GROUPS), metrics="mrr"), ["type"])
    with pytest.raises(InvalidInput, match="cannot be cut by auto: they are alike"):
        slices(evaluate(tagged(GROUPS), metrics="mrr"), "auto")
    assert slices(evaluate(tagged(GROUPS), metrics="mrr"), ["type", "auto"]) == both


def test_what_cannot_be_cut_is_said(scores):
    with pytest.raises(InvalidInput, match=r"no tag 'tpye'; they can be cut by type.* mean type\?"):
        slices(scores, "tpye")
    with pytest.raises(InvalidInput, match="No cut is named"):
        slices(scores, [])
    bare = evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]}, metrics="mrr")
    with pytest.raises(InvalidInput, match="their ids and not their texts"):
        slices(bare, "length")
    many = [
        {**record, "tags": {"id": f"{i}"}}
        for i, record in enumerate(records([1] * (MOST_SLICES + 1)))
    ]
    with pytest.raises(InvalidInput, match="has 101 different values over 101 queries"):
        slices(evaluate(many, metrics="mrr"), "id")


def claims_of(groups):
    return slices(evaluate(tagged(groups), metrics="recall@5"), "type").claims


def test_a_slice_that_collapses_is_the_first_thing_said():
    groups = {name: [1] * 16 for name in "abdef"} | {"c": [None] * 13 + [1] * 3}
    (claim,) = claims_of(groups)
    assert (
        claim.line
        == "▼ type c is worse: recall@5 is 0.188 on 16 queries and 1.000 on the other 80."
    )
    assert claim.range == "On new queries of type c it is likely between 0.049 and 0.462."
    assert claim.next == "Why: `calipers misses --where type=c`"


def test_without_a_mark_the_lowest_slice_is_named_with_what_it_hides():
    (claim,) = claims_of({"a": [1] * 12, "b": [None] * 2 + [1] * 10, "c": [1] * 30})
    assert claim.standing == "no clear difference"
    assert (
        claim.fact
        == "type b is weakest: recall@5 is 0.833 on 12 queries and 1.000 on the other 42."
    )
    assert claim.range.startswith("On new queries of type b it is likely between 0.")
    assert claim.next is None


def test_a_slice_that_is_only_better_does_not_hide_the_lowest():
    better, lowest = claims_of({"a": [1] * 12, "b": [1, None] * 15, "c": [None, 1] * 15})
    assert (better.standing, lowest.standing) == ("better", "no clear difference")
    assert better.fact.startswith("type a is better: recall@5 is 1.000")


def test_what_one_test_would_show_is_not_shown_among_four():
    lost = {"a": [None] * 5 + [1] * 5}
    rest = {"b": [1] * 8 + [None] * 2, "c": [1] * 9 + [None], "d": [1] * 10}
    row = slices(evaluate(tagged({**lost, **rest}), metrics="recall@5"), "type").rows[0]
    assert row.p_value < 0.05
    assert row.p_adjusted > 0.05
    assert row.standing == "no clear difference"


def test_means_that_differ_by_rounding_alone_do_not_differ():
    right = [f"t{i}" for i in range(10)]
    hits = [("a", 1), ("a", 2), ("a", 3), ("b", 2), ("b", 2), ("b", 2)] * 4
    made = [
        {
            "query": f"q{i}",
            "retrieved": [*right[:n], *(f"x{j}" for j in range(10 - n))],
            "ground_truth": right,
            "tags": {"type": kind},
        }
        for i, (kind, n) in enumerate(hits)
    ]
    found = slices(evaluate(made, metrics="precision@10"), "type")
    assert [row.difference for row in found.rows] == [0.0, 0.0]
    assert [claim.next for claim in found.claims] == [None]
