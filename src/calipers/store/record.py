"""An evaluation as plain values and bytes, and writing it: whole or not at all."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.dialects import postgresql, sqlite

from calipers.errors import InvalidInput
from calipers.store import checksum
from calipers.store.open import Store
from calipers.store.schema import CONTENT, EVALUATION, PART, SUMMARY, TAG

LONGEST_NAME = 100
LONGEST_VALUE = 1000
NAME_FORM = (
    "letters, digits, dots, dashes, underscores and slashes, beginning with a letter or a digit, "
    f"{LONGEST_NAME} characters at most"
)
JUDGEMENTS = "judgements"
"""The column with a digest of what should be found, for each query."""
TAG_COLUMN = "tag."
"""How the columns of the queries' tags begin."""
_BETWEEN = "._-/"


@dataclass(frozen=True)
class EvaluationRecord:
    """The rows of one evaluation."""

    id: str
    row: Mapping[str, Any]
    """The row of the evaluation itself."""
    tags: Mapping[str, str]
    summaries: Sequence[Mapping[str, Any]]
    contents: Mapping[str, tuple[str, bytes]] = field(repr=False)
    """By kind: the digest and the bytes."""


def new_id() -> str:
    """An id that no other evaluation has, in whatever store."""
    return secrets.token_hex(8)


def check_name(name: str) -> str:
    """The name of an evaluation, or a sentence about what is odd in it.

    >>> check_name("nightly"), check_name("team/größe-2.0")
    ('nightly', 'team/größe-2.0')
    >>> check_name("a~1")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The name 'a~1' holds '~'; a name is made of letters, digits, \
dots, dashes, underscores and slashes, beginning with a letter or a digit, 100 characters at most.
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"The evaluation has no name; a name is made of {NAME_FORM}.")
    odd = next((one for one in name if not one.isalnum() and one not in _BETWEEN), None)
    if odd is not None:
        raise InvalidInput(f"The name {name!r} holds {odd!r}; a name is made of {NAME_FORM}.")
    if not name[0].isalnum():
        raise InvalidInput(
            f"The name {name!r} begins with {name[0]!r}; a name is made of {NAME_FORM}."
        )
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"The name {name[:40]!r}… has {len(name)} characters; a name is made of {NAME_FORM}."
        )
    return name


def name_from(words: Iterable[str], longest: int = 90) -> str:
    """A name out of those of runs, which may be called anything.

    >>> name_from(["my run (1)", "@nightly"])
    'my-run--1---nightly'
    """
    plain = (one if one.isalnum() or one in _BETWEEN else "-" for one in "-".join(words))
    return "".join(plain).lstrip(_BETWEEN)[:longest] or "runs"


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags of an evaluation, each name and value checked.

    >>> check_tags({"chunk": 400})
    {'chunk': '400'}
    """
    found: dict[str, str] = {}
    for name, given in tags.items():
        value = str(given)
        if not all(one.isalnum() or one in _BETWEEN for one in name) or not name:
            raise InvalidInput(
                f"The tag {name!r} has an odd name; a tag is made of {NAME_FORM}, such as model=e5."
            )
        if len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE:
            raise InvalidInput(
                f"The tag {name[:40]!r} is too long; its name may have {LONGEST_NAME} and its "
                f"value {LONGEST_VALUE} characters."
            )
        if not value or not value.isprintable():
            raise InvalidInput(
                f"The tag {name!r} has the value {value!r}; a value is printable text, such as "
                "model=e5."
            )
        found[name] = value
    return found


def write(store: Store, record: EvaluationRecord) -> None:
    """Save one evaluation; after an error or a crash the history is as it was before."""
    with store.writing() as connection:
        write_on(connection, record)


def write_on(connection: Connection, record: EvaluationRecord) -> int:
    """Save one evaluation as part of the caller's transaction; returns its number.

    The evaluation comes first: whoever removes contents waits for those that have begun.
    """
    row = {"id": record.id, **record.row}
    kept = checksum.of_listed(row, record.tags) + checksum.of_facts(record.row["facts"])
    statement = insert(EVALUATION).values(**row, checksum=kept)
    number = int(connection.execute(statement.returning(EVALUATION.c.number)).scalar_one())
    _rows(connection, TAG, [{"name": n, "value": v} for n, v in record.tags.items()], number)
    positions = [{"position": i, **row} for i, row in enumerate(record.summaries)]
    positions = [{**row, "checksum": checksum.of_summary(row)} for row in positions]
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
