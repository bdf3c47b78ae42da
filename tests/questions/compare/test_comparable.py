import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.questions.compare.comparable import obstacles, shared_queries
from calipers.questions.compare.rule import compare_scores
from tests.systems import measured, records

HITS = [1, 2, 3, None, 1, 2]


def changed(number, **fields):
    made = records(HITS)
    made[number].update(fields)
    return evaluate(made, metrics="mrr,recall@5")


def test_rankings_intervals_and_ties_may_differ():
    for other in (measured(HITS[::-1]), measured(HITS, confidence=0.9, ties="trec")):
        assert obstacles({"a": measured(HITS), "b": other}) == []


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (lambda: measured(HITS[:-1]), r"different queries: 1 only in a \('q5'\)"),
        (lambda: measured([*HITS, 1, 1]), r"2 only in b \('q6', 'q7'\)"),
        (
            lambda: changed(1, query="other"),
            "text of query 'q1' is 'question 1' in a and 'other'",
        ),
        (
            lambda: changed(2, ground_truth={"target": 1, "x2": 1}),
            "different ground truth: the number of targets of query 'q2' is 1 in a and 2 in b",
        ),
        (lambda: changed(2, ground_truth={"x2": 1}), "different ground truth: other items"),
        (lambda: changed(2, ground_truth={"target": 2}), "different ground truth: other items"),
        (
            lambda: measured(HITS, missing="exclude"),
            "policy missing is 'zero' in a and 'exclude' in b",
        ),
        (lambda: measured(HITS, rel=1), "setting rel is None in a and 1.0 in b"),
    ],
)
def test_what_differs_is_said(other, sentence):
    systems = {"a": measured(HITS), "b": other()}
    with pytest.raises(InvalidInput, match=sentence) as refused:
        compare_scores(systems, metrics=["mrr"] if "rel" not in sentence else None)
    assert "--anyway" in str(refused.value)


def test_what_was_compared_anyway_is_marked_and_uses_the_shared_queries():
    comparison = compare_scores({"a": measured(HITS), "b": measured([2, 1, 1, 1])}, anyway=True)
    assert comparison.queries["query"].to_list() == ["q0", "q1", "q2", "q3"]
    assert "2 only in a" in comparison.overridden[0]
    assert comparison.to_dict()["overridden"] == list(comparison.overridden)
    assert comparison.mean("a", "mrr").n == 4


def test_nothing_in_common_is_refused_even_anyway():
    other = evaluate(
        [{**record, "id": f"r{i}"} for i, record in enumerate(records(HITS))], metrics="mrr"
    )
    with pytest.raises(InvalidInput, match="a and b share no queries: a has 'q0', 'q1', 'q2', …"):
        compare_scores({"a": measured(HITS), "b": other}, anyway=True)


def test_values_follow_their_queries_whatever_the_order():
    backwards = evaluate(records([1, 2, 3, 4, 5, 6])[::-1], metrics="mrr,recall@5")
    systems = {"a": measured([2, 3, 4, 5, 6, 7]), "b": backwards}
    assert obstacles(systems) == []
    assert shared_queries(systems)["query"].to_list() == [f"q{i}" for i in range(6)]
    found = compare_scores(systems).largest("b", "mrr", wins=True, count=1)
    assert (found[0].query, found[0].baseline, found[0].system) == ("q0", 0.5, 1.0)


def test_without_fingerprints_another_number_of_targets_is_noticed():
    more = records(HITS)
    more[1]["ground_truth"] = {"target": 1, "other": 1}
    systems = {
        name: evaluate(one, metrics="mrr", fingerprints=False)
        for name, one in (("a", records(HITS)), ("b", more))
    }
    with pytest.raises(InvalidInput, match="query 'q1' is 1 in a and 2 in b"):
        compare_scores(systems)
