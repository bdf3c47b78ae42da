"""OpenInference: spans of OpenTelemetry that say what a retriever returned.

Attributes come flat (``retrieval.documents.0.document.id``), nested, as columns of a table
(``attributes.retrieval.documents``), or as the list of keys and values of OTLP. An OTLP export
holds the same spans, resource by resource.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.format import PathPlace, Rows, WholeFormat
from calipers.io.formats.traces import (
    Langfuse,
    LangSmith,
    Span,
    TraceFormat,
    milliseconds,
    once_each,
    opened,
    question_in,
    retrievals,
)
from calipers.io.records.documents import from_metadata, with_end
from calipers.io.records.json_files import decoded, explain_mismatch, raw_records
from calipers.io.records.records import At, Id, Record, Result
from calipers.names import words_in

DOCUMENTS = "retrieval.documents"
PART = re.compile(r"retrieval\.documents\.(\d+)\.(?:document\.)?(.+)")

READ = frozenset(
    {
        "attributes",
        "attributes.input.value",
        "attributes.retrieval.documents",
        "attributes.openinference.span.kind",
        *words_in(
            "span_kind start_time end_time startTimeUnixNano endTimeUnixNano status status_code "
            "status_message"
        ),
    }
)
"""The keys of a span that reach the record, at least in part."""


def _record(span: Mapping[str, Any], flat: Mapping[str, Any], at: At) -> Record | None:
    kind = span.get("span_kind") or flat.get("openinference.span.kind")
    documents = _documents(flat, at)
    if not documents and DOCUMENTS not in flat and kind != "RETRIEVER":
        return None
    return Record(
        _question(flat, at),
        retrieved=documents,
        latency_ms=_latency(span, at),
        error=_failure(span),
    )


def _relevant(span: Mapping[str, Any], at: At) -> dict[str, Any]:
    """The attributes of a span that are about retrieval, whatever form they have."""
    attributes = _attributes(span, at)
    columns = {
        key.removeprefix("attributes."): value
        for key, value in span.items()
        if value is not None and key.startswith(("attributes.", DOCUMENTS, "input."))
    }
    return {
        key: value
        for key, value in {**attributes, **columns}.items()
        if str(key).split(".")[0] in ("retrieval", "input", "openinference")
    }


def _attributes(span: Mapping[str, Any], at: At) -> Mapping[str, Any]:
    found = opened(span.get("attributes") or {})
    if isinstance(found, Mapping):
        return found
    if isinstance(found, list) and all(map(_is_attribute, found)):
        return {one["key"]: _otlp_value(one.get("value")) for one in found}
    raise InvalidInput(
        f"The attributes of a span cannot be read at {at()}: found {found!r:.60}; they are a "
        "mapping, or a list of objects with a text as 'key' and a 'value'."
    )


def _is_attribute(one: Any) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("key"), str)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    value = opened(value) if path == DOCUMENTS or path.endswith(".metadata") else value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        if not value:
            yield path, value
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{number}")
    else:
        yield path, value


def _documents(flat: Mapping[str, Any], at: At) -> list[Id | Result]:
    parts: dict[int, dict[str, Any]] = {}
    for key, value in flat.items():
        found = PART.fullmatch(key)
        if found and value is not None:
            parts.setdefault(int(found[1]), {})[found[2]] = value
    return [_result(parts[number], at) for number in sorted(parts)]


def _result(part: Mapping[str, Any], at: At) -> Result:
    score = part.get("score")
    metadata = {
        k.removeprefix("metadata."): v for k, v in part.items() if k.startswith("metadata.")
    }
    about = from_metadata(metadata)
    content = part.get("content")
    # A cell of a table that was indexed may come as the number it is.
    about.text = content if content is None or isinstance(content, str) else str(content)
    with_end(about)
    return Result(
        id=None if part.get("id") is None else str(part["id"]),
        text=about.text,
        score=None if score is None else _score(score, at),
        document=about.document,
        start=about.start,
        end=about.end,
    )


def _score(value: Any, at: At) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"A document has the score {value!r:.60} at {at()}; a score is a number."
        ) from None


def _asked(flat: Mapping[str, Any]) -> str | None:
    """The input of a span as a question; None where it has none."""
    value = flat.get("input.value")
    if not isinstance(value, str) or not value.strip():
        return None
    return question_in(value) or value


def _question(flat: Mapping[str, Any], at: At) -> str:
    asked = _asked(flat)
    if asked is not None:
        return asked
    raise InvalidInput(
        f"A span of a retriever has no question at {at()}: no attribute 'input.value'; a span "
        'has {"attributes": {"input.value": …, "retrieval.documents.0.document.content": …}}.'
    )


def _latency(span: Mapping[str, Any], at: At) -> float | None:
    """Milliseconds from begin to end, from dates or from the nanoseconds of OTLP."""
    begin, end = span.get("startTimeUnixNano"), span.get("endTimeUnixNano")
    if begin is not None and end is not None:
        try:
            return (int(end) - int(begin)) / 1e6
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(
                f"A span lasts from {begin!r:.40} to {end!r:.40} at {at()}; times are whole "
                "nanoseconds."
            ) from None
    return milliseconds(span.get("start_time"), span.get("end_time"))


def _failure(span: Mapping[str, Any]) -> str | None:
    status = span.get("status")
    code, said = span.get("status_code"), span.get("status_message")
    if isinstance(status, Mapping):
        code = status.get("code", status.get("status_code"))
        said = status.get("message") or status.get("description")
    if code in (2, "2", "ERROR", "STATUS_CODE_ERROR"):
        return str(said or "the span ended with an error")
    return None


def _otlp_value(value: Any) -> Any:
    return next(iter(value.values()), None) if isinstance(value, Mapping) else value


class OpenInference(TraceFormat):
    """Spans, one a row."""

    name = "openinference"
    title = "OpenInference spans"
    row = dict[str, Any]
    example = '{"attributes": {"input.value": …, "retrieval.documents.0.document.content": …}}'
    kept = READ
    results_field = "retrieval.documents"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``attributes`` of a span, as one value or as columns."""
        return "attributes" in keys or any(
            key.startswith(("attributes.retrieval.", "retrieval.documents")) for key in keys
        )

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Every span, in the words that all forms of traces share."""
        for at, span in rows:
            flat = dict(_flat(_relevant(span, at)))
            record = _record(span, flat, at)
            asked = _asked(flat) if record is None else None
            began = str(span.get("startTimeUnixNano") or span.get("start_time") or "")
            yield Span(_trace_id(span), began, at, asked, record)


def _trace_id(span: Mapping[str, Any]) -> str | None:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    found = (span.get(key) for key in ("trace_id", "traceId", "context.trace_id"))
    value = inner or next(filter(None, found), None)
    return None if value is None else str(value)


class Scope(msgspec.Struct):
    """The spans of one instrument."""

    spans: list[dict[str, Any]] = []


class Resource(msgspec.Struct):
    """The spans of one program."""

    scope_spans: list[Scope] = msgspec.field(name="scopeSpans", default_factory=list)


class Export(msgspec.Struct):
    """One export."""

    resource_spans: list[Resource] = msgspec.field(name="resourceSpans")


class Otlp(WholeFormat):
    """Spans as they are exported."""

    name = "otlp"
    title = "OpenInference spans in an OTLP export"
    whole = Export
    example = '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": […]}]}]}]}'
    known_by = ({"resourceSpans"},)
    results_field = "retrieval.documents"

    def records(self, whole: Export, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """One record per span of a retriever, with its place in the export."""
        spans = OpenInference().spans(spans_in(whole, place))
        for at, record in once_each(spans):
            yield at(), record


def spans_in(whole: Export, place: PathPlace) -> Rows:
    """Every span of an export with its place."""
    for i, resource in enumerate(whole.resource_spans):
        for j, scope in enumerate(resource.scope_spans):
            for k, span in enumerate(scope.spans):
                path = place(f"$.resourceSpans[{i}].scopeSpans[{j}].spans[{k}]")
                yield partial(str, path), span


_TRACES = (OpenInference(), LangSmith(), Langfuse())
WRAPPERS = ("data", "traces", "observations", "runs", "spans")
"""Keys under which an export may keep its list."""


def read_traces(path: str | os.PathLike[str]) -> Iterator[Record]:
    """One record per question of a trace, with what its calls of a retriever returned."""
    source = Source(Path(path))
    look = Sight(source).look
    if look is None:
        raise InvalidInput(f"{source.name} holds no traces: it is not JSON; {_ALLOWED}")
    first = look.first if isinstance(look.first, dict) else {}
    owner = next((key for key in WRAPPERS if key in first and look.shape == "object"), None)
    raw = raw_records(source, look, owner)
    rows: Rows = (
        (partial(raw.place, number), decoded(one, source, raw.line(number)))
        for number, one in enumerate(raw.items)
    )
    for _, record in retrievals(_spans(rows, source.name)):
        yield record


_ALLOWED = (
    "give an export of OpenInference or OTLP spans, of LangSmith runs or of Langfuse observations."
)


def _spans(rows: Rows, name: str) -> Iterator[Any]:
    """The spans of all rows, by the form that the first row has."""
    form = None
    for at, row in rows:
        if isinstance(row, dict) and "resourceSpans" in row:
            try:
                whole = msgspec.convert(row, Export)
            except msgspec.ValidationError as error:
                raise InvalidInput(explain_mismatch(str(error), at(), Otlp.example)) from None
            yield from OpenInference().spans(spans_in(whole, lambda path: f"{name} {path}"))
            continue
        if form is None and isinstance(row, dict):
            keys = frozenset(map(str, row))
            form = next((one for one in _TRACES if one.recognise(keys)), None)
        if form is None or not isinstance(row, dict):
            raise InvalidInput(f"{at()} is no part of a trace; {_ALLOWED}")
        yield from form.spans(iter([(at, row)]))
