"""Traces: turn retriever calls into records, trace by trace.

OpenTelemetry spans, with OpenInference's or its own attribute names, alone or in an OTLP export;
LangSmith runs and Langfuse observations, which differ only in their field names.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import EachRow, RowFormat, Rows
from calipers.io.formats.ours import record_from
from calipers.io.records.documents import (
    BadDocument,
    IncompleteAnswer,
    read_document,
    results_in,
)
from calipers.io.records.json_files import explain_mismatch
from calipers.io.records.records import At, Id, Record, Result
from calipers.names import EXPECTED, LISTS, QUESTION_IN_INPUT, WANTED_IDS, plain_name


@dataclass(frozen=True, eq=False)
class Span:
    """One step of a trace: a retriever call, or a step that may hold the question."""

    trace: Any
    began: str
    at: At
    question: str | None = None
    record: Record | None = None
    """What a retriever returned; None for any other step."""


def retrievals(spans: Iterable[Span]) -> Iterator[tuple[At, Record]]:
    """Yield every retriever call; several in a trace become one record, if it has a question."""
    traces: dict[str, list[Span]] = {}
    for number, span in enumerate(spans):
        traces.setdefault(str(span.trace or f"span {number}"), []).append(span)
    for steps in traces.values():
        calls = [(span.at, span.record) for span in steps if span.record is not None]
        asking = [step for step in steps if step.record is None and step.question is not None]
        # The question of an agent is that of its outermost span, which begins first.
        first = min(asking, key=lambda step: step.began, default=None)
        if len(calls) > 1 and first is not None:
            ordered = sorted(steps, key=lambda step: step.began)
            records = [step.record for step in ordered if step.record is not None]
            calls = [(calls[0][0], _merge_calls(str(first.question), records))]
        for at, record in calls:
            if record.query == UNASKED:
                record.query = _asked_outside(first, at)
            yield at, record


UNASKED = ""
"""The question of a call that only a step around it can say."""


def _asked_outside(step: Span | None, at: At) -> str:
    """The question of the step around a call."""
    if step is None:
        raise InvalidInput(
            f"A span of a vector store has no question at {at()}: no step of its trace has "
            f"{TRACED_INPUT!r}; export the spans of the workflow around it, too."
        )
    return str(step.question)


def _merge_calls(question: str, records: list[Record]) -> Record:
    """One record from several calls; each result has the number of its call."""
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


def once_each(spans: Iterable[Span]) -> Iterator[tuple[At, Record]]:
    """Yield every question once; refuse one with different results."""
    seen: dict[str, tuple[list[Any], At]] = {}
    for at, record in retrievals(spans):
        query, found = str(record.query), [record.retrieved, record.error]
        if query not in seen:
            seen[query] = (found, at)
            yield at, record
        elif seen[query][0] != found:
            raise InvalidInput(
                f"The question {query[:40]!r} has two spans with different results: "
                f"{seen[query][1]()} and {at()}; keep one, or take each question once with "
                "`calipers labels draft --from-traces FILE`."
            )


_EXPORT_CALLS = (
    "export spans of the kind RETRIEVER, or of the operation retrieval (gen_ai.operation.name), too"
)
NO_CALLS = f"The traces hold no call of a retriever; {_EXPORT_CALLS}."


def no_calls(name: str, spans: int) -> InvalidInput:
    """The error for traces in which nothing was retrieved."""
    counted = "the one span" if spans == 1 else f"{spans:,} spans"
    return InvalidInput(f"There is no retrieval span among {counted} of {name}; {_EXPORT_CALLS}.")


class TraceFormat(RowFormat):
    """Spans of traces, one or several per row."""

    row: Any = dict[str, Any]
    without_calls: str = ""
    """What to say where no span is a call, if there is more to say than that."""

    @abstractmethod
    def spans(self, rows: Rows) -> Iterator[Span]:
        """Yield every span in the shape that all trace formats share."""

    def records(self, rows: Rows) -> Iterator[Record]:
        """Yield one record per retriever call, or per trace with several calls."""
        counts = Counter[str]()
        for _, record in once_each(_counted(self.spans(rows), counts)):
            counts["calls"] += 1
            yield record
        if not counts["calls"]:
            if self.without_calls:
                raise InvalidInput(self.without_calls)
            raise no_calls("the file", counts["spans"])


def _counted(spans: Iterable[Span], counts: Counter[str]) -> Iterator[Span]:
    for span in spans:
        counts["spans"] += 1
        yield span


def opened(value: Any) -> Any:
    """Decode JSON in a text: several platforms export inputs and outputs like this.

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
    if isinstance(value, Mapping):
        named = (value[k] for k in QUESTION_IN_INPUT if isinstance(value.get(k), str))
        return next(named, None) or _last_asked(value.get("messages"))
    return _last_asked(value)


