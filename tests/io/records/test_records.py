"""Our own records: every form of results and targets, one by one and as columns."""

import json
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.records import explode

TRUTH = {"a": 2, "b": 0}
FORMS: dict[str, Any] = {
    "ids": ["x", "a", "b"],
    "numbers": [7, "a", "b"],
    "objects": [{"id": "x"}, {"id": "a", "score": 0.5}, {"id": "b", "text": "…", "tokens": 3}],
    "mixed": ["x", {"id": "a"}],
    "scores": {"b": 0.1, "x": 9, "a": 0.5},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("file", ["memory", "json", "jsonl"])
def test_forms_of_results(form: str, file: str, tmp_path: Path) -> None:
    record = {"query": "q", "retrieved": FORMS[form], "ground_truth": TRUTH}
    data: Any = [record, {**record, "query": "r"}]
    if file != "memory":
        path = tmp_path / f"evals.{file}"
        lines = "\n".join(map(json.dumps, data))
        path.write_text(lines if file == "jsonl" else json.dumps(data, indent=1))
        data = path
    assert calipers.evaluate(data, metrics="mrr").of("mrr").tolist() == [0.5, 0.5]


TARGETS: dict[str, Any] = {
    "grades": {"a": 2, "b": 0, "c": 0.5},
    "ids": ["a", "c"],
    "objects": [{"id": "a", "grade": 2}, {"id": "b", "grade": 0}, {"id": "c"}],
    "mixed": ["a", {"id": "c"}],
    "alternatives": [{"id": "a", "group": "1"}, {"id": "z", "group": "1"}, {"id": "c"}],
}


@pytest.mark.parametrize("form", TARGETS)
def test_forms_of_targets(form: str) -> None:
    data = [{"query": "q", "retrieved": ["x", "a"], "ground_truth": TARGETS[form]}]
    assert calipers.evaluate(data, metrics="recall@2")["recall@2"].mean == 0.5


def test_scores_in_records_obey_the_rule_for_ties() -> None:
    data = [{"query": "q", "retrieved": {"a": 1.0, "b": 1.0}, "ground_truth": ["b"]}]
    expected: list[tuple[Any, float]] = [("input", 0.5), ("trec", 1.0), (None, 1.0)]
    for ties, value in expected:
        scores = calipers.evaluate(data, metrics="mrr", ties=ties)
        assert scores["mrr"].mean == value
        assert scores.audit.ties_on_targets == 1
    with pytest.raises(InvalidInput, match="have the same score 1"):
        calipers.evaluate(data, metrics="mrr", ties="error")


def test_a_list_gives_its_own_order_whatever_the_scores() -> None:
    results = [{"id": "x", "score": 0.1}, {"id": "a", "score": 0.9}, {"id": "b", "score": 0.9}]
    data = [{"query": "q", "retrieved": results, "ground_truth": ["a"]}]
    scores = calipers.evaluate(data, metrics="mrr", ties="error")
    assert (scores["mrr"].mean, scores.audit.ties) == (0.5, 0)


def test_scores_and_lists_do_not_mix() -> None:
    data: list[dict[str, Any]] = [
        {"query": "q", "retrieved": {"a": 1.0}, "ground_truth": ["a"]},
        {"query": "r", "retrieved": ["a"], "ground_truth": ["a"]},
    ]
    with pytest.raises(InvalidInput, match="scores for some queries and bare lists for others"):
        calipers.evaluate(data)
    data[1]["retrieved"] = []
    assert calipers.evaluate(data, metrics="mrr").of("mrr").tolist() == [1.0, 0.0]


def test_fields_of_the_run_are_kept() -> None:
    fields = {"text": "Alpha", "start": 0, "end": 5, "tokens": 2}
    data = [
        {"query": "q", "retrieved": [{"id": "a", "document": 3, **fields}], "latency_ms": 12.5},
        {"query": "r", "error": "timed out"},
    ]
    run = load(data, "run").run
    assert run is not None
    named = {"query": "q", "rank": 1, "item": "a", "document": "3"}
    assert run.frame.row(0, named=True) == {**named, **fields}
    assert run.queries is not None
    assert run.queries.select("query", "latency_ms", "error").rows() == [
        ("q", 12.5, None),
        ("r", None, "timed out"),
    ]


def test_a_chunk_more_or_less_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = [
        {
            "query": f"q{i}",
            "retrieved": [f"d{i}", "x"],
            "ground_truth": {"x": 1, f"d{i % 3}": 1},
            "tags": {"third": str(i % 3)},
        }
        for i in range(10)
    ]
    whole = calipers.evaluate(data)
    monkeypatch.setattr(explode, "CHUNK", 3)
    pieces = calipers.evaluate(data)
    assert whole.to_dict() == pieces.to_dict()


REFUSED: dict[str, tuple[list[Any], str]] = {
    "no record": (["text"], "A record is a str at data[0]"),
    "no query": ([{"retrieved": [], "ground_truth": []}], "no 'query'"),
    "a bool as id": (
        [{"query": "q", "retrieved": [True], "ground_truth": ["a"]}],
        "data[0].retrieved[0]: found bool",
    ),
    "NaN score": (
        [{"query": "q", "retrieved": {"a": float("nan")}, "ground_truth": ["a"]}],
        "A score is nan at data[0].retrieved['a']",
    ),
    "infinite score": (
        [{"query": "q", "retrieved": [{"id": "a", "score": float("inf")}], "ground_truth": ["a"]}],
        "A score is inf at data[0].retrieved[0];",
    ),
    "NaN grade": (
        [{"query": "q", "retrieved": ["a"], "ground_truth": {"a": float("nan")}}],
        "A grade is not a number at data[0].ground_truth[0]: found nan",
    ),
    "unpaired surrogate": (
        [{"query": "\ud800", "retrieved": ["a"], "ground_truth": ["a"]}],
        "unpaired surrogate",
    ),
    "a target without anything": (
        [{"query": "q", "retrieved": ["a"], "ground_truth": [{}]}],
        "data[0].ground_truth[0]; give it one",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_used(fault: str) -> None:
    data, words = REFUSED[fault]
    with pytest.raises(InvalidInput) as caught:
        calipers.evaluate(data)
    assert words in str(caught.value)


def test_the_first_record_without_a_part_that_others_have_is_named(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text(
        '{"query": "a", "retrieved": ["x"], "ground_truth": ["x"]}\n'
        '\n{"query": "b", "retrieved": ["x"]}\n{"query": "c", "retrieved": ["x"]}\n'
    )
    with pytest.raises(InvalidInput, match=r"1 of 3 records.*the first at \S*evals\.jsonl:3"):
        load(path, "both")


BOTH = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}


def test_lists_objects_and_scores_make_stages():
    records = [
        {
            **BOTH,
            "stages": {"candidates": ["b", {"id": "a", "score": 2.0}], "exact": {"x": 1, "y": 2}},
        },
        {**BOTH, "query": "r", "stages": {"candidates": []}},
        {**BOTH, "query": "s"},
    ]
    run = load(records, "both").run
    assert set(run.stages) == {"candidates", "exact"}
    candidates, exact = run.stages["candidates"], run.stages["exact"]
    assert candidates.frame.select("query", "rank", "item").rows() == [("q", 1, "b"), ("q", 2, "a")]
    assert candidates.queries["query"].to_list() == ["q", "r"]
    assert exact.frame["item"].to_list() == ["y", "x"]
    assert exact.queries["query"].to_list() == ["q"]


def test_a_bad_stage_is_named_with_its_path():
    with pytest.raises(InvalidInput, match=r"data\[0\].stages.candidates\[1\]"):
        load([{**BOTH, "stages": {"candidates": ["a", {"score": 1.0}]}}], "both")


def test_scores_that_rise_along_a_list_are_said():
    listed = [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.9}]
    run = [{"query": "q", "retrieved": listed}]
    scores = calipers.evaluate(run, ground_truth={"q": ["a"]}, metrics="mrr")
    assert scores["mrr"].mean == 1
    assert "The scores of 1 query rise along the list" in " ".join(scores.settings["notes"])
    falling = [{"query": "q", "retrieved": listed[::-1]}]
    assert not calipers.evaluate(falling, ground_truth={"q": ["a"]}, metrics="mrr").settings[
        "notes"
    ]
