from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput

RECORDS: list[dict[str, Any]] = [
    {"query": "found", "retrieved": [["a", 0.9], ["b", 0.2]], "ground_truth": ["a"]},
    {"query": "lost", "retrieved": [["x", 0.8], ["b", 0.4]], "ground_truth": ["b"]},
    {"query": "silent", "retrieved": [], "ground_truth": []},
    {"query": "weak", "retrieved": [["x", 0.3], ["y", 0.1]], "ground_truth": {"x": 0}},
    {"query": "loud", "retrieved": [["x", 0.7], ["y", 0.1]], "ground_truth": []},
    {"query": "failed", "retrieved": [], "ground_truth": [], "error": "timed out"},
]
for one in RECORDS:
    one["retrieved"] = [{"id": name, "score": score} for name, score in one["retrieved"]]
NAMES = "recall@2,abstention,unwanted,unwanted@1"


def test_only_queries_without_targets_count_and_a_failure_is_no_right_answer():
    scores = calipers.evaluate(RECORDS, metrics=NAMES)
    assert [scores[name].mean for name in NAMES.split(",")] == [1.0, 0.25, 4 / 3, 2 / 3]
    assert (scores["recall@2"].n, scores["abstention"].n, scores["unwanted"].n) == (2, 4, 3)
    assert scores.audit.unanswerable == 4


@pytest.mark.parametrize("least", [0.0, 0.1, 0.2, 0.35, 0.8, 2.0])
def test_min_score_equals_a_run_without_the_lower_results(least):
    def kept(one):
        return {**one, "retrieved": [r for r in one["retrieved"] if r["score"] >= least]}

    scores = calipers.evaluate(RECORDS, metrics=NAMES, min_score=least)
    cut = calipers.evaluate([kept(one) for one in RECORDS], metrics=NAMES, nothing_in_common="zero")
    np.testing.assert_array_equal(scores.values, cut.values)
    assert scores.queries.equals(cut.queries)
    assert scores.fingerprints["settings"] != cut.fingerprints["settings"]


def test_a_run_without_empty_queries_in_it_keeps_those_that_lose_all():
    run = {one["query"]: {r["id"]: r["score"] for r in one["retrieved"]} for one in RECORDS[:5]}
    truth = {one["query"]: one["ground_truth"] for one in RECORDS[:5]}
    scores = calipers.evaluate(ground_truth=truth, run=run, metrics=NAMES, min_score=0.5)
    assert scores["abstention"].mean == 2 / 3
    assert scores.audit.empty == 2
    assert scores.audit.missing == 0


def test_where_every_query_has_a_target_the_sentence_says_what_is_needed():
    records = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]
    said = str(calipers.evaluate(records, metrics="abstention"))
    assert said.startswith("Nothing can be said: abstention needs queries without targets.")
    with pytest.raises(InvalidInput, match="abstention is undefined for all 1 queries"):
        calipers.gate(records, require="abstention >= 0.5")


def test_scores_that_cannot_have_a_floor_are_refused():
    distances = [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.4}]
    records = [{"query": "q", "retrieved": distances, "ground_truth": ["a"]}]
    with pytest.raises(InvalidInput, match="look like distances"):
        calipers.evaluate(records, min_score=0.2)
    with pytest.raises(InvalidInput, match="not every result has one"):
        calipers.evaluate({"q": ["a"]}, ground_truth={"q": ["a"]}, min_score=0.2)
    with pytest.raises(InvalidInput, match=r"is nan; it must be a number, such as 0\.5"):
        calipers.evaluate(RECORDS, min_score=float("nan"))
    weak = calipers.evaluate(RECORDS, metrics=NAMES, min_score=0.5)
    with pytest.raises(InvalidInput, match=r"min_score is None in old and 0\.5 in new"):
        calipers.compare({"old": calipers.evaluate(RECORDS, metrics=NAMES), "new": weak})


def test_a_gate_holds_the_share():
    def passed(**how):
        return calipers.gate(RECORDS, require="abstention >= 0.5", **how).passed

    assert not passed()
    assert passed(min_score=0.5)


def test_a_score_whose_parts_are_never_there_together_says_so() -> None:
    truth: dict[str, dict[str, int]] = {"a": {"x": 1}, "b": {}}
    run = {"a": {"x": 1.0}, "b": {"y": 1.0}}
    metrics = "score(recall@2=1,abstention=1)"
    said = " ".join(str(calipers.evaluate(ground_truth=truth, run=run, metrics=metrics)).split())
    assert said.startswith("Nothing can be said: no query has a value in all parts of score(")
