from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import compare, evaluate
from calipers.errors import InvalidInput
from calipers.questions.compare.rule import compare_scores
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_needed import visibility
from calipers.statistics.queries_to_detect import queries_to_detect
from tests.systems import NEW, OLD, measured, records

ranks = st.lists(st.sampled_from([1, 2, 3, 6, None]), min_size=8, max_size=14)


def naive_reciprocal(hits):
    return [0.0 if rank is None else 1 / rank for rank in hits]


@given(ranks, ranks)
def test_differences_are_those_of_the_queries_one_by_one(first, second):
    size = min(len(first), len(second))
    first, second = first[:size], second[:size]
    comparison = compare_scores({"old": measured(first), "new": measured(second)}, anyway=True)
    found = comparison.difference("new", "mrr")
    pairs = list(zip(naive_reciprocal(first), naive_reciprocal(second), strict=True))
    assert found.difference == pytest.approx(sum(b - a for a, b in pairs) / size)
    assert found.wins == sum(b > a for a, b in pairs)
    assert found.losses == sum(b < a for a, b in pairs)
    assert found.ties == size - found.wins - found.losses
    means = [comparison.mean(name, "mrr").mean for name in ("old", "new")]
    assert found.difference == pytest.approx(means[1] - means[0])
    assert found.n == size


METRICS = "recall@1,5,mrr"


def three_systems():
    return {
        "old": measured(OLD, METRICS),
        "new": measured(NEW, METRICS),
        "odd": measured(OLD[::-1], METRICS),
    }


def test_one_for_finding_and_one_for_order_decide_unless_metrics_are_named():
    comparison = compare_scores(three_systems())
    assert (comparison.primary, comparison.asked) == ("recall@5", ("recall@5", "mrr"))
    rest = {
        (found.verdict, found.p_adjusted, found.claim)
        for found in comparison.differences
        if found.metric not in comparison.asked
    }
    assert rest == {("supporting", None, None)}
    named = compare_scores(three_systems(), named=True)
    assert named.asked == ("recall@5", "recall@1", "mrr")
    assert named.settings["tests"] == 3 * 2


def test_all_that_is_marked_is_adjusted_together():
    """Each system beside the baseline in each metric that was asked for, and no other pair."""
    comparison = compare_scores(three_systems())
    marked = [found for found in comparison.differences if found.metric in comparison.asked]
    rows = paired_rows([comparison.by_query(one.system, one.metric) for one in marked])
    assert [found.p_value for found in marked] == [row.p for row in rows]
    assert [found.p_adjusted for found in marked] == [row.adjusted for row in rows]
    assert comparison.settings["tests"] == len(marked) == 4


def test_another_primary_metric_decides_where_it_is_named():
    comparison = compare_scores(three_systems(), primary="RR")
    assert comparison.primary == "mrr"
    assert comparison.difference("new", "mrr").verdict == "better"
    with pytest.raises(InvalidInput, match="primary metric 'ndcg@5' is not among"):
        compare_scores(three_systems(), primary="ndcg@5")


def test_the_numbers_are_those_of_the_paired_test():
    comparison = compare_scores({"old": measured(OLD, "mrr"), "new": measured(NEW, "mrr")})
    found = comparison.difference("new", "mrr")
    gains = np.array(naive_reciprocal(NEW)) - np.array(naive_reciprocal(OLD))
    [expected] = paired_rows([gains])
    assert found.p_value == found.p_adjusted == expected.p
    assert (found.interval.low, found.interval.high) == expected.interval
    assert found.verdict == "better"
    assert replace(comparison.visibility, takes=None) == visibility(gains)
    assert comparison.visibility.takes == queries_to_detect(expected, comparison.visibility.wanted)


def test_the_ranking_has_the_best_first_and_what_may_be_as_good():
    systems = {
        "bad": measured([9] * 30),
        "good": measured([1] * 30),
        "fair": measured([1] * 29 + [9]),
    }
    found = compare_scores(systems)
    assert (found.ranking, found.near_best) == (("good", "fair", "bad"), ("good", "fair"))
    said = " ".join(found.explain().split())
    assert "fair may be as good as good: 30 queries cannot separate the two." in said


