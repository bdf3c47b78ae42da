"""Tests."""

import pytest

from calipers import diagnose, evaluate
from calipers.errors import InvalidInput
from tests.systems import records, tagged
from tests.zoo.animals import FAULTS

LATE = [8] * 15 + [9] * 15


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


def test_nothing_to_find_is_refused():
    made = [{"query": "q", "retrieved": ["a"], "ground_truth": {}}]
    with pytest.raises(InvalidInput, match="nothing to diagnose"):
        diagnose(made)


N = 30


def many(make, n=N):
    return [{"id": f"q{i}", "query": f"question {i}", **make(i)} for i in range(n)]


def listed(*places, length=10, targets=None):
    """A list with targets at these places, as many targets in all as said."""
    retrieved = [f"x{n}" for n in range(length)]
    for number, place in enumerate(places):
        retrieved[place - 1] = f"t{number}"
    wanted = len(places) if targets is None else targets
    return {"retrieved": retrieved, "ground_truth": [f"t{n}" for n in range(wanted)]}


def in_document(document, missed_in):
    return {
        "retrieved": [{"id": f"{document}#{n}", "document": document} for n in range(4)],
        "ground_truth": [
            {"id": f"{document}#0", "document": document},
            {"id": f"{missed_in}#9", "document": missed_in},
        ],
    }


LATE_TARGETS = many(lambda _: listed(8, 9, 10))
WIDE = many(lambda _: listed(1, length=30))


def names(made, **settings):
    return [finding.rule for finding in diagnose(made, **settings).findings]


@pytest.mark.parametrize(
    ("rule", "made"),
    [
        ("hub", many(lambda i: {"retrieved": ["hub", f"t{i}"], "ground_truth": ["hub"]})),
        ("wrong_chunk", many(lambda i: in_document(f"d{i}", f"other{i}"))),
        ("slice_collapses", tagged({"fact": [1, 1, None] * 13, "list": [1, 1, None] * 4})),
        ("finds_little", many(lambda _: listed(*range(1, 11), targets=20))),
        ("ordered_badly", many(lambda _: listed(1, 2, targets=9))),
    ],
)
def test_a_rule_stays_silent_where_something_else_is_wrong(rule, made):
    diagnosis = diagnose(made)
    assert rule not in [finding.rule for finding in diagnosis.findings]
    assert rule not in [unchecked.rule for unchecked in diagnosis.unchecked]


def test_holes_in_a_pool_are_looked_for_where_bad_results_were_judged_too():
    made = many(lambda _: listed(5) | {"ground_truth": {"t0": 1, "old": 0}})
    assert names(made) == ["thin_ground_truth"]
    known = many(
        lambda _: listed(5) | {"ground_truth": {"t0": 1, **{f"x{n}": 0 for n in range(4)}}}
    )
    assert names(known) == ["ordered_badly"]


def test_what_another_finding_settles_is_not_said_again():
    left_out = {
        one.rule: one.reason
        for one in diagnose(FAULTS["the same list for all"].records(30)).unchecked
    }
    assert left_out["ordered_badly"] == "every query gets the same list"


def test_evidence_in_quotes_is_not_called_unjudged():
    made = [
        {
            "query": f"q{i}",
            "ground_truth": [{"quote": "the answer"}, {"quote": "its reason"}],
            "retrieved": [
                {"text": f"chunk {n}" if n else "the answer; its reason"} for n in range(10)
            ],
        }
        for i in range(30)
    ]
    assert "thin_ground_truth" not in names(made)


def test_confidence_follows_the_intervals_and_the_number_of_queries():
    def confidence(made, rule):
        return {one.rule: one.confidence for one in diagnose(made).findings}[rule]

    assert confidence(LATE_TARGETS, "ordered_badly") == "high"
    assert confidence(LATE_TARGETS[:10], "ordered_badly") == "low"
    doubtful = many(lambda i: listed(5) if i % 4 == 0 else listed(1, 2), 40)
    assert confidence(doubtful, "ordered_badly") == "moderate"


def test_a_smaller_k_says_what_it_saves():
    made = [
        {
            **record,
            "id": f"{record['id']} {again}",
            "retrieved": [{"id": item, "tokens": 100} for item in record["retrieved"]],
        }
        for again in range(3)
        for record in WIDE
    ]
    (finding,) = diagnose(made, k=30).findings
    assert finding.advice == (
        "Lower k: at k = 1 recall stays 1.000 in these queries and could fall by 0.033; 29 results "
        "fewer per query.",
    )


def test_a_smaller_k_that_is_not_settled_is_named_with_the_safe_one():
    (finding,) = diagnose(WIDE, k=30).findings
    assert finding.confidence == "moderate"
    assert finding.evidence[0].startswith("Use k = 1: it finds 100%, as much as k = 30.")
    assert "k = 30 is safe until there are more queries" in finding.advice[0]


def test_short_lists_are_no_fault_where_little_is_missed():
    """Two of forty queries miss their target in a list of two; all others have it."""
    made = many(lambda i: listed(1, length=10) if i > 1 else listed(length=2, targets=1), n=40)
    assert "too_selective" not in names(made)


def test_queries_that_failed_are_not_called_empty_as_well():
    made = many(lambda i: listed(1) | ({"retrieved": [], "error": "timeout"} if i % 5 == 0 else {}))
    assert names(made)[0] == "retriever_fails"
    assert "nothing_returned" not in names(made)
