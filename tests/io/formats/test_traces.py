"""Traces of OpenTelemetry, LangSmith and Langfuse; ``test_tools`` has what their fixtures hold."""

import json
import re
from typing import Any

import polars as pl
import pytest

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.formats.ubi import read_traces
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, put, results

KINDS = ("openinference", "langsmith", "langfuse", "opentelemetry")


def span(kind: str, began: int, asked: Any, ids: Any = None) -> dict[str, Any]:
    """A call of a retriever that found these, or another step where they are None."""
    time = f"2026-01-02T03:04:0{began}"
    if kind == "langsmith":
        of = "chain" if ids is None else "retriever"
        documents = [{"page_content": one, "metadata": {"id": one}} for one in ids or ()]
        about = {"run_type": of, "trace_id": "t", "start_time": time, "inputs": {"query": asked}}
        return {**about, "outputs": {"documents": documents}}
    if kind == "langfuse":
        of = "SPAN" if ids is None else "RETRIEVER"
        documents = [{"id": one} for one in ids or ()]
        about = {"type": of, "traceId": "t", "startTime": f"{time}Z", "input": asked}
        return {**about, "output": documents}
    if kind == "opentelemetry" and ids is None:
        asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": asked}]}])
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": asked}
    elif kind == "opentelemetry":
        attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": asked}
        attributes["gen_ai.retrieval.documents"] = [{"id": one} for one in ids or ()]
    if kind == "opentelemetry":
        about = {"startTimeUnixNano": str(began), "endTimeUnixNano": "9"}
        return {"traceId": "t", **about, "attributes": attributes}
    of = "AGENT" if ids is None else "RETRIEVER"
    found = {f"retrieval.documents.{i}.document.id": one for i, one in enumerate(ids or ())}
    attributes = {"openinference.span.kind": of, "input.value": asked, **found}
    return {"context": {"trace_id": "t"}, "start_time": f"{time}+00:00", "attributes": attributes}


CALLS = [("Who owns it?", "c4", 1), ("Who owns it?", "c2", 1), ("Who owns it?", "c9", 2)]


def calls(value: Any) -> list[tuple[Any, ...]]:
    return load(value, "run").run.frame.select("query", "item", "call").rows()


@pytest.mark.parametrize("kind", KINDS)
def test_several_calls_in_a_trace_are_numbered_as_they_began(kind, tmp_path):
    spans = [
        span(kind, 3, "the second step", ["c9"]),
        span(kind, 1, "Who owns it?"),
        span(kind, 2, "the first step", ["c4", "c2"]),
    ]
    path = put(tmp_path, "trace.jsonl", spans)
    assert calls(path) == CALLS
    (call,) = read_traces(path)
    assert call.question == "Who owns it?"


def test_spans_hold_the_spans_below_them_and_messages_ask(tmp_path):
    messages = [
        {"type": "human", "content": "Hello"},
        {"type": "ai", "content": "Yes?"},
        {"type": "human", "content": [{"type": "text", "text": "Who owns it?"}]},
    ]
    agent = {
        **span("langsmith", 0, ""),
        "inputs": {"messages": messages},
        "child_runs": [span("langsmith", 2, "b", ["c9"]), span("langsmith", 1, "a", ["c4", "c2"])],
    }
    path = put(tmp_path, "runs.jsonl", [agent])
    assert calls(path) == CALLS
    inner = [span("langfuse", 2, "b", ["c9"]), span("langfuse", 1, "a", ["c4", "c2"])]
    step = span("langfuse", 3, "step 3", ["c1"])
    del step["traceId"]
    alone = {"id": "t2", "input": "Who?", "observations": [step]}
    whole = {"id": "t", "input": {"question": "Who owns it?"}, "observations": inner}
    assert calls(put(tmp_path, "traces.json", [whole, alone])) == [*CALLS, ("step 3", "c1", None)]
    text = {"id": "t", "input": "Who?", "observations": json.dumps(inner[:1]), "metadata": "{}"}
    assert [row["item"] for row in results([text], "run")] == ["c9"]


