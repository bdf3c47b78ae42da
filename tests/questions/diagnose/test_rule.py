import pytest

from calipers import diagnose, evaluate, rules
from calipers.errors import InvalidInput
from tests.systems import records

LATE, EARLY = [8] * 15 + [9] * 15, [1] * 25 + [2] * 5


def test_the_numbers_are_those_of_an_evaluation():
    diagnosis = diagnose(records(LATE))
    scores = evaluate(records(LATE), metrics="recall@10,ndcg@10")
    by_name = {summary.metric: summary for summary in diagnosis.summaries}
    assert by_name["recall@10"] == scores["recall@10"]
    assert by_name["ndcg@10"] == scores["ndcg@10"]
    assert (diagnosis.k, diagnosis.n, diagnosis.queries) == (10, 30, 30)


def test_k_is_ten_or_the_longest_list():
    short = [{**record, "retrieved": record["retrieved"][:4]} for record in records([1] * 9)]
    assert diagnose(short).k == 4
    assert diagnose(short, k=7).k == 7
    with pytest.raises(InvalidInput, match="k must be a whole number"):
        diagnose(short, k=0)


def test_two_systems_say_what_changed():
    diagnosis = diagnose(records(EARLY), before=records(LATE))
    assert diagnosis.changes == {
        "too_wide": "still there",
        "k_too_large": "still there",
        "thin_ground_truth": "still there",
        "ordered_badly": "gone",
    }
    assert diagnosis.comparison.primary == "recall@10"
    assert diagnosis.comparison.difference("now", "mrr@10").verdict == "supporting"
    assert diagnosis.before.findings
    result = diagnosis.to_dict()
    assert result["changes"] == diagnosis.changes
    assert result["before"]["k"] == result["k"] == 10
    assert result["comparison"]["baseline"] == "before"


def test_something_new_is_called_new():
    assert diagnose(records(LATE), before=records(EARLY)).changes["ordered_badly"] == "new"
    assert diagnose(records(LATE)).changes == {}


def test_an_earlier_run_without_ground_truth_is_measured_by_the_same():
    earlier = {f"q{i}": ["x", "target"] for i in range(30)}
    diagnosis = diagnose(records(EARLY), before=earlier)
    assert diagnosis.comparison.mean("before", "mrr@10").mean == 0.5


def test_another_ground_truth_is_refused():
    other = [{**record, "ground_truth": ["x1"]} for record in records(LATE)]
    with pytest.raises(InvalidInput, match="different ground truth"):
        diagnose(records(EARLY), before=other)
    assert diagnose(records(EARLY), before=other, anyway=True).comparison.overridden


def test_nothing_to_find_is_refused():
    made = [{"query": "q", "retrieved": ["a"], "ground_truth": {}}]
    with pytest.raises(InvalidInput, match="nothing to diagnose"):
        diagnose(made)


def test_a_price_needs_tokens():
    with pytest.raises(InvalidInput, match="tokens of the results are not known"):
        diagnose(records(EARLY), price=1.0)


def test_every_rule_is_listed_with_its_thresholds_filled_in():
    listed = rules()
    assert len({rule["name"] for rule in listed}) == len(listed)
    for rule in listed:
        assert "{" not in rule["holds_when"]
        assert rule["thresholds"]
