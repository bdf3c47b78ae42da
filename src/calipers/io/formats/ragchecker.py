"""RAGChecker: results with the context that was retrieved."""

import msgspec

from calipers.io.format import EachRow
from calipers.io.records.records import At, Id, Record, Result, each


class RagCheckerContext(msgspec.Struct):
    """One retrieved text."""

    text: str
    doc_id: Id | None = None


class Answered(msgspec.Struct):
    """One query with what was retrieved for it."""

    query: str
    retrieved_context: list[RagCheckerContext]
    query_id: Id | None = None


class RagChecker(EachRow):
    """Queries with what was retrieved for them."""

    name = "ragchecker"
    title = "RAGChecker results"
    row = Answered
    example = '{"query_id": …, "query": …, "retrieved_context": [{"doc_id": …, "text": …}]}'
    results_field = "retrieved_context"
    known_by = ({"retrieved_context"}, {"gt_answer"})

    def record(self, row: Answered, _: At) -> Record:
        """A row as a record."""
        found = each(lambda one: Result(id=one.doc_id, text=one.text), row.retrieved_context)
        return Record(row.query, id=row.query_id, retrieved=found)