def _last_asked(messages: Any) -> str | None:
    """The text of the last user message; None if these are not messages."""
    for one in reversed(messages if isinstance(messages, list) else []):
        people = {"user", "human"}
        if not isinstance(one, Mapping) or not {one.get("role"), one.get("type")} & people:
            continue
        content = one.get("content") or one.get("parts")  # as OpenTelemetry calls it
        if isinstance(content, list):
            parts = (part for part in content if isinstance(part, Mapping))
            texts = (part.get("text") or part.get("content") for part in parts)
            content = " ".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str) and content.strip():
            return content.strip()
    return None


def documents_in(output: Any, at: At) -> list[Id | Result]:
    """The documents in the output of a retriever."""
    if not output:
        return []
    value = opened(output)
    if isinstance(value, Mapping) and isinstance(value.get("output"), list):
        value = value["output"]
    try:
        listed = results_in(value)
    except IncompleteAnswer as error:
        raise InvalidInput(f"The output of a retriever at {at()} {error}.") from None
    except BadDocument:
        raise InvalidInput(
            f"The output of a retriever is {output!r:.80} at {at()}; it must be a list of "
            f"documents, or hold one under {', '.join(map(repr, LISTS[:4]))} or 'output'."
        ) from None
    found: list[Id | Result] = []
    for i, one in enumerate(listed):
        try:
            found.append(Result(**msgspec.structs.asdict(read_document(one))))
        except BadDocument as error:
            raise InvalidInput(f"A document {error} at {at()}, document {i}.") from None
    return found


def milliseconds(begin: Any, end: Any) -> float | None:
    """The time between two ISO dates, in UTC unless they say otherwise."""
    times = []
    for value in (begin, end):
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            return None
        if not isinstance(moment, datetime):
            return None
        times.append(moment.replace(tzinfo=moment.tzinfo or UTC))
    return (times[1] - times[0]).total_seconds() * 1000


class Platform(TraceFormat):
    """Spans as exported by a platform, declared by its field names."""

    kind: str
    """The field with the type of a span, such as a retriever call."""
    asked: str
    answered: str
    steps: str
    """The field with the child spans."""
    advice: str
    """How to export what is missing from the platform."""

    def spans(self, rows: Rows, trace: Any = None) -> Iterator[Span]:
        """Yield every span, including nested child spans."""
        for at, row in rows:
            asked, record = question_in(row.get(self.asked)), None
            # One API writes types in upper case, others in lower case.
            if str(row.get(self.kind)).lower() == "retriever":
                record, asked = self._record(row, asked, at), None
            began = str(_one_of(row, "start_time", "startTime") or "")
            own = _one_of(row, "trace_id", "traceId") or trace
            if self.kind not in row:
                own, began = row.get("id"), ""  # the trace itself, which is the outermost span
            yield Span(own, began, at, asked, record)
            inside = opened(row.get(self.steps))
            listed = inside if isinstance(inside, list) else ()
            inner = (one for one in listed if isinstance(one, dict))
            yield from self.spans(((at, one) for one in inner), own)

    def _record(self, row: dict[str, Any], asked: str | None, at: At) -> Record:
        if asked is None:
            raise InvalidInput(
                f"A call of a retriever has no question at {at()}: no 'query' in its "
                f"{self.asked!r}, nor is that a text. The API leaves out what was not asked for: "
                f"{self.advice}."
            )
        error = row.get("error")
        if row.get("level") == "ERROR":
            said = _one_of(row, "status_message", "statusMessage")
            error = said or "the observation ended with an error"
        times = (_one_of(row, f"{name}_time", f"{name}Time") for name in ("start", "end"))
        return Record(
            asked,
            retrieved=documents_in(row.get(self.answered), at),
            latency_ms=milliseconds(*times),
            error=str(error) if error else None,
        )


