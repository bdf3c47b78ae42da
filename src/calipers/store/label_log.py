"""The log of labels: one transaction for each entry, and nothing in it is ever changed."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, exists, insert, select

from calipers.errors import InvalidInput
from calipers.model.labels import is_machine
from calipers.model.result import moment
from calipers.store.open import Store
from calipers.store.pool import KINDS, EntryKind, LabelState, LogEntry
from calipers.store.schema import LABEL, POOL, POOL_JUDGE, POOL_LEASE
from calipers.words import did_you_mean


class PoolClosedError(InvalidInput):
    """A pool was closed; what was sent may be sent again once it is open."""


LONGEST_TEXT = 20_000
"""Characters of a note or a quote."""


class Marks(TypedDict, total=False):
    """What a judge may add to an entry."""

    quote: str | None
    quote_start: int | None
    """Where the quote begins in the text of the item, in characters."""
    note: str | None


class Said(Marks, total=False):
    """What an entry may say beside who says it of which item."""

    grade: float | None
    undoes: int | None
    now: datetime | None


def new_request() -> str:
    """A name for an entry that no other has."""
    return secrets.token_hex(16)


def append(
    store: Store,
    pool: int,
    *,
    item: int,
    judge: str,
    kind: EntryKind = "label",
    request: str | None = None,
    grades: tuple[float, ...] | None = None,
    items: int | None = None,
    **said: Unpack[Said],
) -> LogEntry:
    """Add one entry to the log; it is on disk when this returns.

    ``request`` names the entry: given twice, the first is returned and nothing is added.
    ``grades`` are those allowed, ``items`` is how many the pool has. An undo takes back the last
    entry of its judge that holds and settles nothing, whatever its ``item``, or the entry that
    ``undoes`` numbers.
    """
    _check(kind, item, items, grades, said)
    with store.writing() as connection:
        named = request or new_request()
        return append_on(connection, pool, item=item, judge=judge, kind=kind, request=named, **said)


def append_on(
    connection: Connection,
    pool: int,
    *,
    item: int,
    judge: str,
    kind: EntryKind,
    request: str,
    **said: Unpack[Said],
) -> LogEntry:
    """Add one entry as part of the caller's transaction."""
    undoes, note = said.get("undoes"), said.get("note")
    may = lock_pool(connection, pool, judge) or kind == "settle" or undoes is not None
    if not may and not is_machine(judge):
        known = judges_of(connection, pool)
        raise InvalidInput(
            f"The judge {judge!r:.60} is not among those of this pool: {', '.join(known)}."
            f"{did_you_mean(judge, known)}"
        )
    sent = connection.execute(
        select(LABEL).where(
            LABEL.c.pool == pool, LABEL.c.judge == judge, LABEL.c.request == request
        )
    ).first()
    if sent is not None:
        return _entry(sent)
    if kind == "undo" and undoes is None:
        last = label_state(connection, pool).latest(judge)
        if last is None:
            raise InvalidInput(f"There is nothing to undo: {judge} has no label left.")
        item, undoes = last.item, last.number
    row = {
        "pool": pool,
        "item": item,
        "judge": judge,
        "kind": kind,
        **{name: said.get(name) for name in ("grade", "quote", "quote_start")},
        "note": note and note.replace("\x00", "\ufffd"),
        "undoes": undoes,
        "request": request,
        "saved": moment(said.get("now") or datetime.now(UTC)),
    }
    added = connection.execute(insert(LABEL).values(row).returning(*LABEL.c)).one()
    return _entry(added)


def entries_after(store: Store, pool: int, number: int = 0) -> list[LogEntry]:
    """The entries of a pool behind a number, oldest first."""
    with store.reading() as connection:
        return _read(connection, pool, number)


@dataclass(frozen=True)
class PoolNews:
    """What one look into the store says of a pool."""

    version: int
    closed: str | None
    entries: list[LogEntry]
    leases: dict[int, tuple[str, str]]
    """Who is working on a question and until when, by the question's number."""


