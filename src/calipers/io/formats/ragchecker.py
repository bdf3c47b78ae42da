"""RAGChecker: results with the context that was retrieved."""

import msgspec

from calipers.io.records import Id, Record, Result
from calipers.io.rows import At, RowFormat, each


class Context(msgspec.Struct):
    """One retrieved text."""

    text: str
    doc_id: Id | None = None


class Answered(msgspec.Struct):
    """One query with what was retrieved for it."""

    query: str
    retrieved_context: list[Context]
    query_id: Id | None = None


def recognise(keys: frozenset[str]) -> bool:
    """``retrieved_context`` or ``gt_answer``."""
    return bool(keys & {"retrieved_context", "gt_answer"})


def _record(row: Answered, _: At) -> Record:
    found: list[Id | Result] = [
        Result(id=one.doc_id, text=one.text) for one in row.retrieved_context
    ]
    return Record(row.query, id=row.query_id, retrieved=found)


FORM = RowFormat(
    name="ragchecker",
    title="RAGChecker results",
    recognise=recognise,
    row=Answered,
    records=each(_record),
    example='{"query_id": …, "query": …, "retrieved_context": [{"doc_id": …, "text": …}]}',
    kept=frozenset(Answered.__struct_fields__),
    fields={"retrieved": "retrieved_context"},
)