def test_clusters_widen_what_related_queries_show():
    def systems():
        made = {name: records(hits * 4) for name, hits in (("old", OLD), ("new", NEW))}
        for data in made.values():
            for i, record in enumerate(data):
                record["tags"] = {"intent": f"{i % len(OLD)}"}
        return {name: evaluate(data, metrics="mrr") for name, data in made.items()}

    alone = compare_scores(systems()).difference("new", "mrr")
    related = compare_scores(systems(), cluster="intent").difference("new", "mrr")
    single = compare_scores({"old": measured(OLD, "mrr"), "new": measured(NEW, "mrr")})
    once = single.difference("new", "mrr")
    assert related.difference == pytest.approx(alone.difference)
    assert related.p_value == pytest.approx(once.p_value)
    assert alone.p_value < related.p_value
    with pytest.raises(InvalidInput, match="no tag 'intend'"):
        compare_scores(systems(), cluster="intend")


def test_any_system_may_be_the_baseline():
    systems = {"old": measured(OLD), "new": measured(NEW)}
    found = compare_scores(systems, baseline="new", primary="mrr").difference("old", "mrr")
    assert (found.verdict, found.baseline) == ("worse", "new")
    forward = compare_scores(systems).difference("new", "mrr")
    assert found.difference == -forward.difference
    with pytest.raises(InvalidInput, match=r"'nwe' is none of the systems.*Did you mean new"):
        compare_scores(systems, baseline="nwe")


def test_lower_is_better_where_the_metric_says_so():
    systems = {
        "old": measured([4] * 10, "first_rank"),
        "new": measured([1] * 9 + [4], "first_rank"),
    }
    comparison = compare_scores(systems)
    found = comparison.difference("new", "first_rank")
    assert found.difference < 0
    assert (found.verdict, found.wins, found.losses, found.ties) == ("better", 9, 0, 1)
    assert comparison.ranking == ("new", "old")
    assert comparison.largest("new", "first_rank", wins=True, count=1)[0].difference == -3.0


def test_a_metric_without_a_better_side_is_not_tested():
    systems = {"old": measured([1] * 8, "judged@5,mrr"), "new": measured([7] * 8, "judged@5,mrr")}
    comparison = compare_scores(systems)
    found = comparison.difference("new", "judged@5")
    assert (found.verdict, found.p_adjusted) == ("supporting", None)
    assert comparison.settings["tests"] == 1


def test_queries_undefined_in_every_system_leave_all_alike():
    unanswerable = {"id": "none", "query": "?", "retrieved": ["x"], "ground_truth": {}}
    systems = {
        name: evaluate([*records(hits), unanswerable], metrics="mrr")
        for name, hits in (("old", OLD), ("new", NEW))
    }
    comparison = compare_scores(systems)
    assert comparison.difference("new", "mrr").n == len(OLD)
    assert comparison.mean("new", "mrr").undefined == 1
    assert comparison.queries.height == len(OLD) + 1


def test_undefined_in_one_system_only_is_refused():
    systems = {
        "old": measured([1, 2, None, 4, 1, 2, 3, 4], "first_rank"),
        "new": measured([1] * 8, "first_rank"),
    }
    with pytest.raises(InvalidInput, match=r"first_rank is undefined for 1 query of old \('q2'\)"):
        compare_scores(systems)
    comparison = compare_scores(systems, anyway=True)
    found = comparison.difference("new", "first_rank")
    assert found.n == 7
    assert comparison.mean("new", "first_rank").n == comparison.mean("old", "first_rank").n == 7
    assert "flatter" in comparison.overridden[0]


def test_equal_runs_are_an_answer():
    comparison = compare_scores({"old": measured(OLD), "new": measured(OLD)})
    found = comparison.difference("new", "recall@5")
    assert (found.p_value, found.verdict, found.difference) == (1.0, "no clear difference", 0.0)
    assert comparison.visibility.why_not == "no spread"


def test_one_system_is_refused():
    with pytest.raises(InvalidInput, match="at least two systems: found old"):
        compare_scores({"old": measured(OLD)})


