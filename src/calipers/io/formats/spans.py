"""Spans of OpenTelemetry: alone, nested, as a program prints them, or in an OTLP export.

Their attributes have the names of OpenInference, OpenTelemetry's own, or those of OpenLLMetry.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import SupportsInt

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import Rows
from calipers.io.formats.traces import (
    RETRIEVES,
    TRACED_INPUT,
    TRACED_OUTPUT,
    UNASKED,
    RetrieverCall,
    Span,
    TraceFormat,
    documents_in,
    milliseconds,
    one_of,
    opened,
    question_in,
)
from calipers.io.records.json_files import explain_mismatch
from calipers.io.records.schema import At, PlainRecord

DOCUMENTS = "retrieval.documents"
OWN_DOCUMENTS = "gen_ai.retrieval.documents"
ASKED = "input.value"
OWN_ASKED = "gen_ai.retrieval.query.text"
"""The attributes of OpenInference, and those of OpenTelemetry's own conventions."""
TRACED_RESULT = "db.query.result"
"""The event of a result, as OpenLLMetry records it."""
_CHILDREN = ("child_spans", "children", "childSpans")
"""Fields of a span that hold the spans inside of it."""
PART = re.compile(r"(?:gen_ai\.)?retrieval\.documents\.(\d+)\.(?:document\.)?(.+)")


def _attributes(span: Mapping[str, object], at: At) -> dict[str, object]:
    """The retrieval attributes of a span, flattened from any layout."""
    attributes = opened(span.get("attributes") or {})
    if isinstance(attributes, list) and all(
        isinstance(pair, Mapping) and isinstance(pair.get("key"), str)
        for pair in attributes
    ):
        attributes = {pair["key"]: _otlp_value(pair.get("value")) for pair in attributes}
    if not isinstance(attributes, Mapping):
        raise InvalidInput(
            f"The attributes of a span cannot be read at {at()}: found {attributes!r:.60}; "
            "they are a "
            "mapping, or a list of objects with a text as 'key' and a 'value'."
        )
    columns = {
        key.removeprefix("attributes."): value
        for key, value in span.items()
        if value is not None and key.startswith(("attributes.", DOCUMENTS, "input."))
    }
    about = ("retrieval", "input", "openinference", "gen_ai", "traceloop", "db", "mlflow")
    every = {**attributes, **columns}.items()
    return dict(
        _flat({key: value for key, value in every if str(key).split(".")[0] in about})
    )


def _otlp_value(value: object) -> object:
    """Decode an OTLP value: a scalar, a list, or a list of keys and values."""
    if not isinstance(value, Mapping):
        return value
    inner = next((held for held in value.values() if held is not None), None)
    if isinstance(inner, Mapping) and isinstance(inner.get("values"), list):
        held = inner["values"]
        if all(isinstance(part, Mapping) and "key" in part for part in held) and held:
            return {part["key"]: _otlp_value(part.get("value")) for part in held}
        return [_otlp_value(part) for part in held]
    return inner


def _flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
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


def _document(part: Mapping[str, object]) -> dict[str, object]:
    """One document of a span as an object of id, content, score and metadata."""
    document = {name: part[name] for name in ("id", "content", "score") if name in part}
    # The text of an indexed table cell may be a number.
    texts = {name: str(part[name]) for name in ("id", "content") if name in part}
    mark = "metadata."
    about = {
        key.removeprefix(mark): value
        for key, value in part.items()
        if key.startswith(mark)
    }
    return {**document, **texts, "metadata": about}


def _whole(value: object) -> int:
    """A number, or one in a text, as a whole number."""
    if not isinstance(value, str | SupportsInt):
        raise TypeError
    return int(value)


def _latency(span: Mapping[str, object], at: At) -> float | None:
    """Milliseconds from begin to end, from dates or from the nanoseconds of OTLP."""
    begin = one_of(span, "startTimeUnixNano", "start_time_unix_nano")
    end = one_of(span, "endTimeUnixNano", "end_time_unix_nano")
    if begin is None or end is None:
        return milliseconds(span.get("start_time"), span.get("end_time"))
    try:
        return (_whole(end) - _whole(begin)) / 1e6
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"A span lasts from {begin!r:.40} to {end!r:.40} at {at()}; times are whole "
            "nanoseconds."
        ) from None


def _traced_question(value: object) -> str | None:
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
    texts = (
        [text for text in args if isinstance(text, str)] if isinstance(args, list) else []
    )
    return texts[0] if texts else question_in(value)


