"""LangSmith: runs of a project and examples of a dataset, exported as JSON lines or as a list."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.documents import BadDocument, is_number, read_document
from calipers.io.records.records import Id, Record, Target
from calipers.io.records.rows import At, EachRow, Rows
from calipers.io.records.traces import (
    Span,
    TraceFormat,
    documents_in,
    milliseconds,
    objects_in,
    opened,
    plain_tags,
    question_in,
)
from calipers.names import EXPECTED, QUESTION_IN_INPUT, WANTED_IDS, plain_name, words_in


class LangSmith(TraceFormat):
    """Runs, one a row."""

    name = "langsmith"
    title = "runs exported from LangSmith"
    row = dict[str, Any]
    example = '{"run_type": "retriever", "inputs": {"query": …}, "outputs": {"documents": […]}}'
    kept = frozenset(
        words_in(
            "run_type inputs outputs error start_time end_time trace_id parent_run_id tags "
            "extra metadata child_runs"
        )
    )
    results_field = "outputs"
    known_by = ({"run_type", "inputs"}, {"run_type", "trace_id", "start_time"})

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
            yield from self.spans((at, one) for one in objects_in(run.get("child_runs")))


class ExportedExample(msgspec.Struct):
    """One example of a dataset."""

    inputs: Any
    outputs: Any = None
    metadata: Any = None


class LangSmithExamples(EachRow):
    """Examples, one a row; they are named by their questions, as the runs are."""

    name = "langsmith_examples"
    title = "examples exported from LangSmith"
    row = ExportedExample
    example = '{"inputs": {"question": …}, "outputs": {"expected_ids": […]}}'
    truth_field = "outputs"
    no_truth = (
        "the outputs of its examples hold no ids or texts that should be found under a name that "
        f"is known ({', '.join(EXPECTED[:5])}, …); an answer is not what a retriever returns"
    )

    def recognise(self, keys: frozenset[str]) -> bool:
        """``inputs`` and ``outputs``, without what makes a run of it."""
        return {"inputs", "outputs"} <= keys and "run_type" not in keys

    def record(self, row: ExportedExample, at: At) -> Record:
        """A row as a record."""
        asked = question_in(row.inputs) or _only_text(opened(row.inputs))
        if asked is None:
            seen = opened(row.inputs)
            keys = ", ".join(seen) if isinstance(seen, Mapping) else repr(seen)[:60]
            raise InvalidInput(
                f"An example has no question at {at()}.inputs: no 'question' or "
                f"{', '.join(map(repr, QUESTION_IN_INPUT[:2]))}; found {keys or 'nothing'}."
            )
        outputs = opened(row.outputs)
        named = {plain_name(str(key)): key for key in outputs} if isinstance(outputs, dict) else {}
        known = next((named[one] for one in (*EXPECTED, *WANTED_IDS) if one in named), None)
        truth = None if known is None else _targets(outputs[known], f"{at()}.outputs.{known}")
        return Record(asked, ground_truth=truth, tags=dict(plain_tags(row.metadata)) or None)


def _only_text(inputs: Any) -> str | None:
    """The question under whatever name, where nothing else is given."""
    values = list(inputs.values()) if isinstance(inputs, Mapping) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def _targets(value: Any, place: str) -> list[Id | Target]:
    """What should be found: ids or texts, documents, or a mapping of id to grade."""
    if isinstance(value, Mapping) and value and all(is_number(one) for one in value.values()):
        return [Target(id=str(key), grade=float(one)) for key, one in value.items()]
    found: list[Id | Target] = []
    for i, one in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(one, str | int) and not isinstance(one, bool):
            found.append(one)
            continue
        try:
            row = read_document(one)
        except BadDocument as error:
            raise InvalidInput(f"What should be found {error} at {place}[{i}].") from None
        found.append(Target(id=row.id, quote=row.text, document=row.document))
    return found


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
