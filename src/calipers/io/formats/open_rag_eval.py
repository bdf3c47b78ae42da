"""open-rag-eval: one row for each passage that was retrieved for a query."""

import re
from collections.abc import Iterator

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import RowFormat, Rows
from calipers.io.records.records import At, Id, Record, Result

NUMBERING = re.compile(r"\[\d+\]")
"""Passages numbered as an answer cites them: places in a list, not ids."""


class Passage(msgspec.Struct):
    """One retrieved passage."""

    query_id: Id
    query: str
    passage: str | None = None
    passage_id: Id | None = None
    query_run: Id | None = None


class OpenRagEval(RowFormat):
    """Retrieved passages, one a row."""

    name = "open_rag_eval"
    title = "passages of open-rag-eval"
    row = Passage
    example = '{"query_id": …, "query": …, "query_run": 1, "passage_id": …, "passage": …}'
    results_field = "passage"
    known_by = ({"query_id", "passage"}, {"query_run"})

    def records(self, rows: Rows) -> Iterator[Record]:
        """Passages gathered by query."""
        found: dict[str, Record] = {}
        first: tuple[Id, At] | None = None
        for at, row in rows:
            if row.query_run is not None:
                first = first or (row.query_run, at)
                if row.query_run != first[0]:
                    raise InvalidInput(
                        f"The file holds several runs: query_run is {first[0]} at {first[1]()} and "
                        f"{row.query_run} at {at()}; keep the rows of one run."
                    )
            record = found.setdefault(
                str(row.query_id), Record(row.query, id=row.query_id, retrieved=[])
            )
            if row.passage is not None and isinstance(record.retrieved, list):
                known = row.passage_id is not None and not NUMBERING.fullmatch(str(row.passage_id))
                record.retrieved.append(
                    Result(id=row.passage_id if known else None, text=row.passage)
                )
        yield from found.values()