def _recorded_results(
    span: Mapping[str, object], at: At
) -> tuple[PlainRecord, ...] | None:
    """The results that OpenLLMetry records as events of a span of a vector store; None if none."""
    events = opened(span.get("events"))
    listed = events if isinstance(events, list) else ()
    own = [event for event in listed if isinstance(event, Mapping)]
    traced = [event for event in own if event.get("name") == TRACED_RESULT]
    if not traced:
        return None
    documents = []
    for event in traced:
        values = _attributes(event, at)
        parts = {
            key.removeprefix(f"{TRACED_RESULT}."): value
            for key, value in values.items()
            if key.startswith(f"{TRACED_RESULT}.")
        }
        text = parts.pop("document", None)
        documents.append(parts if text is None else {**parts, "text": text})
    return documents_in(documents, at)


def _failure(span: Mapping[str, object]) -> str | None:
    """The error of a span; None if it ended well."""
    code = span.get("status_code")
    message = span.get("status_message")
    if isinstance(status := span.get("status"), Mapping):
        code = status.get("code", status.get("status_code"))
        message = status.get("message") or status.get("description")
    if code in (2, "2", "ERROR", "STATUS_CODE_ERROR"):
        return str(message or "the span ended with an error")
    return None


class OpenInference(TraceFormat):
    """OpenTelemetry spans, one per row."""

    name = "openinference"
    title = "OpenInference spans"
    example = (
        '{"attributes": {"input.value": …, "retrieval.documents.0.document.content": …}}'
    )
    results_field = "retrieval.documents"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``attributes`` of a span, as one value or as columns; a trace of MLflow."""
        return (
            ("attributes" in keys and not keys & _NO_SPAN)
            or keys >= _OF_MLFLOW
            or any(
                key.startswith(("attributes.retrieval.", "retrieval.documents"))
                for key in keys
            )
        )

    def spans(self, rows: Rows, trace: object = None) -> Iterator[Span]:
        """Yield every span in the shape that all trace formats share, and those inside of it."""
        for at, span in rows:
            if span.keys() >= _OF_MLFLOW:
                for step in self.spans(_spans_of_mlflow(span, at)):
                    yield replace(step, trace=at())
                continue
            flat = _attributes(span, at)
            asked = self._asked(flat)
            call = self._call(span, flat, asked, at)
            began = one_of(
                span, "startTimeUnixNano", "start_time_unix_nano", "start_time"
            )
            context = span.get("context")
            inner = context.get("trace_id") if isinstance(context, Mapping) else None
            own = (
                inner or one_of(span, "trace_id", "traceId", "context.trace_id") or trace
            )
            likely = self._likely_call(span, flat, asked, at) if call is None else None
            yield Span(
                own, str(began or ""), at, asked if call is None else None, call, likely
            )
            for name in _CHILDREN:
                listed = opened(span.get(name))
                children = listed if isinstance(listed, list) else ()
                within = ((at, child) for child in children if isinstance(child, dict))
                yield from self.spans(within, own)

    def _asked(self, flat: Mapping[str, object]) -> str | None:
        """The question in the attributes of a span."""
        value = one_of(flat, OWN_ASKED, ASKED)
        if value is None and TYPE_OF_MLFLOW in flat:
            return question_in(flat.get("mlflow.spanInputs"))
        asked = value if isinstance(value, str) and value.strip() else None
        asked = asked and (question_in(asked) or asked)
        asked = asked or question_in(flat.get("gen_ai.input.messages"))
        return asked or _traced_question(flat.get(TRACED_INPUT))

    def _likely_call(
        self,
        span: Mapping[str, object],
        flat: Mapping[str, object],
        asked: str | None,
        at: At,
    ) -> RetrieverCall | None:
        """The call in a task of OpenLLMetry that is called a retrieval and returns documents."""
        called = f"{span.get('name')} {flat.get('traceloop.entity.name')}"
        output = opened(flat.get(TRACED_OUTPUT))
        if asked is None or not isinstance(output, list | Mapping):
            return None
        if RETRIEVES.search(called) is None:
            return None
        try:
            results = documents_in(output, at)
        except InvalidInput:
            return None
        return RetrieverCall(asked, results, _latency(span, at), _failure(span))

    def _call(
        self,
        span: Mapping[str, object],
        flat: Mapping[str, object],
        asked: str | None,
        at: At,
    ) -> RetrieverCall | None:
        """The retriever call that a span records; None for any other span."""
        if TYPE_OF_MLFLOW in flat:
            return _call_of_mlflow(span, flat, at)
        recorded = _recorded_results(span, at)
        if recorded is not None:
            latency = _latency(span, at)
            return RetrieverCall(asked or UNASKED, recorded, latency)
        parts: dict[int, dict[str, object]] = {}
        for key, value in flat.items():
            if (part := PART.fullmatch(key)) and value is not None:
                parts.setdefault(int(part[1]), {})[part[2]] = value
        is_call = "RETRIEVER" in (
            span.get("span_kind"),
            flat.get("openinference.span.kind"),
        )
        is_call |= flat.get("gen_ai.operation.name") == "retrieval"
        if not parts and not is_call and not {DOCUMENTS, OWN_DOCUMENTS} & flat.keys():
            return None
        if asked is None:
            raise InvalidInput(
                f"A span of a retriever has no question at {at()}: no attribute {ASKED!r} (or "
                f"{OWN_ASKED!r}); a span has {self.example}."
            )
        own = (
            flat.get("gen_ai.operation.name") == "retrieval" and OWN_DOCUMENTS not in flat
        )
        if own and not parts and not _failure(span):
            raise InvalidInput(
                f"A span of a retriever has no documents at {at()}: no attribute "
                f"{OWN_DOCUMENTS!r}; record it, as instruments leave it out unless asked."
            )
        results = documents_in([_document(parts[number]) for number in sorted(parts)], at)
        return RetrieverCall(asked, results, _latency(span, at), _failure(span))


_NO_SPAN = frozenset({"results", "hits", "inputs", "output", "outputs"})
"""Fields of other records with attributes: an answer of Redis, a call of Weave."""
_OF_MLFLOW = frozenset({"info", "data"})
"""The fields of a trace of MLflow."""


def _spans_of_mlflow(trace: Mapping[str, object], at: At) -> Rows:
    """The spans of one trace of MLflow."""
    data = opened(trace.get("data"))
    listed = data.get("spans") if isinstance(data, Mapping) else None
    return ((at, span) for span in listed or () if isinstance(span, dict))


TYPE_OF_MLFLOW = "mlflow.spanType"
"""The attribute in which MLflow keeps the kind of a span, as JSON in a text."""


def _call_of_mlflow(
    span: Mapping[str, object], flat: Mapping[str, object], at: At
) -> RetrieverCall | None:
    """The retriever call in a span of MLflow; None for any other span."""
    if "RETRIEVER" not in str(flat[TYPE_OF_MLFLOW]):
        return None
    asked = question_in(flat.get("mlflow.spanInputs"))
    if asked is None:
        raise InvalidInput(
            f"A span of a retriever has no question at {at()}: no text in 'mlflow.spanInputs'."
        )
    results = documents_in(flat.get("mlflow.spanOutputs"), at)
    return RetrieverCall(asked, results, _latency(span, at), _failure(span))


class Scope(msgspec.Struct):
    """The spans of one instrumentation scope."""

    spans: list[dict[str, object]] = []


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

    def recognise(self, keys: frozenset[str]) -> bool:
        """The spans of resources; ``batches`` alone, as Grafana Tempo calls them."""
        return keys == {"batches"} or super().recognise(keys)

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Yield every span of all exports, each with its place."""
        yield from OpenInference().spans(
            (partial(_inside, at, i, j, k), span)
            for at, row in rows
            for i, resource in enumerate(self._export(row, at).resource_spans)
            for j, scope in enumerate(resource.scope_spans)
            for k, span in enumerate(scope.spans)
        )

    def _export(self, row: Mapping[str, object], at: At) -> Export:
        """One export, whose names may be written in either style of the protocol."""
        try:
            return msgspec.convert(_in_camel_case(row), Export)
        except msgspec.ValidationError as error:
            raise InvalidInput(explain_mismatch(str(error), at(), self.example)) from None


_SNAKE = {
    "resource_spans": "resourceSpans",
    "scope_spans": "scopeSpans",
    "batches": "resourceSpans",  # as Grafana Tempo answers
}


def _in_camel_case(value: object) -> object:
    """The lists of an export under the names of its JSON, down to the spans."""
    if isinstance(value, list):
        return [_in_camel_case(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _SNAKE.get(key, key): _in_camel_case(held)
        if _SNAKE.get(key, key) in _CAMEL
        else held
        for key, held in value.items()
    }


_CAMEL = frozenset(_SNAKE.values())


def _inside(at: At, i: int, j: int, k: int) -> str:
    return f"{at()}.resourceSpans[{i}].scopeSpans[{j}].spans[{k}]"