def test_a_table_of_spans_keeps_traces_together(tmp_path):
    rows = [
        ("t1", 1, "AGENT", "Who owns it?", None),
        ("t1", 2, "RETRIEVER", "the first step", [{"document.id": "c4"}, {"document.id": "c2"}]),
        ("t1", 3, "RETRIEVER", "the second step", [{"document.id": "c9"}]),
    ]
    names = ["context.trace_id", "start_time", "span_kind"]
    names += ["attributes.input.value", "attributes.retrieval.documents"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        pl.format("2026-01-02T03:04:0{}+00:00", "start_time").alias("start_time")
    )
    table.write_parquet(tmp_path / "spans.parquet")
    texts = [None if one is None else json.dumps(one) for *_, one in rows]
    for value in (
        table,
        tmp_path / "spans.parquet",
        table.with_columns(pl.Series(names[4], texts)),
    ):
        assert calls(value) == CALLS


def _span(query, *ids):
    documents = {f"retrieval.documents.{i}.document.id": item for i, item in enumerate(ids)}
    return {"attributes": {"input.value": query, **documents}}


def test_order_repetition_and_contradiction():
    ids = [f"c{i}" for i in range(12)]
    # The order is that of the numbers, not of the letters.
    assert [row["item"] for row in results([_span("q", *ids)])] == ids
    assert len(results([_span("q", "a", "b"), _span("q", "a", "b")])) == 2
    with pytest.raises(InvalidInput, match=r"different results: data\[0\] and data\[1\]"):
        results([_span("q", "a"), _span("q", "b")])


@pytest.mark.parametrize("content", [5, 2.5, True])
def test_the_content_of_a_document_may_be_a_number(content):
    text = (FIXTURES / "openinference.jsonl").read_text()
    spans = [json.loads(line) for line in text.splitlines()]
    key = "retrieval.documents.0.document.content"
    one = next(span for span in spans if key in span["attributes"])
    one["attributes"][key] = content
    assert str(content) in load([one], "run").run.frame["text"].to_list()


def test_opentelemetrys_own_spans_are_read_and_what_they_lack_is_named(tmp_path):
    def export(**more):
        given = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}
        pairs = [{"key": k, "value": {"stringValue": v}} for k, v in {**given, **more}.items()]
        spans = [{"traceId": "t", "spanId": "s", "attributes": pairs}]
        return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}

    found = '[{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]'
    whole = export(**{"gen_ai.retrieval.documents": found})
    for name in ("otlp.json", "otlp.jsonl"):
        path = put(tmp_path, name, [whole] if name.endswith("l") else whole)
        rows = [(row["query"], row["item"], row["score"]) for row in results(path, "run")]
        assert rows == [("Who?", "a", 0.9), ("Who?", "b", 0.5)]
        assert len(list(read_traces(path))) == 1
    with pytest.raises(
        InvalidInput, match="no retrieval span among the one span of the file; export spans"
    ):
        load(put(tmp_path, "chat.json", export(**{"gen_ai.operation.name": "chat"})), "run")
    with pytest.raises(InvalidInput, match=r"no attribute 'gen_ai\.retrieval\.documents'"):
        load(put(tmp_path, "none.json", export()), "run")


def test_inputs_and_outputs_that_are_json_in_a_text(tmp_path):
    """The API gives them so; files in a storage also name fields in snake case."""
    row = {
        "id": "o1",
        "trace_id": "t1",
        "type": "RETRIEVER",
        "input": '{"query": "Who?"}',
        "output": '[{"id": "c1", "content": "Anna"}]',
        "level": "ERROR",
        "start_time": "2026-01-02 03:04:05.000000",
        "end_time": "2026-01-02 03:04:05.250000",
        "status_message": "half",
    }
    camel = {"trace_id": "traceId", "start_time": "startTime", "end_time": "endTime"}
    camel |= {"status_message": "statusMessage"}
    for names in ({}, camel):
        given = {names.get(key, key): value for key, value in row.items()}
        run = load(put(tmp_path, f"{len(names)}.jsonl", [given]), "run").run
        assert run.frame.select("query", "item", "text").rows() == [("Who?", "c1", "Anna")]
        assert run.queries.select("latency_ms", "error").rows() == [(250.0, "half")]


def test_a_time_without_its_zone_is_utc():
    run = {
        **span("langsmith", 5, "Who?", []),
        "start_time": "2026-01-02T03:04:05Z",
        "end_time": "2026-01-02T03:04:06.5",
        "child_runs": 3,
    }
    assert load([run], "run").run.queries["latency_ms"].to_list() == [1500.0]


