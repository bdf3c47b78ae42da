import json

import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results


def test_observations_of_retrievers_are_the_results():
    found = results(FIXTURES / "langfuse.jsonl")
    assert [(one["query"], one["item"], one["score"]) for one in found] == [
        ("What is the GIL?", "c1", 0.9),
        ("What is the GIL?", "c2", 0.4),
    ]
    queries = load(FIXTURES / "langfuse.jsonl", "run").run.queries
    assert queries.select("latency_ms", "error").rows() == [(250.0, None), (1000.0, "timeout")]


def test_inputs_and_outputs_that_are_json_in_a_text(tmp_path):
    """The API gives them so; files in a storage also name fields in snake case."""
    row = {
        "id": "o1",
        "trace_id": "t1",
        "type": "RETRIEVER",
        "input": '{"query": "Who?"}',
        "output": '[{"id": "c1", "content": "Anna"}]',
        "start_time": "2026-01-02 03:04:05.000000",
        "end_time": "2026-01-02 03:04:05.250000",
        "level": "ERROR",
        "status_message": "half",
    }
    camel = {
        "trace_id": "traceId",
        "start_time": "startTime",
        "end_time": "endTime",
        "status_message": "statusMessage",
    }
    for names in ({}, camel):
        path = tmp_path / f"{len(names)}.jsonl"
        path.write_text(json.dumps({names.get(key, key): value for key, value in row.items()}))
        run = load(path, "run").run
        assert run.frame.select("query", "item", "text").rows() == [("Who?", "c1", "Anna")]
        assert run.queries.select("latency_ms", "error").rows() == [(250.0, "half")]


def test_an_output_that_holds_no_list_is_no_empty_answer(tmp_path):
    path = tmp_path / "observations.jsonl"
    row = {"id": "o1", "traceId": "t1", "type": "RETRIEVER", "input": "Who?", "startTime": ""}
    for output in ("Anna gave a party", {"answer": "Anna"}, '{"answer": "Anna"}'):
        path.write_text(json.dumps({**row, "output": output}))
        with pytest.raises(InvalidInput, match="it must be a list of documents"):
            load(path, "run")


def test_an_observation_without_its_input_says_how_to_ask_for_it(tmp_path):
    path = tmp_path / "observations.jsonl"
    path.write_text(json.dumps({"id": "o1", "traceId": "t1", "type": "RETRIEVER", "startTime": ""}))
    with pytest.raises(InvalidInput, match="fields='core,basic,io,metadata'"):
        load(path, "run")


def test_traces_with_their_observations(tmp_path):
    def call(began, *ids):
        return {
            "type": "RETRIEVER",
            "input": f"step {began}",
            "output": [{"id": i} for i in ids],
            "startTime": f"2026-01-02T03:04:0{began}Z",
        }

    traces = [
        {
            "id": "t1",
            "input": {"question": "Who owns it?"},
            "observations": [call(2, "c9"), call(1, "c4")],
        },
        {"id": "t2", "input": "Who built it?", "observations": [call(3, "c1")]},
    ]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces))
    frame = load(path, "run").run.frame
    assert frame.select("query", "item", "call").rows() == [
        ("Who owns it?", "c4", 1),
        ("Who owns it?", "c9", 2),
        ("step 3", "c1", None),
    ]


def test_observations_and_metadata_may_be_texts_and_need_not_be_lists():
    call = {"type": "RETRIEVER", "input": "Who?", "output": [{"id": "c1"}], "startTime": ""}
    trace = {"id": "t1", "input": "Who?", "metadata": '{"team": "search"}'}
    dataset = load([{**trace, "observations": json.dumps([call])}], "run")
    assert dataset.run.frame["item"].to_list() == ["c1"]
    with pytest.raises(InvalidInput, match="holds no queries"):
        load([{**trace, "observations": 3}], "run")