def _one_of(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


class LangSmith(Platform):
    """LangSmith runs, one per row."""

    name = "langsmith"
    title = "runs exported from LangSmith"
    example = '{"run_type": "retriever", "inputs": {"query": …}, "outputs": {"documents": […]}}'
    kind, asked, answered, steps = "run_type", "inputs", "outputs", "child_runs"
    results_field = "outputs"
    advice = "select the inputs and the outputs"
    known_by = ({"run_type", "inputs"}, {"run_type", "trace_id", "start_time"})


class Langfuse(Platform):
    """Langfuse observations or traces, one per row."""

    name = "langfuse"
    title = "traces exported from Langfuse"
    example = '{"traceId": …, "type": "RETRIEVER", "input": …, "output": […]}'
    kind, asked, answered, steps = "type", "input", "output", "observations"
    results_field = "output"
    advice = "ask with fields='core,basic,io,metadata'"
    known_by = (
        *({"traceId", "type", "startTime"}, {"trace_id", "type", "start_time"}),
        *({"traceId", "type", "input"}, {"observations", "input"}),
    )


class ExportedExample(msgspec.Struct):
    """One example of a dataset."""

    inputs: Any
    outputs: Any = None


class LangSmithExamples(EachRow):
    """LangSmith examples, one per row; identified by their questions, like the runs."""

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
        """``inputs`` and ``outputs``, without the fields of a run or of an experiment."""
        return {"inputs", "outputs"} <= keys and not keys & {"run_type", "reference_outputs"}

    def record(self, row: ExportedExample, at: At) -> Record:
        """Convert a row to a record; a question that is the only input may have any name."""
        inputs, outputs = opened(row.inputs), opened(row.outputs)
        values = list(inputs.values()) if isinstance(inputs, Mapping) else []
        single = values[0] if len(values) == 1 and isinstance(values[0], str) else None
        asked = question_in(inputs) or single
        if asked is None:
            keys = ", ".join(inputs) if isinstance(inputs, Mapping) else repr(inputs)[:60]
            raise InvalidInput(
                f"An example has no question at {at()}.inputs: no 'question' or "
                f"{', '.join(map(repr, QUESTION_IN_INPUT[:2]))}; found {keys or 'nothing'}."
            )
        named = {plain_name(str(key)): key for key in outputs} if isinstance(outputs, dict) else {}
        known = next((named[one] for one in (*EXPECTED, *WANTED_IDS) if one in named), None)
        truth = None if known is None else outputs[known]
        return record_from({"query": asked, "ground_truth": truth}, at)


DOCUMENTS, OWN_DOCUMENTS = "retrieval.documents", "gen_ai.retrieval.documents"
ASKED, OWN_ASKED = "input.value", "gen_ai.retrieval.query.text"
"""The attributes of OpenInference, and those of OpenTelemetry's own conventions."""
TRACED_INPUT, TRACED_RESULT = "traceloop.entity.input", "db.query.result"
"""The attribute of a workflow, and the event of a result, as OpenLLMetry records them."""
_CHILDREN = ("child_spans", "children", "childSpans")
"""Fields of a span that hold the spans inside of it."""
PART = re.compile(r"(?:gen_ai\.)?retrieval\.documents\.(\d+)\.(?:document\.)?(.+)")


def _attributes(span: Mapping[str, Any], at: At) -> dict[str, Any]:
    """The retrieval attributes of a span, flattened from any form."""
    found = opened(span.get("attributes") or {})
    if isinstance(found, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("key"), str) for one in found
    ):
        found = {one["key"]: _otlp_value(one.get("value")) for one in found}
    if not isinstance(found, Mapping):
        raise InvalidInput(
            f"The attributes of a span cannot be read at {at()}: found {found!r:.60}; they are a "
            "mapping, or a list of objects with a text as 'key' and a 'value'."
        )
    columns = {
        key.removeprefix("attributes."): value
        for key, value in span.items()
        if value is not None and key.startswith(("attributes.", DOCUMENTS, "input."))
    }
    about = ("retrieval", "input", "openinference", "gen_ai", "traceloop", "db")
    every = {**found, **columns}.items()
    return dict(_flat({key: one for key, one in every if str(key).split(".")[0] in about}))


