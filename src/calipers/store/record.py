"""An evaluation as plain values and bytes with checksums, and how to save it atomically.

Contents (scores, queries, results) are stored by their SHA-256, and the rows that
describe an evaluation carry a checksum, so that a value changed by the disk or another
program is detected.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import wraps
from typing import Any, TypeVar

import msgspec
from sqlalchemy import insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from calipers.errors import CalipersError, InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.store.open import Store
from calipers.store.schema import CONTENT, EVALUATION, PART, SUMMARY, TAG

LONGEST_NAME = 100
NAME_FORM = (
    "letters, digits, dots, dashes, underscores and slashes, beginning with a letter or "
    f"a digit, {LONGEST_NAME} characters at most"
)
JUDGEMENTS = "judgements"
"""The column with a digest of each query's ground truth."""
TAG_COLUMN = "tag."
"""Prefix of the columns with the queries' tags."""
_BETWEEN = "._-/"
_NAME = re.compile(rf"[^\W_][\w./-]{{0,{LONGEST_NAME - 1}}}")
F = TypeVar("F", bound=Callable[..., object])
CHECKSUM = 16
"""Characters of one checksum."""


@dataclass(frozen=True)
class EvaluationRecord:
    """The rows of one evaluation."""

    id: str
    row: Mapping[str, Any]
    """The row of the evaluation itself."""
    tags: Mapping[str, str]
    summaries: Sequence[Mapping[str, object]]
    contents: Mapping[str, tuple[str, bytes]] = field(repr=False)
    """By kind: the digest and the bytes."""


def new_id() -> str:
    """An id that is unique across stores."""
    return secrets.token_hex(8)


def check_name(name: str) -> str:
    """Return the name of an evaluation, or raise if it is invalid.

    >>> check_name("nightly"), check_name("team/größe-2.0")
    ('nightly', 'team/größe-2.0')
    >>> check_name("a~1")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The name 'a~1' cannot be used; a name is made of letters, \
digits, dots, dashes, underscores and slashes, beginning with a letter or a digit, 100 characters \
at most.
    """
    shown = str(name)[:LONGEST_NAME]
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise InvalidInput(
            f"The name {shown!r} cannot be used; a name is made of {NAME_FORM}."
        )
    # What reads like a path must not lead anywhere.
    if not {"", ".", ".."}.isdisjoint(name.split("/")):
        raise InvalidInput(
            f"The name {shown!r} cannot be used: between its slashes stands nothing, a dot or "
            "two dots, as in a path; write it as team/nightly."
        )
    return name


def name_from(words: Iterable[str], longest: int = 90) -> str:
    """Derive an evaluation name from run names.

    >>> name_from(["my run (1)", "@nightly"])
    'my-run--1---nightly'
    """
    plain = (
        character if character.isalnum() or character in _BETWEEN else "-"
        for character in "-".join(words)
    )
    return "".join(plain).lstrip(_BETWEEN)[:longest] or "runs"


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of an evaluation as texts, or raise if one is invalid.

    >>> check_tags({"chunk": 400})
    {'chunk': '400'}
    """
    checked = {name: str(value) for name, value in tags.items()}
    for name, value in checked.items():
        if (
            not _NAME.fullmatch(name)
            or not value.isprintable()
            or not 0 < len(value) <= 1000
        ):
            raise InvalidInput(
                f"The tag {name[:40]!r}={value[:40]!r} cannot be used; write it as "
                f"model=e5: the name is made of {NAME_FORM}, the value of 1 to 1,000 "
                "printable characters."
            )
    return checked


def write(store: Store, record: EvaluationRecord) -> None:
    """Save one evaluation; after an error or a crash the history is as it was before."""
    digests = {kind: digest for kind, (digest, _) in record.contents.items()}
    row = {"id": record.id, **record.row}
    row["checksum"] = checksum_listed(row, record.tags) + checksum_facts(
        row["facts"], digests
    )
    statement = insert(EVALUATION).values(**row).returning(EVALUATION.c.number)
    with store.writing() as connection:
        number = int(connection.execute(statement).scalar_one())
        # Always in the same order: two saves of the same contents must not deadlock.
        for digest, content in sorted(record.contents.values()):
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            # A content that is already stored stays.
            kept = dialect.insert(CONTENT).on_conflict_do_nothing()
            connection.execute(kept, {"digest": digest, "bytes": content})
        summaries = [
            {"position": i, **summary} for i, summary in enumerate(record.summaries)
        ]
        for table, rows in (
            (
                TAG,
                [{"name": name, "value": value} for name, value in record.tags.items()],
            ),
            (
                SUMMARY,
                [
                    {**summary, "checksum": checksum_summary(summary)}
                    for summary in summaries
                ],
            ),
            (
                PART,
                [{"kind": kind, "digest": digest} for kind, digest in digests.items()],
            ),
        ):
            if rows:
                connection.execute(
                    insert(table), [{"evaluation": number, **row} for row in rows]
                )


def checksum_listed(row: Mapping[str, object], tags: Mapping[str, str]) -> str:
    """The first part of an evaluation's checksum: over the listed columns and the tags."""
    return _checksum([_without(row, ("number", "checksum", "facts")), dict(tags)])


def checksum_facts(facts: str, digests: Mapping[str, str]) -> str:
    """The second part: over the facts of the evaluation and the digests of its contents."""
    return _checksum([facts, dict(digests)])


def checksum_summary(row: Mapping[str, object]) -> str:
    """The checksum of one summary."""
    return _checksum(_without(row, ("evaluation", "checksum")))


def _checksum(value: object) -> str:
    # As JSON with every digit: a database returns the exact float that it stored.
    content = msgspec.json.encode(value, order="deterministic")
    return hashlib.sha256(content).hexdigest()[:CHECKSUM]


def _without(row: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in names}


def check(kept: str, computed: str, what: str, place: str) -> None:
    """Refuse a row with a wrong checksum; ``place`` is the history."""
    if kept != computed:
        raise UnreadableFile(
            f"The history {place} is damaged: {what} is not as it was saved; put back a "
            "copy of it."
        )


def sound(function: F) -> F:
    """Decorate a function on a store so that damaged rows raise an UnreadableFile."""

    @wraps(function)
    def checked(store: Any, *args: Any, **keywords: Any) -> Any:
        try:
            return function(store, *args, **keywords)
        except CalipersError:
            raise
        except _damage_errors() as error:
            raise UnreadableFile(
                f"The history {store.place.shown} is damaged: a row cannot be read "
                f"({type(error).__name__}: {str(error).partition(chr(10))[0]:.80}); put "
                "back a copy of it."
            ) from error

    return checked  # type: ignore[return-value]


def _damage_errors() -> tuple[type[Exception], ...]:
    # Imported only after a failure: a process that saves does not need polars.
    from polars.exceptions import PolarsError

    wrong = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
    return (*wrong, msgspec.MsgspecError, PolarsError, SQLAlchemyError)
