import json

import polars as pl
import pytest

from calipers import convert
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results

GIL = "What is the GIL?"


def test_spans_of_retrievers_become_results_and_others_pass_by():
    path = FIXTURES / "openinference.jsonl"
    assert results(path) == [
        {
            "query": GIL,
            "item": "c1",
            "score": 0.9,
            "document": "a.md",
            "text": "The global interpreter lock is a mutex.",
        },
        {"query": GIL, "item": "c2", "score": 0.5, "text": "Threads share memory."},
        {"query": "What is a list?", "item": "c3", "text": "A list is a sequence."},
    ]


def test_time_and_failure_of_a_span():
    run = load(FIXTURES / "openinference.jsonl", "both").run
    assert run is not None
    assert run.queries is not None
    assert run.queries.to_dicts() == [
        {"query": GIL, "text": GIL, "latency_ms": 250.0, "error": None},
        {"query": "What is a list?", "text": "What is a list?", "latency_ms": None, "error": None},
        {"query": "Who failed?", "text": "Who failed?", "latency_ms": None, "error": "timeout"},
    ]


def test_an_export_of_otlp():
    path = FIXTURES / "otlp.json"
    assert results(path) == [
        {"query": GIL, "item": "c1", "score": 0.75, "text": "The global interpreter lock."}
    ]
    run = load(path, "both").run
    assert run is not None
    assert run.queries is not None
    assert run.queries["latency_ms"].to_list() == [40.0]


def test_a_table_of_spans(tmp_path):
    documents = [{"document.id": "c1", "document.content": "text", "document.score": 0.5}]
    frame = pl.DataFrame(
        {
            "name": ["chain", "retrieve"],
            "span_kind": ["CHAIN", "RETRIEVER"],
            "attributes.input.value": ["q", "q"],
            "attributes.retrieval.documents": [None, documents],
        }
    )
    frame.write_parquet(tmp_path / "spans.parquet")
    expected = [{"query": "q", "item": "c1", "score": 0.5, "text": "text"}]
    assert results(tmp_path / "spans.parquet") == expected
    as_text = frame.with_columns(
        pl.Series("attributes.retrieval.documents", [None, json.dumps(documents)])
    )
    assert results(as_text) == expected


def _span(query, *ids):
    documents = {f"retrieval.documents.{i}.document.id": item for i, item in enumerate(ids)}
    return {"attributes": {"input.value": query, **documents}}


def test_the_order_is_that_of_the_numbers_not_of_the_letters():
    ids = [f"c{i}" for i in range(12)]
    assert [row["item"] for row in results([_span("q", *ids)])] == ids


def test_the_same_retrieval_twice_is_one():
    assert len(results([_span("q", "a", "b"), _span("q", "a", "b")])) == 2


def test_two_different_retrievals_for_one_question_are_an_error():
    with pytest.raises(InvalidInput, match=r"different results: data\[0\] and data\[1\]"):
        results([_span("q", "a"), _span("q", "b")])


def test_what_was_read_of_a_span_is_not_called_left_out(tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps({**_span("q", "a"), "name": "retrieve", "status_code": "OK"}))
    assert convert(path, tmp_path / "out.jsonl").unread == {"name": 1}


def test_several_calls_in_one_trace_are_one_question(tmp_path):
    def span(kind, question, began, *documents):
        found = {f"retrieval.documents.{i}.document.id": d for i, d in enumerate(documents)}
        return {
            "context": {"trace_id": "t1"},
            "start_time": f"2026-01-02T03:04:0{began}+00:00",
            "attributes": {"openinference.span.kind": kind, "input.value": question, **found},
        }

    spans = [
        span("RETRIEVER", "the firm that built the bridge", 3, "c4", "c2"),
        span("AGENT", "Who owns the firm that built the bridge?", 1),
        span("CHAIN", "a step", 2),
        span("RETRIEVER", "owner of Smith and Sons", 4, "c9"),
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in spans))
    run = load(path, "run").run
    question = "Who owns the firm that built the bridge?"
    assert run.frame.select("query", "item", "call").rows() == [
        (question, "c4", 1),
        (question, "c2", 1),
        (question, "c9", 2),
    ]


@pytest.mark.parametrize("content", [5, 2.5, True])
def test_the_content_of_a_document_may_be_a_number(content):
    text = (FIXTURES / "openinference.jsonl").read_text()
    spans = [json.loads(line) for line in text.splitlines()]
    key = "retrieval.documents.0.document.content"
    one = next(span for span in spans if key in span["attributes"])
    one["attributes"][key] = content
    assert str(content) in load([one], "run").run.frame["text"].to_list()


def test_a_table_of_spans_keeps_traces_together(tmp_path):
    spans = [
        ("t1", 1, "AGENT", "Who owns it?", None),
        ("t1", 2, "RETRIEVER", "the first step", "c4"),
        ("t1", 3, "RETRIEVER", "the second step", "c9"),
    ]
    table = pl.DataFrame(
        [
            {
                "context.trace_id": trace,
                "start_time": f"2026-01-02T03:04:0{began}+00:00",
                "span_kind": kind,
                "attributes.input.value": question,
                "attributes.retrieval.documents": item and [{"document.id": item}],
            }
            for trace, began, kind, question, item in spans
        ]
    )
    table.write_parquet(tmp_path / "spans.parquet")
    for value in (table, tmp_path / "spans.parquet"):
        assert load(value, "run").run.frame.select("query", "item", "call").rows() == [
            ("Who owns it?", "c4", 1),
            ("Who owns it?", "c9", 2),
        ]


def test_opentelemetrys_own_spans_are_read_and_what_they_lack_is_named(tmp_path):
    def span(**more):
        given = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}
        pairs = [{"key": k, "value": {"stringValue": v}} for k, v in {**given, **more}.items()]
        spans = [{"traceId": "t", "spanId": "s", "attributes": pairs}]
        path = tmp_path / "otlp.json"
        path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
        return path

    found = '[{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]'
    rows = results(span(**{"gen_ai.retrieval.documents": found}), "run")
    assert [(row["query"], row["item"], row["score"]) for row in rows] == [
        ("Who?", "a", 0.9),
        ("Who?", "b", 0.5),
    ]
    with pytest.raises(InvalidInput, match=r"no attribute 'gen_ai\.retrieval\.documents'"):
        load(span(), "run")
