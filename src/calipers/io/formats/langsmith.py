"""LangSmith: runs of a project, exported as JSON lines or as a list."""

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
    plain_tags,
    question_in,
)


class LangSmith(TraceFormat):
    """Runs, one a row."""

    name = "langsmith"
    title = "runs exported from LangSmith"
    row = dict[str, Any]
    example = '{"run_type": "retriever", "inputs": {"query": …}, "outputs": {"documents": […]}}'
    kept = frozenset(
        {
            "run_type",
            "inputs",
            "outputs",
            "error",
            "start_time",
            "end_time",
            "trace_id",
            "parent_run_id",
            "tags",
            "extra",
            "metadata",
            "child_runs",
        }
    )
    results_field = "outputs"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``run_type``, with ``inputs`` or with what every run has."""
        return "run_type" in keys and ("inputs" in keys or {"trace_id", "start_time"} <= keys)

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every run, in the words that all forms of traces share."""
        for at, run in rows:
            asked = question_in(run.get("inputs"))
            record = None
            # `client.runs.query` writes types in capitals, all before it in small letters.
            if str(run.get("run_type")).lower() == "retriever":
                record, asked = _record(run, asked, at), None
            trace = run.get("trace_id")
            yield Span(
                None if trace is None else str(trace),
                str(run.get("start_time") or ""),
                at,
                asked,
                record,
                _tags(run),
            )
            # A run that was read with those below it holds them.
            below = (one for one in run.get("child_runs") or () if isinstance(one, dict))
            yield from self.spans((at, one) for one in below)


OWN = ("ls_", "LANGSMITH_", "LANGCHAIN_")
"""How the names begin under which the library notes its own settings."""


def _tags(run: dict[str, Any]) -> dict[str, str]:
    extra = run.get("extra")
    inner = extra.get("metadata") if isinstance(extra, dict) else None
    found = plain_tags(inner) | plain_tags(run.get("metadata"))
    return {name: value for name, value in found.items() if not name.startswith(OWN)}


def _record(run: dict[str, Any], asked: str | None, at: At) -> Record:
    if asked is None:
        raise InvalidInput(
            f"A run of a retriever has no question at {at()}: no 'query' in its 'inputs'; a run "
            f"is {LangSmith.example}. The API leaves out what was not asked for: select the inputs "
            "and the outputs."
        )
    error = run.get("error")
    return Record(
        asked,
        retrieved=documents_in(run.get("outputs"), at),
        latency_ms=milliseconds(run.get("start_time"), run.get("end_time")),
        error=None if not error else str(error),
    )
