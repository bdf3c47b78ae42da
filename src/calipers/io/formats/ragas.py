"""ragas: single-turn samples with contexts as texts, ids, or both."""

import msgspec

from calipers.io.formats.pairing import results, side_by_side, targets
from calipers.io.records import Id, Record
from calipers.io.rows import At, RowFormat, each

RETRIEVED = ("retrieved_contexts", "retrieved_context_ids")
REFERENCE = ("reference_contexts", "reference_context_ids")


class Sample(msgspec.Struct):
    """One sample; the answers in it are not about retrieval."""

    user_input: str
    retrieved_contexts: list[str] | None = None
    retrieved_context_ids: list[Id] | None = None
    reference_contexts: list[str] | None = None
    reference_context_ids: list[Id] | None = None


def recognise(keys: frozenset[str]) -> bool:
    """Any of the names that ragas alone uses."""
    return bool(keys & {"user_input", *RETRIEVED, *REFERENCE})


def _record(row: Sample, at: At) -> Record:
    retrieved = side_by_side(row.retrieved_contexts, row.retrieved_context_ids, at, RETRIEVED)
    texts, ids = _reference(row)
    reference = side_by_side(texts, ids, at, REFERENCE)
    return Record(row.user_input, retrieved=results(retrieved), ground_truth=targets(reference))


def _reference(row: Sample) -> tuple[list[str] | None, list[Id] | None]:
    """What should be found, as texts, as ids, or both.

    Lists of different length name the same evidence twice, in two ways that cannot be told
    together: counting both would double it. The ids are taken where the results have ids.
    """
    texts, ids = row.reference_contexts, row.reference_context_ids
    if texts is None or ids is None or len(texts) == len(ids):
        return texts, ids
    return (None, ids) if row.retrieved_context_ids is not None else (texts, None)


def left_out(row: Sample) -> tuple[str, ...]:
    """The list that a sample has and its record has not."""
    have = (row.reference_contexts, row.reference_context_ids)
    return tuple(
        name
        for name, given, kept in zip(REFERENCE, have, _reference(row), strict=True)
        if given is not None and kept is None
    )


FORM = RowFormat(
    name="ragas",
    title="ragas samples",
    recognise=recognise,
    row=Sample,
    records=each(_record),
    example='{"user_input": …, "retrieved_contexts": […], "reference_contexts": […]}',
    kept=frozenset(Sample.__struct_fields__),
    fields={"retrieved": "retrieved_contexts", "ground_truth": "reference_contexts"},
    left_out=left_out,
    why_left_out=(
        "Texts and ids of the references differ in number and cannot be paired; the kind that the "
        "results have is taken."
    ),
)
