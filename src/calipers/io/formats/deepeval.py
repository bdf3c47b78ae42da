"""deepeval: goldens and test cases, in the spelling of its files or of its interface."""

import msgspec

from calipers.io.records import Id, Record, Result, Target
from calipers.io.rows import At, RowFormat, each


class Source(msgspec.Struct):
    """A retrieved text with the place it came from."""

    context: str
    source: str | None = None


class Case(msgspec.Struct):
    """A golden or a test case; ``context`` is what should be found."""

    input: str
    context: list[str] | None = None
    retrieval_context: list[str | Source] | None = None
    camel_context: list[str | Source] | None = msgspec.field(default=None, name="retrievalContext")


OWN = frozenset(
    {
        "retrieval_context", "retrievalContext", "actual_output", "actualOutput",
        "expected_output", "expectedOutput",
    }
)  # fmt: skip


def recognise(keys: frozenset[str]) -> bool:
    """Its own names, or ``input`` beside ``context``."""
    return bool(keys & OWN) or {"input", "context"} <= keys


def _record(row: Case, _: At) -> Record:
    found = row.camel_context if row.retrieval_context is None else row.retrieval_context
    retrieved: list[Id | Result] | None = None
    if found is not None:
        retrieved = [
            Result(text=one)
            if isinstance(one, str)
            else Result(text=one.context, document=one.source)
            for one in found
        ]
    truth: list[Id | Target] | None = None
    if row.context is not None:
        truth = [Target(quote=text) for text in row.context]
    return Record(row.input, retrieved=retrieved, ground_truth=truth)


FORM = RowFormat(
    name="deepeval",
    title="deepeval goldens or test cases",
    recognise=recognise,
    row=Case,
    records=each(_record),
    example='{"input": …, "context": […], "retrieval_context": […]}',
    kept=frozenset({"input", "context", "retrieval_context", "retrievalContext"}),
    fields={"retrieved": "retrieval_context", "ground_truth": "context"},
)
