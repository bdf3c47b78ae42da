import json

import pytest

from calipers import evaluate
from calipers.io.load import load
from calipers.io.traces import read_traces
from tests.command import refused
from tests.io.formats.expect import FIXTURES, results, targets


def test_runs_of_retrievers_are_the_results():
    found = results(FIXTURES / "langsmith.jsonl")
    assert [(one["query"], one["item"], one["document"]) for one in found] == [
        ("What is the GIL?", "c1", "faq.md"),
        ("What is the GIL?", "c2", "faq.md"),
    ]
    queries = load(FIXTURES / "langsmith.jsonl", "run").run.queries
    assert queries.select("latency_ms", "error").rows() == [(250.0, None), (1000.0, "timeout")]


def test_runs_that_hold_the_runs_below_them_and_messages_that_ask(tmp_path):
    def search(began, *ids):
        return {
            "run_type": "retriever",
            "trace_id": "t",
            "inputs": {"query": f"step {began}"},
            "outputs": {"output": [{"id": one, "page_content": one} for one in ids]},
            "start_time": f"2026-01-02T03:04:0{began}",
        }

    messages = [
        {"type": "human", "content": "Hello"},
        {"type": "ai", "content": "Yes?"},
        {"type": "human", "content": [{"type": "text", "text": "Who owns it?"}]},
    ]
    agent = {
        "run_type": "chain",
        "trace_id": "t",
        "inputs": {"messages": messages},
        "start_time": "2026-01-02T03:04:00",
        "child_runs": [search(2, "c9"), search(1, "c4")],
        "extra": {"metadata": {"customer": "acme", "ls_method": "traceable"}},
    }
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(agent))
    frame = load(path, "run").run.frame
    assert frame.select("query", "item", "call").rows() == [
        ("Who owns it?", "c4", 1),
        ("Who owns it?", "c9", 2),
    ]
    (record,) = read_traces(path)
    assert record.tags == {"customer": "acme"}


def test_several_calls_in_a_trace_are_numbered_as_they_began(tmp_path):
    def run(kind, began, question, *ids):
        documents = [{"page_content": one, "metadata": {"id": one}} for one in ids]
        return {
            "run_type": kind,
            "trace_id": "t",
            "start_time": f"2026-01-02T03:04:0{began}",
            "inputs": {"query": question},
            "outputs": {"documents": documents},
        }

    rows = [
        run("retriever", 3, "second step", "c9"),
        run("chain", 1, "Who owns it?"),
        run("retriever", 2, "first step", "c4", "c2"),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    frame = load(path, "run").run.frame
    assert frame.select("query", "item", "call").rows() == [
        ("Who owns it?", "c4", 1),
        ("Who owns it?", "c2", 1),
        ("Who owns it?", "c9", 2),
    ]


EXAMPLES = FIXTURES / "langsmith_examples.jsonl"


def test_examples_are_the_ground_truth():
    assert targets(EXAMPLES) == [
        {"query": "What is the GIL?", "item": "c1"},
        {"query": "What is the GIL?", "item": "c2"},
        {"query": "How do lists grow?", "item": "c7"},
    ]
    assert load(EXAMPLES, "both").ground_truth.tags["level"].to_list() == ["easy", None]
    # Runs and examples are named alike: by what was asked.
    scores = evaluate(ground_truth=EXAMPLES, run=FIXTURES / "langsmith.jsonl", metrics="recall@5")
    assert scores.per_query["recall@5"][0] == 1.0


@pytest.mark.parametrize(
    ("outputs", "meant"),
    [
        ({"relevantDocs": ["c1"]}, [{"item": "c1"}]),
        (
            {"expected_ids": {"c1": 2, "c2": 0}},
            [{"item": "c1", "grade": 2}, {"item": "c2", "grade": 0}],
        ),
        (
            {"documents": [{"page_content": "It is a lock.", "metadata": {"source": "gil.md"}}]},
            [{"quote": "It is a lock.", "document": "gil.md"}],
        ),
        ({"expected": 7}, [{"item": "7"}]),
    ],
)
def test_what_should_be_found_has_several_shapes(outputs, meant):
    found = targets([{"inputs": {"asked": "Who?"}, "outputs": outputs}])
    assert found == [{"query": "Who?", **one} for one in meant]


def test_examples_of_answers_and_without_a_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = {"inputs": {"question": "Who?"}, "outputs": {"answer": "Nobody."}}
    (tmp_path / "answers.json").write_text(json.dumps([answers]))
    (tmp_path / "run.json").write_text('{"Who?": ["a"]}')
    sentence = refused("eval", "-g", "answers.json", "-r", "run.json")
    assert "an answer is not what a retriever returns" in sentence
    (tmp_path / "odd.json").write_text(json.dumps([{"inputs": {"a": 1, "b": 2}, "outputs": {}}]))
    sentence = refused("audit", "odd.json")
    assert "An example has no question at odd.json $[0].inputs: no 'question'" in sentence
    assert "found a, b" in sentence


def test_a_time_without_its_zone_is_utc():
    run = {
        "run_type": "retriever",
        "inputs": {"query": "Who?"},
        "outputs": {"documents": []},
        "start_time": "2026-01-02T03:04:05Z",
        "end_time": "2026-01-02T03:04:06.5",
        "child_runs": 3,
    }
    assert load([run], "run").run.queries["latency_ms"].to_list() == [1500.0]
