"""Langfuse: observations, or traces with their observations, exported as JSON."""

from collections.abc import Iterator
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.records import Record
from calipers.io.rows import At, RowFormat, Rows
from calipers.io.traces import (
    Span,
    documents_in,
    milliseconds,
    once_each,
    plain_tags,
    question_in,
)

RETRIEVER = "RETRIEVER"


class Langfuse(RowFormat):
    """Observations, or traces, one a row."""

    name = "langfuse"
    title = "traces exported from Langfuse"
    row = dict[str, Any]
    example = '{"traceId": …, "type": "RETRIEVER", "input": …, "output": […]}'
    kept = frozenset(
        {
            "type", "traceId", "input", "output", "startTime", "endTime", "level",
            "statusMessage", "observations", "metadata", "id",
        }
    )  # fmt: skip
    results_field = "output"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``traceId`` and ``type`` of an observation, or the ``observations`` of a trace."""
        return {"traceId", "type", "input"} <= keys or {"observations", "input"} <= keys

    def records(self, rows: Rows) -> Iterator[Record]:
        """One record per call of a retriever, or per trace in which one was called often."""
        for _, record in once_each(self.spans(rows)):
            yield record

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every observation, in the words that all forms of traces share."""
        for at, row in rows:
            if "observations" not in row:
                yield _span(row, row.get("traceId"), at)
                continue
            # The trace itself is the outermost step, whenever it says it began.
            tags = plain_tags(row.get("metadata"))
            yield Span(str(row.get("id")), "", at, question_in(row.get("input")), tags=tags)
            for one in row["observations"] or ():
                if isinstance(one, dict):
                    yield _span(one, row.get("id"), at)


def _span(row: dict[str, Any], trace: Any, at: At) -> Span:
    asked, record = question_in(row.get("input")), None
    if row.get("type") == RETRIEVER:
        record, asked = _record(row, asked, at), None
    return Span(
        None if trace is None else str(trace), str(row.get("startTime") or ""), at, asked, record,
        plain_tags(row.get("metadata")),
    )  # fmt: skip


def _record(row: dict[str, Any], asked: str | None, at: At) -> Record:
    if asked is None:
        raise InvalidInput(
            f"An observation of a retriever has no question at {at()}: no 'query' in its 'input', "
            f"nor is that a text; an observation is {Langfuse.example}."
        )
    failed = row.get("level") == "ERROR"
    return Record(
        asked,
        retrieved=documents_in(row.get("output"), at) or [],
        latency_ms=milliseconds(row.get("startTime"), row.get("endTime")),
        error=str(row.get("statusMessage") or "the observation ended with an error")
        if failed else None,
    )  # fmt: skip