def _otlp_value(value: Any) -> Any:
    """Decode an OTLP value: a scalar, a list, or a list of keys and values."""
    if not isinstance(value, Mapping):
        return value
    one = next((one for one in value.values() if one is not None), None)
    if isinstance(one, Mapping) and isinstance(one.get("values"), list):
        held = one["values"]
        if all(isinstance(part, Mapping) and "key" in part for part in held) and held:
            return {part["key"]: _otlp_value(part.get("value")) for part in held}
        return [_otlp_value(part) for part in held]
    return one


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if path.endswith((DOCUMENTS, ".metadata")):
        value = opened(value)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{number}")
    else:
        yield path, value


def _document(part: Mapping[str, Any]) -> dict[str, Any]:
    """One document of a span as an object of id, content, score and metadata."""
    made = {name: part[name] for name in ("id", "content", "score") if name in part}
    # The text of an indexed table cell may be a number.
    made |= {name: str(made[name]) for name in ("id", "content") if name in made}
    mark = "metadata."
    about = {key.removeprefix(mark): one for key, one in part.items() if key.startswith(mark)}
    return {**made, "metadata": about}


def _latency(span: Mapping[str, Any], at: At) -> float | None:
    """Milliseconds from begin to end, from dates or from the nanoseconds of OTLP."""
    begin = _one_of(span, "startTimeUnixNano", "start_time_unix_nano")
    end = _one_of(span, "endTimeUnixNano", "end_time_unix_nano")
    if begin is None or end is None:
        return milliseconds(span.get("start_time"), span.get("end_time"))
    try:
        return (int(end) - int(begin)) / 1e6
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"A span lasts from {begin!r:.40} to {end!r:.40} at {at()}; times are whole "
            "nanoseconds."
        ) from None


def _traced_question(value: Any) -> str | None:
    """The question in the input of a workflow, as OpenLLMetry records the arguments of a function.

    >>> _traced_question('{"args": [], "kwargs": {"question": "Who?"}}')
    'Who?'
    """
    value = opened(value)
    if not isinstance(value, Mapping):
        return question_in(value)
    for name in ("kwargs", "inputs"):
        if isinstance(value.get(name), Mapping) and (asked := question_in(value[name])):
            return asked
    args = value.get("args")
    texts = [text for text in args if isinstance(text, str)] if isinstance(args, list) else []
    return texts[0] if texts else question_in(value)


def _recorded_results(span: Mapping[str, Any], at: At) -> list[Id | Result] | None:
    """The results that OpenLLMetry records as events of a span of a vector store; None if none."""
    events = opened(span.get("events"))
    listed = events if isinstance(events, list) else ()
    own = [event for event in listed if isinstance(event, Mapping)]
    found = [event for event in own if event.get("name") == TRACED_RESULT]
    if not found:
        return None
    documents = []
    for event in found:
        values = _attributes(event, at)
        parts = {
            key.removeprefix(f"{TRACED_RESULT}."): value
            for key, value in values.items()
            if key.startswith(f"{TRACED_RESULT}.")
        }
        text = parts.pop("document", None)
        documents.append(parts if text is None else {**parts, "text": text})
    return documents_in(documents, at)


def _failure(span: Mapping[str, Any]) -> str | None:
    code, said = span.get("status_code"), span.get("status_message")
    if isinstance(status := span.get("status"), Mapping):
        code = status.get("code", status.get("status_code"))
        said = status.get("message") or status.get("description")
    if code in (2, "2", "ERROR", "STATUS_CODE_ERROR"):
        return str(said or "the span ended with an error")
    return None


