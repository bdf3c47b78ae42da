"""Writing an evaluation: everything in one transaction, or nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.dialects import postgresql, sqlite

from calipers.store.open import Store
from calipers.store.record import EvaluationRecord
from calipers.store.schema import CONTENT, EVALUATION, PART, SUMMARY, TAG


def write(store: Store, record: EvaluationRecord) -> None:
    """Save one evaluation; after an error or a crash the history is as it was before."""
    with store.writing() as connection:
        write_on(connection, record)


def write_on(connection: Connection, record: EvaluationRecord) -> int:
    """Save one evaluation as part of the caller's transaction; returns its number.

    The evaluation comes first: whoever removes contents waits for those that have begun.
    """
    statement = insert(EVALUATION).values(id=record.id, **record.row)
    number = int(connection.execute(statement.returning(EVALUATION.c.number)).scalar_one())
    _rows(connection, TAG, [{"name": n, "value": v} for n, v in record.tags.items()], number)
    positions = [{"position": i, **row} for i, row in enumerate(record.summaries)]
    _rows(connection, SUMMARY, positions, number)
    # In the same order everywhere: two that save the same contents must not wait for each other.
    for digest, content in sorted(record.contents.values()):
        _content(connection, digest, content)
    parts = [{"kind": kind, "digest": digest} for kind, (digest, _) in record.contents.items()]
    _rows(connection, PART, parts, number)
    return number


def _rows(
    connection: Connection, table: Any, rows: Sequence[Mapping[str, Any]], number: int
) -> None:
    if rows:
        connection.execute(insert(table), [{"evaluation": number, **row} for row in rows])


def _content(connection: Connection, digest: str, content: bytes) -> None:
    """Keep a content unless it is there already."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(CONTENT).on_conflict_do_nothing()
    connection.execute(statement, {"digest": digest, "bytes": content})
