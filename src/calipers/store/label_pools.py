"""Pools of results to label, and the append-only log of labels."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import polars as pl
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label, is_machine
from calipers.model.result import moment
from calipers.model.run import Run
from calipers.store.blob import digest_of, pack, unpack
from calipers.store.load import query_tags
from calipers.store.open import Store
from calipers.store.pool import (
    KINDS,
    LabelState,
    LogEntry,
    NewEntry,
    PoolChange,
    PoolInfo,
    PoolItem,
    PoolList,
    PoolSettings,
)
from calipers.store.record import TAG_COLUMN, check_name
from calipers.store.schema import LABEL, POOL, POOL_CONTENT
from calipers.words import did_you_mean

ITEM_SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(
        ("query_id", "query", "item", "text", "document", "title"), pl.String()
    ),
    **dict.fromkeys(("start", "end"), pl.Int64()),
}
_LISTED = ("number", "name", "created", "closed", "items", "queries")
LONGEST_TEXT = 20_000
"""Most characters of a note or a quote."""


class PoolClosedError(InvalidInput):
    """The pool is closed; a label may be sent again once it is reopened."""


@dataclass(frozen=True, eq=False)
class PoolContent:
    """Everything in a pool except the log."""

    number: int
    name: str
    settings: PoolSettings
    items: tuple[PoolItem, ...]
    runs: Mapping[str, Run]
    ground_truth: GroundTruth | None
    version: int = 0


def make_pool(
    store: Store,
    name: str,
    labels: Sequence[Label],
    *,
    runs: Mapping[str, Run],
    ground_truth: GroundTruth | None,
    settings: PoolSettings,
    made_of: Mapping[str, str] | None = None,
) -> int:
    """Save a new pool in one transaction and return its number."""
    check_name(name)
    contents: list[tuple[str, str | None, pl.DataFrame]] = [
        ("items", None, _item_table(labels))
    ]
    contents += [("run", system, run.frame) for system, run in runs.items()]
    if ground_truth is not None:
        tags = [
            tag.alias(TAG_COLUMN + tag_name)
            for tag_name, tag in ground_truth.tags.items()
        ]
        contents.append(("targets", None, ground_truth.targets))
        contents.append(("queries", None, ground_truth.queries.with_columns(tags)))
    with store.writing() as connection:
        if connection.execute(select(POOL.c.number).where(POOL.c.name == name)).first():
            raise InvalidInput(
                f"There is a pool called {name!r} already in {store.place.shown}; serve "
                f"it with `calipers serve --pool {name}`, or give the new one another "
                "name."
            )
        statement = insert(POOL).values(
            name=name,
            created=moment(datetime.now(UTC)),
            settings=msgspec.json.encode(asdict(settings)).decode(),
            made_of=msgspec.json.encode(dict(made_of or {})).decode(),
            items=len(labels),
            queries=len({label.query_id for label in labels}),
        )
        number = int(connection.execute(statement.returning(POOL.c.number)).scalar_one())
        for at, content in enumerate(contents):
            _add_content(connection, number, at, *content)
    return number


def add_items(store: Store, pool: int, labels: Sequence[Label]) -> None:
    """Append items to a pool; existing items keep their positions."""
    with store.writing() as connection:
        row = lock_pool(connection, pool)
        mine = POOL_CONTENT.c.pool == pool
        last = connection.execute(
            select(func.max(POOL_CONTENT.c.position)).where(mine)
        ).scalar()
        _add_content(
            connection, pool, (last or 0) + 1, "items", None, _item_table(labels)
        )
        tables = _tables(connection, row, store, POOL_CONTENT.c.kind == "items")
        queries = pl.concat([table["query_id"] for _, _, table in tables])
        _change(connection, pool, items=len(queries), queries=queries.n_unique())


def _add_content(
    connection: Connection,
    pool: int,
    at: int,
    kind: str,
    name: str | None,
    table: pl.DataFrame,
) -> None:
    content = pack(table)
    row = {"pool": pool, "position": at, "kind": kind, "name": name}
    row |= {"digest": digest_of(content), "bytes": content}
    connection.execute(insert(POOL_CONTENT).values(row))


def _item_table(labels: Sequence[Label]) -> pl.DataFrame:
    rows = [{name: getattr(label, name) for name in ITEM_SCHEMA} for label in labels]
    return pl.DataFrame(rows, schema=ITEM_SCHEMA)


def _tables(
    connection: Connection, row: Row[Any], store: Store, *which: Any
) -> list[tuple[str, str | None, pl.DataFrame]]:
    """The kind, the name and the rows of each part of a pool."""
    parts = select(POOL_CONTENT).where(POOL_CONTENT.c.pool == row.number, *which)
    whose = f"The pool {row.name} in {store.place.shown}"
    return [
        (part.kind, part.name, unpack(bytes(part.bytes), part.digest, whose))
        for part in connection.execute(parts.order_by(POOL_CONTENT.c.position))
    ]


def change_pool(store: Store, pool: int, change: PoolChange, by: str) -> None:
    """Close a pool, reopen it or delete its content; the log records who did it."""
    with store.writing() as connection:
        lock_pool(connection, pool, closed=True)
        now = moment(datetime.now(UTC))
        entry = {"pool": pool, "item": 0, "judge": check_judge(by), "kind": change}
        request = secrets.token_hex(16)
        connection.execute(insert(LABEL).values(**entry, request=request, saved=now))
        if change != "delete":
            _change(connection, pool, closed=now if change == "close" else None)
        else:
            connection.execute(delete(POOL_CONTENT).where(POOL_CONTENT.c.pool == pool))
            # Frees the name: the name of a pool never contains this sign.
            _change(connection, pool, deleted=now, name=f"#{pool}")


def _change(connection: Connection, pool: int, **values: object) -> None:
    statement = update(POOL).where(POOL.c.number == pool)
    connection.execute(statement.values(version=POOL.c.version + 1, **values))


def list_pools(store: Store) -> PoolList:
    """Every pool and how much of it is labelled, newest first."""
    pools = select(POOL).where(POOL.c.deleted.is_(None)).order_by(POOL.c.number.desc())
    with store.reading() as connection:
        listed = tuple(_info(connection, row) for row in connection.execute(pools).all())
    return PoolList(store.place.shown, listed)


def _info(connection: Connection, row: Row[Any]) -> PoolInfo:
    runs = (
        select(POOL_CONTENT.c.name)
        .where(POOL_CONTENT.c.pool == row.number, POOL_CONTENT.c.kind == "run")
        .order_by(POOL_CONTENT.c.position)
    )
    entries = _read(connection, row.number, 0)
    state = LabelState(entries)
    answers = [
        answer for item in state.touched() for answer in state.given(item).values()
    ]
    labels = [answer for answer in answers if answer.kind == "label"]
    people = [label for label in labels if not is_machine(label.judge)]
    return PoolInfo(
        labels=len(people),
        judged=len({label.item for label in people}),
        by_machines=len(labels) - len(people),
        entries=len(entries),
        **{name: getattr(row, name) for name in _LISTED},
        runs=tuple(scalar or "" for scalar in connection.execute(runs).scalars()),
        settings=msgspec.json.decode(row.settings, type=PoolSettings),
        made_of=msgspec.json.decode(row.made_of, type=dict[str, str]),
    )


def pool_number(store: Store, name: str) -> int:
    """The number of the named pool; the error lists the pools that exist."""
    pools = select(POOL.c.name, POOL.c.number).where(POOL.c.deleted.is_(None))
    with store.reading() as connection:
        rows = connection.execute(pools.order_by(POOL.c.name))
        known: dict[str, int] = {row.name: row.number for row in rows}
    if name not in known:
        there = f"there are {', '.join([*known][:8])}" if known else "there is none yet"
        raise InvalidInput(
            f"There is no pool called {name!r:.60} in {store.place.shown}; {there}."
            f"{did_you_mean(name, known)} To make one, name the runs: `calipers serve --judge "
            "bm25.jsonl dense.jsonl -g gt.jsonl`."
        )
    return known[name]


def load_pool(store: Store, number: int) -> PoolContent:
    """Load the content of a pool."""
    with store.reading() as connection:
        row = _row(connection, number)
        tables = _tables(connection, row, store)
    items = pl.concat([table for kind, _, table in tables if kind == "items"])
    truth = None
    single = {kind: table for kind, _, table in tables}
    if "targets" in single:
        questions = single["queries"]
        truth = GroundTruth.from_targets(
            single["targets"],
            queries=questions.select("query", "text"),
            tags=query_tags(questions),
        )
    return PoolContent(
        number,
        row.name,
        msgspec.json.decode(row.settings, type=PoolSettings),
        tuple(
            PoolItem(at, Label(**row))
            for at, row in enumerate(items.iter_rows(named=True))
        ),
        {
            called or "": Run.from_frame(table, order="rank", name=called)
            for kind, called, table in tables
            if kind == "run"
        },
        truth,
        row.version,
    )


def check_judge(name: str, *, person: bool = False) -> str:
    """Return a judge's name without outer spaces, or raise if it is invalid.

    >>> check_judge(" anna "), check_judge("machine:small-model")
    ('anna', 'machine:small-model')
    """
    plain = name.strip() if isinstance(name, str) else ""
    if not plain or not plain.isprintable() or len(plain) > 100 or "," in plain:
        raise InvalidInput(
            f"The judge {str(name)[:40]!r} has an odd name; a judge is called by 1 to "
            "100 printable characters without commas, such as anna."
        )
    if person and is_machine(plain):
        raise InvalidInput(
            f"{plain!r:.60} is how the labels of a language model are named; name a "
            "person, or bring the labels of a model in with `calipers labels import`."
        )
    return plain


# The log


def append(
    store: Store, pool: int, grades: Collection[float], after: int, new: NewEntry
) -> tuple[LogEntry, list[LogEntry]]:
    """Add one entry to the log, and return it with every entry ``after`` that number.

    It is on disk when this returns. ``grades`` are the allowed ones.
    """
    check_entry(new, grades)
    with store.writing() as connection:
        entry = append_on(connection, pool, new)
        return entry, _read(connection, pool, after)


def append_on(connection: Connection, pool: int, new: NewEntry) -> LogEntry:
    """Add one entry, as part of the caller's transaction.

    If there is one of its ``request`` already, nothing is added. An undo that names no
    entry takes back the judge's last that is neither undone nor final, whatever its item.
    """
    request = new.request or secrets.token_hex(16)
    lock_pool(connection, pool)
    known = select(LABEL).where(
        LABEL.c.pool == pool, LABEL.c.judge == new.judge, LABEL.c.request == request
    )
    if (sent := connection.execute(known).first()) is not None:
        return _entry(sent)
    if new.kind == "undo" and new.undoes is None:
        last = LabelState(_read(connection, pool, 0)).latest(new.judge)
        if last is None:
            raise InvalidInput(
                f"There is nothing to undo: {new.judge} has no label left."
            )
        new = replace(new, item=last.item, undoes=last.number)
    row = {
        "pool": pool,
        "item": new.item,
        "judge": new.judge,
        "kind": new.kind,
        "grade": new.grade,
        "quote": new.quote,
        "quote_start": new.quote_start,
        "note": (new.note or "").replace("\x00", "\ufffd") or None,
        "undoes": new.undoes,
        "request": request,
        "saved": moment(new.now or datetime.now(UTC)),
    }
    return _entry(connection.execute(insert(LABEL).values(row).returning(*LABEL.c)).one())


class PoolNews(NamedTuple):
    """The state of a pool and its new log entries, from one read."""

    version: int
    closed: str | None
    entries: list[LogEntry]


def read_on(store: Store, pool: int, after: int) -> PoolNews:
    """Read the entries of a pool after a given one, and its state, in one snapshot."""
    with store.reading() as connection:
        row = _row(connection, pool)
        return PoolNews(row.version, row.closed, _read(connection, pool, after))


def lock_pool(connection: Connection, pool: int, *, closed: bool = False) -> Row[Any]:
    """Lock a pool for one writer, so that log entries become visible in order.

    A closed pool is refused unless ``closed`` is true.
    """
    row = _row(connection, pool, lock=True)
    if row.closed is not None and not closed:
        raise PoolClosedError(
            f"The pool {row.name} is closed since {row.closed[:16].replace('T', ' ')} "
            "UTC; its owner can open it again."
        )
    return row


def _row(connection: Connection, pool: int, *, lock: bool = False) -> Row[Any]:
    statement = select(POOL).where(POOL.c.number == pool, POOL.c.deleted.is_(None))
    # SQLite, which has one writer at a time, leaves the lock out.
    row = connection.execute(statement.with_for_update() if lock else statement).first()
    if row is None:
        raise InvalidInput(f"There is no pool number {pool}.")
    return row


def _read(connection: Connection, pool: int, after: int) -> list[LogEntry]:
    later = select(LABEL).where(LABEL.c.pool == pool, LABEL.c.number > after)
    return [_entry(row) for row in connection.execute(later.order_by(LABEL.c.number))]


def _entry(row: Any) -> LogEntry:
    return LogEntry(
        **{name: value for name, value in row._mapping.items() if name != "pool"}
    )


def check_entry(new: NewEntry, grades: Collection[float]) -> None:
    """Refuse an entry that the log does not take."""
    kind = new.kind
    grade = new.grade
    if kind not in KINDS:
        raise InvalidInput(
            f"An entry is of the kind {kind!r:.40}; it can be {', '.join(KINDS)}."
        )
    if kind in ("label", "final"):
        if grade not in grades:
            allowed = ", ".join(f"{grade:g}" for grade in grades)
            raise InvalidInput(f"The grade is {grade!r}; it can be {allowed}.")
    elif grade is not None:
        raise InvalidInput(
            f"An entry of the kind {kind} has a grade; only labels have one."
        )
    if kind == "note" and new.note is None:
        raise InvalidInput("A note is empty; write something, or undo the note before.")
    for what, text in (("quote", new.quote), ("note", new.note)):
        if text is not None and (
            len(text) > LONGEST_TEXT or "\x00" in text or not text.strip()
        ):
            raise InvalidInput(
                f"The {what} cannot be kept: it is empty, holds a character that no "
                f"database keeps, or has more than {LONGEST_TEXT:,} characters; mark "
                "less of the text."
            )