def test_metrics_must_be_shared():
    old, new = measured(OLD, "mrr,recall@5"), measured(NEW, "mrr,recall@3")
    assert [m.name for m in compare_scores({"a": old, "b": new}).metrics] == ["mrr"]
    with pytest.raises(InvalidInput, match="no 'recall@5' in b; it has mrr, recall@3"):
        compare_scores({"a": old, "b": new}, metrics=["recall@5"])
    with pytest.raises(InvalidInput, match="share no metric"):
        compare_scores({"a": measured(OLD, "recall@5"), "b": measured(NEW, "mrr")})


def test_what_is_likely_are_the_ends_of_the_interval_and_few_changes_have_none():
    def found(changed):
        new = [3] * changed + [1] * (20 - changed)
        systems = {"old": measured([1] * 20, "mrr"), "new": measured(new, "mrr")}
        return compare_scores(systems).difference("new", "mrr")

    eight = found(8)
    low, high = -eight.interval.low, -eight.interval.high
    assert eight.claim.range == f"The true difference is likely between −{low:.3f} and −{high:.3f}."
    seven = found(7)
    assert (seven.verdict, seven.interval, seven.claim.range) == ("worse", None, None)


def test_copies_of_a_question_count_once_and_that_is_said():
    def systems(texts):
        data = {"old": records([2] * 10), "new": records([1] * 10)}
        for made in data.values():
            for record, text in zip(made, texts, strict=True):
                record["query"] = text
        return {name: evaluate(made, metrics="mrr") for name, made in data.items()}

    different = compare_scores(systems([f"text {at}" for at in range(10)]))
    copies = compare_scores(systems(["the same"] * 10))
    assert different.difference("new", "mrr").verdict == "better"
    found = copies.difference("new", "mrr")
    assert (found.verdict, found.p_value, found.wins) == ("no clear difference", 1.0, 10)
    assert (
        "9 queries have the text of another; in tests, equal texts count as one query."
        in copies.settings["notes"]
    )


def test_fifty_systems_are_tested_against_the_baseline_and_the_best_alone(monkeypatch):
    """Not every pair of them, which took 43 seconds and 3.3 GB."""
    asked = []

    def counted(columns, *others, **settings):
        asked.append(len(columns))
        return paired_rows(columns, *others, **settings)

    monkeypatch.setattr("calipers.questions.compare.rule.paired_rows", counted)
    truth = {f"q{at}": ["a"] for at in range(12)}
    runs = {f"s{at:02}": {q: ["b"] * (at % 7) + ["a"] for q in truth} for at in range(50)}
    found = compare(runs, truth, metrics="recall@3,mrr", anyway=True)
    assert len(found.systems) == 50
    assert asked[0] == 49 * 2
    assert len(asked) <= 50
    assert set(asked[1:]) == {2}


def test_columns_that_are_no_mapping_are_refused():
    with pytest.raises(InvalidInput, match="The columns are given as a DataFrame"):
        compare(["a.jsonl", "b.jsonl"], columns=pl.DataFrame({"query": ["q"]}))  # type: ignore[arg-type]


def test_weights_of_the_results_count_unless_others_are_named():
    def weighted(hits):
        tagged = [
            {**record, "tags": {"w": "1" if n else "9"}} for n, record in enumerate(records(hits))
        ]
        return evaluate(tagged, metrics="mrr", weight_by="w")

    systems = {"old": weighted([1, None, None, None]), "new": weighted([2, 1, 1, 1])}
    found = compare_scores(systems)
    assert found.mean("old", "mrr").mean == pytest.approx(9 / 12)
    assert found.difference("new", "mrr").difference == pytest.approx((9 * 0.5 + 3 - 9) / 12)


def test_what_decides_nothing_separates_no_system_from_the_best():
    """Ranks differ for sure and hits do not: where hits decide alone, both are as good."""
    both = {"best": measured([1] * 20), "second": measured([3] * 20)}
    by_hits = compare_scores(both, metrics=["recall@5"], named=True)
    assert by_hits.near_best == ("best", "second")
    by_ranks = compare_scores(both, metrics=["mrr"], named=True)
    assert by_ranks.near_best == ("best",)
