"""Pools of what is to be judged: making them, listing them, reading what they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import polars as pl
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import MACHINE, Label
from calipers.model.result import moment
from calipers.model.run import Run
from calipers.store.blob import digest_of, pack, unpack
from calipers.store.label_log import judges_of, lock_pool, new_request
from calipers.store.load import query_tags
from calipers.store.open import Store
from calipers.store.pool import PoolChange, PoolInfo, PoolItem, PoolList, PoolSettings
from calipers.store.record import TAG_COLUMN, check_name
from calipers.store.schema import LABEL, POOL, POOL_CONTENT, POOL_JUDGE, POOL_LEASE
from calipers.words import did_you_mean

ITEM_SCHEMA: dict[str, pl.DataType] = {
    "share": pl.Int64(),
    "query_id": pl.String(),
    "query": pl.String(),
    "item": pl.String(),
    "text": pl.String(),
    "document": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
    "title": pl.String(),
}


@dataclass(frozen=True, eq=False)
class PoolContent:
    """Everything that a pool holds beside the log."""

    number: int
    name: str
    created: str
    settings: PoolSettings
    judges: tuple[str, ...]
    items: tuple[PoolItem, ...]
    runs: Mapping[str, Run]
    ground_truth: GroundTruth | None
    version: int = 0


def make_pool(
    store: Store,
    name: str,
    labels: Sequence[tuple[int | None, Label]],
    *,
    runs: Mapping[str, Run],
    ground_truth: GroundTruth | None,
    judges: Sequence[str],
    settings: PoolSettings,
    made_of: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> int:
    """Keep a new pool, whole or not at all; returns its number."""
    check_name(name)
    checked = [check_judge(one) for one in judges]
    contents: list[tuple[str, str | None, bytes]] = [("items", None, pack(_item_table(labels)))]
    contents += [("run", one, pack(run.frame)) for one, run in runs.items()]
    if ground_truth is not None:
        contents.append(("targets", None, pack(ground_truth.targets)))
        tags = [tag.alias(TAG_COLUMN + one) for one, tag in ground_truth.tags.items()]
        contents.append(("queries", None, pack(ground_truth.queries.with_columns(tags))))
    with store.writing() as connection:
        if _number(connection, name) is not None:
            raise InvalidInput(
                f"There is a pool called {name!r} already in {store.place.shown}; serve it with "
                f"`calipers serve --pool {name}`, or give the new one another name."
            )
        written = moment(now or datetime.now(UTC))
        statement = insert(POOL).values(
            name=name,
            created=written,
            settings=msgspec.json.encode(asdict(settings)).decode(),
            made_of=msgspec.json.encode(dict(made_of or {})).decode(),
            items=len(labels),
            queries=len({one.query_id for _, one in labels}),
        )
        number = int(connection.execute(statement.returning(POOL.c.number)).scalar_one())
        _add_judges(connection, number, checked)
        for kind, called, content in contents:
            _add_content(connection, number, kind, called, content)
    return number


def add_items(store: Store, pool: int, labels: Sequence[tuple[int | None, Label]]) -> None:
    """Put more into a pool; what stands there keeps its place."""
    with store.writing() as connection:
        lock_pool(connection, pool)
        _add_content(connection, pool, "items", None, pack(_item_table(labels)))
        items, queries = counted_items(connection, pool, store.place.shown)
        _change(connection, pool, items=items, queries=queries)


def add_judges(store: Store, pool: int, names: Iterable[str]) -> None:
    """Let more people judge; those who may already stay."""
    with store.writing() as connection:
        lock_pool(connection, pool)
        known = judges_of(connection, pool)
        new = [check_judge(one) for one in names if one not in known]
        if new:
            _add_judges(connection, pool, new)
            _change(connection, pool)


def change_pool(
    store: Store, pool: int, change: PoolChange, by: str, note: str | None = None
) -> None:
    """Close a pool, open it again or delete what it holds; the log says who did it and why."""
    with store.writing() as connection:
        lock_pool(connection, pool, closed=True)
        now = moment(datetime.now(UTC))
        said = {"pool": pool, "item": 0, "judge": check_judge(by), "kind": change, "note": note}
        connection.execute(insert(LABEL).values(**said, request=new_request(), saved=now))
        if change != "delete":
            _change(connection, pool, closed=now if change == "close" else None)
        else:
            for table in (POOL_CONTENT, POOL_LEASE):
                connection.execute(delete(table).where(table.c.pool == pool))
            # The name is free again; a name of a pool never holds this sign.
            _change(connection, pool, deleted=now, name=f"#{pool}")


def _change(connection: Connection, pool: int, **values: Any) -> None:
    statement = update(POOL).where(POOL.c.number == pool)
    connection.execute(statement.values(version=POOL.c.version + 1, **values))


def lend(store: Store, pool: int, judge: str, shares: Iterable[int], until: datetime) -> set[int]:
    """Let a judge work on some questions; what they had before goes back.

    Returns those that they have now: another judge may have been quicker.
    """
    now = moment(datetime.now(UTC))
    with store.writing() as connection:
        lock_pool(connection, pool)
        mine = POOL_LEASE.c.pool == pool
        over = (POOL_LEASE.c.judge == judge) | (POOL_LEASE.c.until <= now)
        connection.execute(delete(POOL_LEASE).where(mine, over))
        gone = set(connection.execute(select(POOL_LEASE.c.share).where(mine)).scalars())
        got = set(shares) - gone
        rows = [{"pool": pool, "share": one, "judge": judge, "until": moment(until)} for one in got]
        if rows:
            connection.execute(insert(POOL_LEASE), rows)
    return got


def list_pools(store: Store) -> PoolList:
    """Every pool with how much of it is judged, newest first."""
    with store.reading() as connection:
        rows = connection.execute(
            select(POOL).where(POOL.c.deleted.is_(None)).order_by(POOL.c.number.desc())
        ).all()
        found = tuple(_info(connection, row, store) for row in rows)
    return PoolList(store.place.shown, found)


def _info(connection: Connection, row: Row[Any], store: Store) -> PoolInfo:
    number: int = row.number
    items, queries = row.items, row.queries
    if items is None:
        items, queries = counted_items(connection, number, store.place.shown)
    runs = connection.execute(
        select(POOL_CONTENT.c.name)
        .where(POOL_CONTENT.c.pool == number, POOL_CONTENT.c.kind == "run")
        .order_by(POOL_CONTENT.c.position)
    ).scalars()
    mine = LABEL.c.pool == number
    undone = select(LABEL.c.undoes).where(mine, LABEL.c.undoes.is_not(None))
    # Of what a judge said of an item the latest holds; as LabelState has it.
    latest = (
        select(func.max(LABEL.c.number))
        .where(mine, LABEL.c.kind.in_(("label", "skip")), LABEL.c.number.not_in(undone))
        .group_by(LABEL.c.item, LABEL.c.judge)
    )
    machine = LABEL.c.judge.startswith(MACHINE, autoescape=True)
    labels, judged, by_machines = connection.execute(
        select(
            func.count().filter(~machine),
            func.count(LABEL.c.item.distinct()).filter(~machine),
            func.count().filter(machine),
        ).where(LABEL.c.number.in_(latest), LABEL.c.kind == "label")
    ).one()
    entries = connection.execute(select(func.count()).select_from(LABEL).where(mine)).scalar_one()
    return PoolInfo(
        name=row.name,
        created=row.created,
        items=items,
        queries=queries,
        runs=tuple(one or "" for one in runs),
        judges=tuple(judges_of(connection, number)),
        labels=labels,
        judged=judged,
        by_machines=by_machines,
        entries=int(entries),
        settings=msgspec.json.decode(row.settings, type=PoolSettings),
        number=number,
        closed=row.closed,
        made_of=msgspec.json.decode(row.made_of or "{}", type=dict[str, str]),
    )


def pool_number(store: Store, name: str) -> int:
    """The number of the pool of a name, or a sentence about those that there are."""
    with store.reading() as connection:
        number = _number(connection, name)
        if number is None:
            names = select(POOL.c.name).where(POOL.c.deleted.is_(None)).order_by(POOL.c.name)
            known = list(connection.execute(names).scalars())
            there = f"there are {', '.join(known[:8])}" if known else "there is none yet"
            raise InvalidInput(
                f"There is no pool called {name!r} in {store.place.shown}; {there}."
                f"{did_you_mean(name, known)}"
            )
    return number


def load_pool(store: Store, number: int) -> PoolContent:
    """A pool with all that it holds."""
    with store.reading() as connection:
        row = connection.execute(select(POOL).where(POOL.c.number == number)).first()
        if row is None or row.deleted is not None:
            raise InvalidInput(f"There is no pool number {number} in {store.place.shown}.")
        judges = judges_of(connection, number)
        parts = connection.execute(
            select(POOL_CONTENT)
            .where(POOL_CONTENT.c.pool == number)
            .order_by(POOL_CONTENT.c.position)
        ).all()
    whose = f"The pool {row.name} in {store.place.shown}"
    tables = [(one.kind, one.name, unpack(bytes(one.bytes), one.digest, whose)) for one in parts]
    # A part that was put in before there were titles has none.
    items = pl.concat([table for kind, _, table in tables if kind == "items"], how="diagonal")
    return PoolContent(
        number,
        row.name,
        row.created,
        msgspec.json.decode(row.settings, type=PoolSettings),
        tuple(judges),
        tuple(_items(items)),
        {
            called or "": Run.from_frame(table, order="rank", name=called)
            for kind, called, table in tables
            if kind == "run"
        },
        _truth({kind: table for kind, _, table in tables}),
        row.version,
    )


def check_judge(name: str) -> str:
    """The name of a judge, or a sentence about what is odd in it.

    >>> check_judge("anna"), check_judge("machine:small-model")
    ('anna', 'machine:small-model')
    """
    plain = name.strip() if isinstance(name, str) else ""
    if not plain or not plain.isprintable() or len(plain) > 100 or "," in plain:
        raise InvalidInput(
            f"The judge {str(name)[:40]!r} has an odd name; a judge is called by 1 to 100 "
            "printable characters without commas, such as anna."
        )
    return plain


def _number(connection: Connection, name: str) -> int | None:
    found: int | None = connection.execute(
        select(POOL.c.number).where(POOL.c.name == name)
    ).scalar()
    return found


def _add_judges(connection: Connection, pool: int, names: Sequence[str]) -> None:
    first = len(judges_of(connection, pool))
    rows = [
        {"pool": pool, "position": first + i, "name": name}
        for i, name in enumerate(dict.fromkeys(names))
    ]
    if rows:
        connection.execute(insert(POOL_JUDGE), rows)


def _add_content(
    connection: Connection, pool: int, kind: str, name: str | None, content: bytes
) -> None:
    last = connection.execute(
        select(func.max(POOL_CONTENT.c.position)).where(POOL_CONTENT.c.pool == pool)
    ).scalar()
    row = {
        "pool": pool,
        "position": 0 if last is None else last + 1,
        "kind": kind,
        "name": name,
        "digest": digest_of(content),
        "bytes": content,
    }
    connection.execute(insert(POOL_CONTENT).values(row))


def _item_table(labels: Sequence[tuple[int | None, Label]]) -> pl.DataFrame:
    rows = [
        {"share": share, **{name: getattr(one, name) for name in ITEM_SCHEMA if name != "share"}}
        for share, one in labels
    ]
    return pl.DataFrame(rows, schema=ITEM_SCHEMA)


def _items(table: pl.DataFrame) -> Iterable[PoolItem]:
    for position, row in enumerate(table.iter_rows(named=True)):
        share = row.pop("share")
        yield PoolItem(position, share, Label(**row))


def _truth(tables: Mapping[str, pl.DataFrame]) -> GroundTruth | None:
    if "targets" not in tables:
        return None
    known = tables["queries"]
    return GroundTruth.from_targets(
        tables["targets"], queries=known.select("query", "text"), tags=query_tags(known)
    )


def counted_items(connection: Connection, pool: int, place: str) -> tuple[int, int]:
    """How many items a pool holds, and about how many questions."""
    parts = connection.execute(
        select(POOL_CONTENT.c.digest, POOL_CONTENT.c.bytes).where(
            POOL_CONTENT.c.pool == pool, POOL_CONTENT.c.kind == "items"
        )
    )
    whose = f"The pool number {pool} in {place}"
    asked = [unpack(bytes(one.bytes), one.digest, whose)["query_id"] for one in parts]
    return sum(map(len, asked)), pl.concat(asked).n_unique()
