import json

from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results


def test_observations_of_retrievers_are_the_results():
    found = results(FIXTURES / "langfuse.jsonl")
    assert [(one["query"], one["item"], one["score"]) for one in found] == [
        ("What is the GIL?", "c1", 0.9), ("What is the GIL?", "c2", 0.4),
    ]  # fmt: skip
    queries = load(FIXTURES / "langfuse.jsonl", "run").run.queries
    assert queries.select("latency_ms", "error").rows() == [(250.0, None), (1000.0, "timeout")]


def test_traces_with_their_observations(tmp_path):
    def call(began, *ids):
        return {"type": "RETRIEVER", "input": f"step {began}", "output": [{"id": i} for i in ids],
                "startTime": f"2026-01-02T03:04:0{began}Z"}  # fmt: skip

    traces = [
        {"id": "t1", "input": {"question": "Who owns it?"},
         "observations": [call(2, "c9"), call(1, "c4")]},
        {"id": "t2", "input": "Who built it?", "observations": [call(3, "c1")]},
    ]  # fmt: skip
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces))
    frame = load(path, "run").run.frame
    assert frame.select("query", "item", "call").rows() == [
        ("Who owns it?", "c4", 1), ("Who owns it?", "c9", 2), ("step 3", "c1", None),
    ]  # fmt: skip