class OpenInference(TraceFormat):
    """OpenTelemetry spans, one per row."""

    name = "openinference"
    title = "OpenInference spans"
    example = '{"attributes": {"input.value": …, "retrieval.documents.0.document.content": …}}'
    results_field = "retrieval.documents"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``attributes`` of a span, as one value or as columns."""
        return "attributes" in keys or any(
            key.startswith(("attributes.retrieval.", "retrieval.documents")) for key in keys
        )

    def spans(self, rows: Rows, trace: Any = None) -> Iterator[Span]:
        """Yield every span in the shape that all trace formats share, and those inside of it."""
        for at, span in rows:
            flat = _attributes(span, at)
            asked = self._asked(flat)
            record = self._record(span, flat, asked, at)
            began = _one_of(span, "startTimeUnixNano", "start_time_unix_nano", "start_time")
            context = span.get("context")
            inner = context.get("trace_id") if isinstance(context, Mapping) else None
            own = inner or _one_of(span, "trace_id", "traceId", "context.trace_id") or trace
            yield Span(own, str(began or ""), at, asked if record is None else None, record)
            for name in _CHILDREN:
                listed = opened(span.get(name))
                children = listed if isinstance(listed, list) else ()
                within = ((at, child) for child in children if isinstance(child, dict))
                yield from self.spans(within, own)

    def _asked(self, flat: Mapping[str, Any]) -> str | None:
        """The question in the attributes of a span."""
        value = _one_of(flat, OWN_ASKED, ASKED)
        asked = value if isinstance(value, str) and value.strip() else None
        asked = asked and (question_in(asked) or asked)
        asked = asked or question_in(flat.get("gen_ai.input.messages"))
        return asked or _traced_question(flat.get(TRACED_INPUT))

    def _record(
        self, span: Mapping[str, Any], flat: Mapping[str, Any], asked: str | None, at: At
    ) -> Record | None:
        recorded = _recorded_results(span, at)
        if recorded is not None:
            latency = _latency(span, at)
            return Record(asked or UNASKED, retrieved=recorded, latency_ms=latency)
        parts: dict[int, dict[str, Any]] = {}
        for key, value in flat.items():
            if (found := PART.fullmatch(key)) and value is not None:
                parts.setdefault(int(found[1]), {})[found[2]] = value
        is_call = "RETRIEVER" in (span.get("span_kind"), flat.get("openinference.span.kind"))
        is_call |= flat.get("gen_ai.operation.name") == "retrieval"
        if not parts and not is_call and not {DOCUMENTS, OWN_DOCUMENTS} & flat.keys():
            return None
        if asked is None:
            raise InvalidInput(
                f"A span of a retriever has no question at {at()}: no attribute {ASKED!r} (or "
                f"{OWN_ASKED!r}); a span has {self.example}."
            )
        own = flat.get("gen_ai.operation.name") == "retrieval" and OWN_DOCUMENTS not in flat
        if own and not parts and not _failure(span):
            raise InvalidInput(
                f"A span of a retriever has no documents at {at()}: no attribute "
                f"{OWN_DOCUMENTS!r}; record it, as instruments leave it out unless asked."
            )
        results = documents_in([_document(parts[number]) for number in sorted(parts)], at)
        return Record(asked, retrieved=results, latency_ms=_latency(span, at), error=_failure(span))


class Scope(msgspec.Struct):
    """The spans of one instrumentation scope."""

    spans: list[dict[str, Any]] = []


class Resource(msgspec.Struct):
    """The spans of one resource."""

    scope_spans: list[Scope] = msgspec.field(name="scopeSpans", default_factory=list)


class Export(msgspec.Struct):
    """One export."""

    resource_spans: list[Resource] = msgspec.field(name="resourceSpans")


class Otlp(TraceFormat):
    """Spans in OTLP exports."""

    name = "otlp"
    title = "OpenInference spans in an OTLP export"
    example = '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": […]}]}]}]}'
    known_by = ({"resourceSpans"}, {"resource_spans"})
    results_field = "retrieval.documents"

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Yield every span of all exports, each with its place."""
        yield from OpenInference().spans(
            (partial(_inside, at, i, j, k), span)
            for at, row in rows
            for i, resource in enumerate(self._export(row, at).resource_spans)
            for j, scope in enumerate(resource.scope_spans)
            for k, span in enumerate(scope.spans)
        )

    def _export(self, row: dict[str, Any], at: At) -> Export:
        """One export, whose names may be written in either style of the protocol."""
        try:
            return msgspec.convert(_in_camel_case(row), Export)
        except msgspec.ValidationError as error:
            raise InvalidInput(explain_mismatch(str(error), at(), self.example)) from None


_SNAKE = {"resource_spans": "resourceSpans", "scope_spans": "scopeSpans"}


def _in_camel_case(value: Any) -> Any:
    """The lists of an export under the names of its JSON, down to the spans."""
    if isinstance(value, list):
        return [_in_camel_case(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _SNAKE.get(key, key): _in_camel_case(held) if _SNAKE.get(key, key) in _CAMEL else held
        for key, held in value.items()
    }


_CAMEL = frozenset(_SNAKE.values())


def _inside(at: At, i: int, j: int, k: int) -> str:
    return f"{at()}.resourceSpans[{i}].scopeSpans[{j}].spans[{k}]"
