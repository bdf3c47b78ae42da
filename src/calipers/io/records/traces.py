"""What all forms of traces share: spans of a retriever become records, trace by trace."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.documents import BadDocument, read_document
from calipers.io.records.records import Id, Record, Result
from calipers.io.records.rows import At, RowFormat, Rows
from calipers.names import LISTS, QUESTION_IN_INPUT


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
    value = opened(output)
    if isinstance(value, Mapping):
        value = next((value[k] for k in (*LISTS, "output") if isinstance(value.get(k), list)), None)
    if not output:
        return []
    if not isinstance(value, list):
        raise InvalidInput(
            f"The output of a retriever is {output!r:.80} at {at()}; it must be a list of "
            f"documents, or hold one under {', '.join(map(repr, LISTS[:4]))} or 'output'."
        )
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
