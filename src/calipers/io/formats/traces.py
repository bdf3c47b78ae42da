"""Traces: turn retriever calls into records, trace by trace.

LangSmith runs and Langfuse observations, which differ only in their field names, are here; the
spans of OpenTelemetry are in ``spans``.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.format import EachRow, RowFormat, Rows
from calipers.io.records.documents import (
    BadDocument,
    IncompleteAnswer,
    is_id,
    read_document,
    results_in,
)
from calipers.io.records.fields import resolve_record
from calipers.io.records.layout import last_asked
from calipers.io.records.schema import At, PlainRecord
from calipers.io.tables.cells import looks_like_texts
from calipers.names import (
    EXPECTED,
    LISTS,
    NO_PART_WORDS,
    QUESTION_IN_INPUT,
    WANTED_IDS,
    plain_name,
)


@dataclass(frozen=True)
class RetrieverCall:
    """A question, and what a retriever returned for it in one call or in several."""

    question: str
    results: tuple[PlainRecord, ...]
    """Each with the fields of a result in our JSON."""
    latency_ms: float | None = None
    error: str | None = None

    def record(self) -> PlainRecord:
        """The call as a record."""
        return {
            "query": self.question,
            "retrieved": [*self.results],
            "latency_ms": self.latency_ms,
            "error": self.error,
        }


@dataclass(frozen=True, eq=False)
class Span:
    """One step of a trace: a retriever call, or a step that may hold the question."""

    trace: object
    began: str
    at: At
    question: str | None = None
    call: RetrieverCall | None = None
    """What a retriever returned; None for any other step."""
    likely: RetrieverCall | None = None
    """What a step returned that is called a retrieval and is of another kind."""


def retrievals(spans: Iterable[Span]) -> Iterator[tuple[At, RetrieverCall]]:
    """Yield every retriever call; several in a trace become one, if it has a question."""
    traces: dict[str, list[Span]] = {}
    for number, span in enumerate(spans):
        traces.setdefault(str(span.trace or f"span {number}"), []).append(span)
    for steps in traces.values():
        calls = [(span.at, span.call) for span in steps if span.call is not None]
        likely = [(span.at, span.likely) for span in steps if span.likely is not None]
        if not calls and len(likely) == 1:
            calls = likely
        asking = [
            step for step in steps if step.call is None and step.question is not None
        ]
        # The question of an agent is that of its outermost span, which begins first.
        first = min(asking, key=lambda step: step.began, default=None)
        if len(calls) > 1 and first is not None:
            ordered = sorted(steps, key=lambda step: step.began)
            in_order = [step.call for step in ordered if step.call is not None]
            calls = [(calls[0][0], _merge_calls(str(first.question), in_order))]
        for at, call in calls:
            if call.question == UNASKED:
                yield at, replace(call, question=_asked_outside(first, at))
            else:
                yield at, call


UNASKED = ""
"""The question of a call that only a step around it can say."""
TRACED_INPUT = "traceloop.entity.input"
TRACED_OUTPUT = "traceloop.entity.output"
"""The attributes in which OpenLLMetry records the question of a workflow, and what it returned."""


def _asked_outside(step: Span | None, at: At) -> str:
    """The question of the step around a call."""
    if step is None:
        raise InvalidInput(
            f"A span of a vector store has no question at {at()}: no step of its trace has "
            f"{TRACED_INPUT!r}; export the spans of the workflow around it, too."
        )
    return str(step.question)


def _merge_calls(question: str, calls: list[RetrieverCall]) -> RetrieverCall:
    """One call from several; each result has the number of its own."""
    results = (
        {**result, "call": number}
        for number, call in enumerate(calls, 1)
        for result in call.results
    )
    times = [call.latency_ms for call in calls if call.latency_ms is not None]
    errors = [call.error for call in calls]
    return RetrieverCall(
        question,
        tuple(results),
        latency_ms=sum(times) if len(times) == len(calls) else None,
        error=errors[0] if all(errors) else None,
    )


def once_each(spans: Iterable[Span]) -> Iterator[RetrieverCall]:
    """Yield every question once; refuse one with different results."""
    seen: dict[str, tuple[RetrieverCall, At]] = {}
    for at, call in retrievals(spans):
        query = call.question
        if query not in seen:
            seen[query] = (call, at)
            yield call
        elif seen[query][0] != replace(call, latency_ms=seen[query][0].latency_ms):
            raise InvalidInput(
                f"The question {query[:40]!r} has two spans with different results: "
                f"{seen[query][1]()} and {at()}; keep one, or take each question once with "
                "`calipers labels draft --from-traces FILE`."
            )


_EXPORT_CALLS = (
    "export spans of the kind RETRIEVER, or of the operation retrieval "
    "(gen_ai.operation.name), too"
)
NO_CALLS = f"The traces hold no call of a retriever; {_EXPORT_CALLS}."


class NoCalls(InvalidInput):
    """Traces in which nothing was retrieved."""


def no_calls(name: str, spans: int) -> NoCalls:
    """The error for traces in which nothing was retrieved."""
    counted = "the one span" if spans == 1 else f"{spans:,} spans"
    return NoCalls(
        f"There is no retrieval span among {counted} of {name}; {_EXPORT_CALLS}."
    )


class TraceFormat(RowFormat):
    """Spans of traces, one or several per row."""

    row: Any = dict[str, Any]
    without_calls: str = ""
    """What to say where no span is a call, if there is more to say than that."""

    @abstractmethod
    def spans(self, rows: Rows) -> Iterator[Span]:
        """Yield every span in the shape that all trace formats share."""

    def records(self, rows: Rows) -> Iterator[PlainRecord]:
        """Yield one record per retriever call, or per trace with several calls."""
        counts = Counter[str]()
        for call in once_each(_counted(self.spans(rows), counts)):
            counts["calls"] += 1
            yield call.record()
        if not counts["calls"]:
            if self.without_calls:
                raise InvalidInput(self.without_calls)
            raise no_calls("the file", counts["spans"])


def _counted(spans: Iterable[Span], counts: Counter[str]) -> Iterator[Span]:
    for span in spans:
        counts["spans"] += 1
        yield span


def opened(value: object) -> object:
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


def question_in(value: object) -> str | None:
    """The question in the input of a span: a text, one under a usual name, or the last message.

    >>> question_in({"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant"}]})
    'Who?'
    """
    value = opened(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, Mapping):
        named = (value[k] for k in QUESTION_IN_INPUT if isinstance(value.get(k), str))
        return next(named, None) or last_asked(value.get("messages"))
    return last_asked(value)


def documents_in(output: object, at: At) -> tuple[PlainRecord, ...]:
    """The documents in the output of a retriever, as results of our JSON."""
    if not output:
        return ()
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
    results = []
    for i, document in enumerate(listed):
        try:
            results.append(msgspec.structs.asdict(read_document(document)))
        except BadDocument as error:
            raise InvalidInput(f"A document {error} at {at()}, document {i}.") from None
    return tuple(results)


def milliseconds(begin: object, end: object) -> float | None:
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


RETRIEVES = re.compile(r"retriev|search", re.IGNORECASE)
"""Names of steps that may be calls of a retriever."""


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

    def spans(self, rows: Rows, trace: object = None) -> Iterator[Span]:
        """Yield every span, including nested child spans."""
        for at, row in rows:
            asked = question_in(row.get(self.asked))
            call = None
            # One API writes types in upper case, others in lower case.
            if str(row.get(self.kind)).lower() == "retriever":
                call = self._call(row, asked, at)
                asked = None
            likely = None
            if call is None and asked and RETRIEVES.search(str(row.get("name"))):
                likely = self._likely_call(row, asked, at)
            began = str(one_of(row, "start_time", "startTime") or "")
            own = one_of(row, "trace_id", "traceId") or trace
            if self.kind not in row:
                # the trace itself, which is the outermost span
                own = row.get("id")
                began = ""
            yield Span(own, began, at, asked, call, likely)
            inside = opened(row.get(self.steps))
            listed = inside if isinstance(inside, list) else ()
            inner = ((at, step) for step in listed if isinstance(step, dict))
            yield from self.spans(inner, own)

    def _likely_call(
        self, row: Mapping[str, object], asked: str, at: At
    ) -> RetrieverCall | None:
        """The call in a step that is only called a retrieval; None if it lists no results."""
        if not isinstance(opened(row.get(self.answered)), list | Mapping):
            return None
        try:
            return self._call(row, asked, at)
        except InvalidInput:
            return None

    def _call(
        self, row: Mapping[str, object], asked: str | None, at: At
    ) -> RetrieverCall:
        """The call that a span records."""
        if asked is None:
            raise InvalidInput(
                f"A call of a retriever has no question at {at()}: no 'query' in its "
                f"{self.asked!r}, nor is that a text. The API leaves out what was not asked for: "
                f"{self.advice}."
            )
        error = row.get("error")
        if row.get("level") == "ERROR":
            said = one_of(row, "status_message", "statusMessage")
            error = said or "the observation ended with an error"
        times = (one_of(row, f"{name}_time", f"{name}Time") for name in ("start", "end"))
        return RetrieverCall(
            asked,
            documents_in(row.get(self.answered), at),
            latency_ms=milliseconds(*times),
            error=str(error) if error else None,
        )


def one_of(row: Mapping[str, object], *names: str) -> object:
    """The first of these fields that has a value, or None."""
    return next((row[name] for name in names if row.get(name) is not None), None)


class LangSmith(Platform):
    """LangSmith runs, one per row."""

    name = "langsmith"
    title = "runs exported from LangSmith"
    example = (
        '{"run_type": "retriever", "inputs": {"query": …}, "outputs": {"documents": […]}}'
    )
    kind = "run_type"
    asked = "inputs"
    answered = "outputs"
    steps = "child_runs"
    results_field = "outputs"
    advice = "select the inputs and the outputs"
    known_by = ({"run_type", "inputs"}, {"run_type", "trace_id", "start_time"})


class Langfuse(Platform):
    """Langfuse observations or traces, one per row."""

    name = "langfuse"
    title = "traces exported from Langfuse"
    example = '{"traceId": …, "type": "RETRIEVER", "input": …, "output": […]}'
    kind = "type"
    asked = "input"
    answered = "output"
    steps = "observations"
    results_field = "output"
    advice = "ask with fields='core,basic,io,metadata'"
    known_by = (
        *({"traceId", "type", "startTime"}, {"trace_id", "type", "start_time"}),
        *({"traceId", "type", "input"}, {"observations", "input"}),
    )


class ExportedExample(msgspec.Struct):
    """One example of a dataset."""

    inputs: object
    outputs: object = None


def _lists_ids(name: str, value: object) -> bool:
    """Whether an output of an example lists ids of what should be found."""
    if not isinstance(value, list) or not value or NO_PART_WORDS & {*name.split("_")}:
        return False
    return all(map(is_id, value)) and not looks_like_texts(value)


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
        others = {"run_type", "reference_outputs", "expectations"}
        return {"inputs", "outputs"} <= keys and not keys & others

    def record(self, row: ExportedExample, at: At) -> PlainRecord:
        """Convert a row to a record; a question that is the only input may have any name."""
        inputs = opened(row.inputs)
        outputs = opened(row.outputs)
        values = list(inputs.values()) if isinstance(inputs, Mapping) else []
        single = values[0] if len(values) == 1 and isinstance(values[0], str) else None
        asked = question_in(inputs) or single
        if asked is None:
            keys = ", ".join(inputs) if isinstance(inputs, Mapping) else repr(inputs)[:60]
            raise InvalidInput(
                f"An example has no question at {at()}.inputs: no 'question' or "
                f"{', '.join(map(repr, QUESTION_IN_INPUT[:2]))}; found {keys or 'nothing'}."
            )
        fields = outputs if isinstance(outputs, dict) else {}
        named = {plain_name(str(key)): value for key, value in fields.items()}
        known = (named[name] for name in (*EXPECTED, *WANTED_IDS) if name in named)
        truth = next(known, None)
        if truth is None:
            listed = [value for key, value in named.items() if _lists_ids(key, value)]
            truth = listed[0] if len(listed) == 1 else None
        return resolve_record({"query": asked, "ground_truth": truth}, at)