def test_traces_without_a_retrieval_span_are_called_that(tmp_path):
    steps = [span("openinference", number, "Who?") for number in range(7)]
    path = put(tmp_path, "trace.jsonl", steps)
    with pytest.raises(InvalidInput, match="no retrieval span among 7 spans"):
        load(path, "run")
    with pytest.raises(InvalidInput, match=r"no retrieval span among 7 spans of .*trace\.jsonl"):
        list(read_traces(path))


@pytest.mark.parametrize("name", ["child_spans", "children"])
def test_spans_inside_of_spans_are_read(name):
    call = span("openinference", 2, "the first step", ["c4", "c2"])
    again = span("openinference", 3, "the second step", ["c9"])
    del call["context"], again["context"]
    middle = {"name": "chain", "attributes": {}, name: [call, again]}
    assert calls([{**span("openinference", 1, "Who owns it?"), name: [middle]}]) == CALLS


def in_snake_case(value: Any) -> Any:
    """The names of the protocol as other exports write them: ``start_time_unix_nano``."""
    if isinstance(value, list):
        return [in_snake_case(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("(?<=[a-z])([A-Z])", r"_\1", key).lower(): in_snake_case(held)
        for key, held in value.items()
    }


def test_otlp_in_snake_case_is_the_same(tmp_path):
    camel = FIXTURES / "otlp.json"
    path = put(tmp_path, "otlp.json", in_snake_case(json.loads(camel.read_text())))
    assert "resource_spans" in path.read_text()
    one, other = load(camel, "run").run, load(path, "run").run
    assert other.frame.equals(one.frame)
    assert other.queries.equals(one.queries)
    broken = put(tmp_path, "broken.json", {"resource_spans": [{"scope_spans": 3}]})
    with pytest.raises(InvalidInput, match=r"wrong type at .*resourceSpans\[0\]\.scopeSpans"):
        load(broken, "run")


def test_spans_that_a_program_prints_one_after_another_are_read(tmp_path):
    """The console exporter: objects on several lines, with nothing between them."""
    spans = [span("openinference", 1, "Who owns it?"), span("openinference", 2, "s", ["c4", "c2"])]
    spans.append(span("openinference", 3, "the second step", ["c9"]))
    path = tmp_path / "console.txt"
    path.write_text("\n".join(json.dumps(one, indent=4) for one in spans), encoding="utf-8")
    assert calls(path) == CALLS
    assert len(list(read_traces(path))) == 1
    path.write_text(path.read_text() + "\nDone.", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="goes on after the end of its value"):
        load(path, "run")


def recorded(ids: list[str], **more: Any) -> dict[str, Any]:
    """A span of a vector store as OpenLLMetry records it."""
    events = [
        {
            "name": "db.query.result",
            "attributes": {
                "db.query.result.id": name,
                "db.query.result.distance": 0.1 * place,
                "db.query.result.document": f"Text {name}.",
            },
        }
        for place, name in enumerate(ids)
    ]
    attributes = {"db.system": "chroma", "db.operation": "query"}
    embedded = {"name": "db.query.embeddings", "attributes": {"db.query.embeddings.vector": "[]"}}
    context = {"trace_id": "t"}
    return {
        "name": "chroma.query",
        "context": context,
        "start_time": "2",
        "attributes": attributes,
        "events": [embedded, *events],
        **more,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"args": ["Who owns it?"], "kwargs": {}},
        {"args": [], "kwargs": {"question": "Who owns it?"}},
        {"inputs": {"query": "Who owns it?"}, "tags": []},
    ],
)
def test_retrieval_spans_of_openllmetry_have_the_question_of_their_workflow(given):
    workflow = {
        "context": {"trace_id": "t"},
        "start_time": "1",
        "attributes": {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.input": json.dumps(given),
        },
    }
    rows = results([workflow, recorded(["c4", "c2"])], "run")
    assert [(row["query"], row["item"], row["text"]) for row in rows] == [
        ("Who owns it?", "c4", "Text c4."),
        ("Who owns it?", "c2", "Text c2."),
    ]
    again = [workflow, recorded(["c4", "c2"]), recorded(["c9"], start_time="3")]
    assert calls(again) == CALLS
    with pytest.raises(InvalidInput, match=r"has no question .* 'traceloop\.entity\.input'"):
        load([recorded(["c4"])], "run")
