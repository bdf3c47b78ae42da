"""Traces: spans of a retriever become records, trace by trace; LangSmith and Langfuse."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import EachRow, RowFormat, Rows
from calipers.io.records.documents import BadDocument, is_number, read_document, results_in
from calipers.io.records.records import At, Id, Record, Result, Target
from calipers.names import EXPECTED, LISTS, QUESTION_IN_INPUT, WANTED_IDS, plain_name, words_in


@dataclass(frozen=True, eq=False)
class Span:
    """One step of a program: a call of a retriever, or another that may say what was asked."""

    trace: str | None
    began: str
    at: At
    question: str | None = None
    record: Record | None = None
    """What a retriever returned; None for any other step."""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Trace:
    calls: list[Span] = field(default_factory=list)
    question: str | None = None
    began: str | None = None
    tags: dict[str, str] = field(default_factory=dict)


def retrievals(spans: Iterable[Span]) -> Iterator[tuple[At, Record]]:
    """Every call of a retriever; several in one trace are one record, if its question is known."""
    traces: dict[str, _Trace] = {}
    for number, span in enumerate(spans):
        trace = traces.setdefault(span.trace or f"span {number}", _Trace())
        trace.tags.update(span.tags)
        if span.record is not None:
            trace.calls.append(span)
        # The question of an agent is that of its outermost span, which begins first.
        elif span.question is not None and (trace.began is None or span.began < trace.began):
            trace.question, trace.began = span.question, span.began
    for trace in traces.values():
        calls = [(span.at, span.record) for span in trace.calls if span.record is not None]
        if len(calls) > 1 and trace.question is not None:
            ordered = sorted(trace.calls, key=lambda span: span.began)
            calls = [(calls[0][0], _in_a_row(trace.question, ordered))]
        for at, record in calls:
            record.tags = dict(trace.tags) or None
            yield at, record


class TraceFormat(RowFormat):
    """Steps of traces, one or several a row."""

    @abstractmethod
    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every step, in the words that all forms of traces share."""

    def records(self, rows: Rows) -> Iterator[Record]:
        """One record per call of a retriever, or per trace in which one was called often."""
        for _, record in once_each(self.spans(rows)):
            yield record


def once_each(spans: Iterable[Span]) -> Iterator[tuple[At, Record]]:
    """Every question once.

    Asked twice with the same results it is one record; with different results it is not known
    which of them is meant.
    """
    seen: dict[str, tuple[list[Any], At]] = {}
    for at, record in retrievals(spans):
        query, found = str(record.query), [record.retrieved, record.error]
        if query not in seen:
            seen[query] = (found, at)
            yield at, record
        elif seen[query][0] != found:
            raise InvalidInput(
                f"Two spans retrieve for the same question {query[:80]!r} with different "
                f"results: {seen[query][1]()} and {at()}; keep one span per question, or take "
                "every question once with `calipers labels traces`."
            )


def _in_a_row(question: str, calls: Iterable[Span]) -> Record:
    """One record of several calls: each result with the number of its call."""
    records = [span.record for span in calls if span.record is not None]
    results: list[Id | Result] = []
    for number, record in enumerate(records, 1):
        for one in record.retrieved or ():
            result = one if isinstance(one, Result) else Result(id=one)
            results.append(msgspec.structs.replace(result, call=number))
    times = [record.latency_ms for record in records if record.latency_ms is not None]
    errors = [record.error for record in records]
    return Record(
        question,
        retrieved=results,
        latency_ms=sum(times) if len(times) == len(records) else None,
        error=errors[0] if all(errors) else None,
    )


def objects_in(listed: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, which may be JSON in a text; none where it is no list."""
    value = opened(listed)
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def opened(value: Any) -> Any:
    """JSON in a text, as its value: several platforms export inputs and outputs so.

    >>> opened('{"query": "Who?"}'), opened("[sic] Who?")
    ({'query': 'Who?'}, '[sic] Who?')
    """
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def question_in(value: Any) -> str | None:
    """The question in the input of a span: a text, one under a usual name, or the last message.

    >>> question_in({"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant"}]})
    'Who?'
    """
    value = opened(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return _last_asked(value)
    if isinstance(value, Mapping):
        named = (value[k] for k in QUESTION_IN_INPUT if isinstance(value.get(k), str))
        return next(named, None) or _last_asked(value.get("messages"))
    return None


PEOPLE = ("user", "human")
"""What chat messages call the person who asks."""


def _last_asked(messages: Any) -> str | None:
    """The text of the last message of a person; None in a list of anything else."""
    for one in reversed(messages if isinstance(messages, list) else []):
        if not isinstance(one, Mapping) or not {one.get("role"), one.get("type")} & set(PEOPLE):
            continue
        content = one.get("content")
        if isinstance(content, list):
            texts = (part.get("text") for part in content if isinstance(part, Mapping))
            content = " ".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str) and content.strip():
            return content.strip()
    return None


def documents_in(output: Any, at: At) -> list[Id | Result]:
    """The documents in the output of a retriever; none where it has none."""
    if not output:
        return []
    value = opened(output)
    if isinstance(value, Mapping) and isinstance(value.get("output"), list):
        value = value["output"]
    try:
        value = results_in(value)
    except BadDocument:
        raise InvalidInput(
            f"The output of a retriever is {output!r:.80} at {at()}; it must be a list of "
            f"documents, or hold one under {', '.join(map(repr, LISTS[:4]))} or 'output'."
        ) from None
    found: list[Id | Result] = []
    for i, one in enumerate(value):
        try:
            row = read_document(one)
        except BadDocument as error:
            raise InvalidInput(f"A document {error} at {at()}, document {i}.") from None
        found.append(Result(**msgspec.structs.asdict(row)))
    return found


def milliseconds(begin: Any, end: Any) -> float | None:
    """The time between two moments, written as ISO dates."""
    times = [_time(value) for value in (begin, end)]
    if times[0] is None or times[1] is None:
        return None
    return (times[1] - times[0]).total_seconds() * 1000


def _time(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    # Of two times one may name its zone and the other not: platforms mean UTC.
    return value.replace(tzinfo=value.tzinfo or UTC) if isinstance(value, datetime) else None


def plain_tags(given: Any) -> dict[str, str]:
    """The short values of metadata as tags; what is long or nested says nothing about a slice."""
    metadata = opened(given)
    if not isinstance(metadata, Mapping):
        return {}
    return {
        str(name): str(value)
        for name, value in metadata.items()
        if isinstance(value, str | int | float | bool) and len(str(value)) <= 40
    }


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
                record, asked = _langsmith_record(run, asked, at), None
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
        truth = (
            None if known is None else _example_targets(outputs[known], f"{at()}.outputs.{known}")
        )
        return Record(asked, ground_truth=truth, tags=dict(plain_tags(row.metadata)) or None)


def _only_text(inputs: Any) -> str | None:
    """The question under whatever name, where nothing else is given."""
    values = list(inputs.values()) if isinstance(inputs, Mapping) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def _example_targets(value: Any, place: str) -> list[Id | Target]:
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


def _langsmith_record(run: dict[str, Any], asked: str | None, at: At) -> Record:
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
        record, asked = _langfuse_record(row, asked, at), None
    began = str(_named(row, "startTime") or "")
    return Span(
        None if trace is None else str(trace),
        began,
        at,
        asked,
        record,
        plain_tags(row.get("metadata")),
    )


def _langfuse_record(row: dict[str, Any], asked: str | None, at: At) -> Record:
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