def read_on(store: Store, pool: int, after: int) -> PoolNews:
    """What is new in a pool behind an entry; all of it is of one moment."""
    with store.reading() as connection:
        row = connection.execute(select(POOL).where(POOL.c.number == pool)).first()
        if row is None or row.deleted is not None:
            raise InvalidInput(f"There is no pool number {pool}.")
        lent = connection.execute(select(POOL_LEASE).where(POOL_LEASE.c.pool == pool))
        leases = {one.share: (one.judge, one.until) for one in lent}
        return PoolNews(row.version, row.closed, _read(connection, pool, after), leases)


def label_state(connection: Connection, pool: int) -> LabelState:
    """What holds in a pool now."""
    return LabelState(_read(connection, pool, 0))


def lock_pool(connection: Connection, pool: int, judge: str = "", *, closed: bool = False) -> bool:
    """One writer at a time for a pool, so that the log has the order in which it became visible.

    Returns whether the judge is one of the pool: every question to a server takes its time.
    One that is closed is refused unless ``closed`` says that it may be.
    """
    may = exists().where(POOL_JUDGE.c.pool == pool, POOL_JUDGE.c.name == judge)
    columns = (may.label("may"), POOL.c.name, POOL.c.closed, POOL.c.deleted)
    statement = select(*columns).select_from(POOL).where(POOL.c.number == pool)
    if connection.dialect.name == "postgresql":
        statement = statement.with_for_update(of=POOL)
    found = connection.execute(statement).first()
    if found is None or found.deleted is not None:
        raise InvalidInput(f"There is no pool number {pool}.")
    if found.closed is not None and not closed:
        raise PoolClosedError(
            f"The pool {found.name} is closed since {found.closed[:16].replace('T', ' ')} UTC; "
            "whoever leads it can open it again."
        )
    return bool(found[0])


def judges_of(connection: Connection, pool: int) -> list[str]:
    """The people who may judge a pool, in the order in which they were named."""
    statement = select(POOL_JUDGE.c.name).where(POOL_JUDGE.c.pool == pool)
    return list(connection.execute(statement.order_by(POOL_JUDGE.c.position)).scalars())


def _read(connection: Connection, pool: int, after: int) -> list[LogEntry]:
    statement = (
        select(LABEL).where(LABEL.c.pool == pool, LABEL.c.number > after).order_by(LABEL.c.number)
    )
    return [_entry(row) for row in connection.execute(statement)]


def _entry(row: Any) -> LogEntry:
    return LogEntry(**{name: value for name, value in row._mapping.items() if name != "pool"})


def _check(
    kind: str, item: int, items: int | None, grades: tuple[float, ...] | None, said: Said
) -> None:
    grade, quote, note = said.get("grade"), said.get("quote"), said.get("note")
    if kind not in KINDS:
        raise InvalidInput(f"An entry is of the kind {kind!r:.40}; it can be {', '.join(KINDS)}.")
    if kind in ("label", "settle"):
        if grade is None or (grades is not None and grade not in grades):
            allowed = ", ".join(f"{one:g}" for one in grades or ()) or "a number"
            raise InvalidInput(f"The grade is {grade!r}; it can be {allowed}.")
    elif grade is not None:
        raise InvalidInput(f"An entry of the kind {kind} has a grade; only labels have one.")
    if kind == "note" and note is None:
        raise InvalidInput("A note is empty; write something, or undo the note before.")
    if items is not None and not 0 <= item < items:
        raise InvalidInput(f"There is no item {item} in the pool; it has {items}, from 0.")
    for what, text in (("quote", quote), ("note", note)):
        if text is not None and (len(text) > LONGEST_TEXT or "\x00" in text or not text.strip()):
            raise InvalidInput(
                f"The {what} cannot be kept: it is empty, holds a character that no database "
                f"keeps, or has more than {LONGEST_TEXT:,} characters; mark less of the text."
            )
