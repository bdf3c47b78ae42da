"""LangSmith: runs of a project, exported as JSON lines or as a list."""

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


class LangSmith(RowFormat):
    """Runs, one a row."""

    name = "langsmith"
    title = "runs exported from LangSmith"
    row = dict[str, Any]
    example = '{"run_type": "retriever", "inputs": {"query": …}, "outputs": {"documents": […]}}'
    kept = frozenset(
        {
            "run_type", "inputs", "outputs", "error", "start_time", "end_time", "trace_id",
            "parent_run_id", "tags", "extra",
        }
    )  # fmt: skip
    results_field = "outputs"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``run_type`` and ``inputs``."""
        return {"run_type", "inputs"} <= keys

    def records(self, rows: Rows) -> Iterator[Record]:
        """One record per run of a retriever, or per trace in which one was called often."""
        for _, record in once_each(self.spans(rows)):
            yield record

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every run, in the words that all forms of traces share."""
        for at, run in rows:
            extra = run.get("extra")
            tags = plain_tags(extra.get("metadata") if isinstance(extra, dict) else None)
            asked = question_in(run.get("inputs"))
            record = None
            if run.get("run_type") == "retriever":
                record, asked = _record(run, asked, at), None
            trace = run.get("trace_id")
            yield Span(
                None if trace is None else str(trace), str(run.get("start_time") or ""), at, asked,
                record, tags,
            )  # fmt: skip


def _record(run: dict[str, Any], asked: str | None, at: At) -> Record:
    if asked is None:
        raise InvalidInput(
            f"A run of a retriever has no question at {at()}: no 'query' in its 'inputs'; a run "
            f"is {LangSmith.example}."
        )
    error = run.get("error")
    return Record(
        asked,
        retrieved=documents_in(run.get("outputs"), at) or [],
        latency_ms=milliseconds(run.get("start_time"), run.get("end_time")),
        error=None if not error else str(error),
    )
