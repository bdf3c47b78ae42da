"""TruLens: a golden set of queries with the chunks that are expected."""

import msgspec
import polars as pl

from calipers.io.files.probe import Sight
from calipers.io.format import EachRow
from calipers.io.records.records import At, Id, Record, Target, each


class Chunk(msgspec.Struct):
    """An expected chunk; its expected score is its grade."""

    text: str
    expect_score: float | None = None
    expected_score: float | None = None


class Golden(msgspec.Struct):
    """One entry of a golden set."""

    query: str
    query_id: Id | None = None
    expected_chunks: list[str | Chunk] | None = None


def _target(chunk: str | Chunk) -> Target:
    if isinstance(chunk, str):
        return Target(quote=chunk)
    given = chunk.expect_score if chunk.expect_score is not None else chunk.expected_score
    return Target(quote=chunk.text, grade=1.0 if given is None else given)


class TruLens(EachRow):
    """Queries with their expected chunks."""

    name = "trulens"
    title = "a TruLens golden set"
    row = Golden
    example = '{"query": …, "expected_chunks": [{"text": …, "expect_score": 1}]}'
    truth_field = "expected_chunks"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``expected_chunks`` or ``expected_response``."""
        own = bool(keys & {"expected_chunks", "expected_response"})
        return own and ("query" in keys or "question" not in keys)

    def detect(self, sight: Sight) -> bool:
        """The same, where a table has lists and not ids in its cells."""
        if not super().detect(sight):
            return False
        if sight.table is None or "expected_chunks" not in sight.table.columns:
            return True
        cells = sight.table.open().select("expected_chunks").head(20).collect().to_series()
        return cells.dtype != pl.String or bool(cells.str.contains(r"^\s*\[\s*[{\"']").any())

    def record(self, row: Golden, _: At) -> Record:
        """A row as a record."""
        truth = each(_target, row.expected_chunks)
        return Record(row.query, id=row.query_id, ground_truth=truth)
