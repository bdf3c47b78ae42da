"""Langfuse: observations, or traces with their observations, exported as JSON."""

from collections.abc import Iterator
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.records.records import Record
from calipers.io.records.rows import At, Rows
from calipers.io.records.traces import (
    Span,
    TraceFormat,
    documents_in,
    milliseconds,
    objects_in,
    plain_tags,
    question_in,
)
from calipers.names import words_in

RETRIEVER = "RETRIEVER"


class Langfuse(TraceFormat):
    """Observations, or traces, one a row."""

    name = "langfuse"
    title = "traces exported from Langfuse"
    row = dict[str, Any]
    example = '{"traceId": …, "type": "RETRIEVER", "input": …, "output": […]}'
    kept = frozenset(
        words_in(
            "type traceId input output startTime endTime level statusMessage observations "
            "metadata id trace_id start_time end_time status_message"
        )
    )
    results_field = "output"
    known_by = (
        {"traceId", "type", "startTime"},
        {"trace_id", "type", "start_time"},
        {"traceId", "type", "input"},
        {"observations", "input"},
    )

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every observation, in the words that all forms of traces share."""
        for at, row in rows:
            if "observations" not in row:
                yield _span(row, _named(row, "traceId"), at)
                continue
            # The trace itself is the outermost step, whenever it says it began.
            tags = plain_tags(row.get("metadata"))
            yield Span(str(row.get("id")), "", at, question_in(row.get("input")), tags=tags)
            for one in objects_in(row["observations"]):
                yield _span(one, row.get("id"), at)


SNAKE = {
    "traceId": "trace_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "statusMessage": "status_message",
}
"""What the API calls a field, and what files that Langfuse exports to a storage call it."""


def _named(row: dict[str, Any], name: str) -> Any:
    found = row.get(name)
    return row.get(SNAKE[name]) if found is None else found


def _span(row: dict[str, Any], trace: Any, at: At) -> Span:
    asked, record = question_in(row.get("input")), None
    if row.get("type") == RETRIEVER:
        record, asked = _record(row, asked, at), None
    began = str(_named(row, "startTime") or "")
    return Span(
        None if trace is None else str(trace),
        began,
        at,
        asked,
        record,
        plain_tags(row.get("metadata")),
    )


def _record(row: dict[str, Any], asked: str | None, at: At) -> Record:
    if asked is None:
        raise InvalidInput(
            f"An observation of a retriever has no question at {at()}: no 'query' in its 'input', "
            f"nor is that a text; an observation is {Langfuse.example}. The API leaves out what "
            "was not asked for: ask with fields='core,basic,io,metadata'."
        )
    failed = row.get("level") == "ERROR"
    return Record(
        asked,
        retrieved=documents_in(row.get("output"), at),
        latency_ms=milliseconds(_named(row, "startTime"), _named(row, "endTime")),
        error=str(_named(row, "statusMessage") or "the observation ended with an error")
        if failed
        else None,
    )
