"""The pools of a store, and how much of each is judged."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from calipers.model.labels import MACHINE
from calipers.store.label_log import judges_of
from calipers.store.label_pools import counted_items, read_settings
from calipers.store.open import Store
from calipers.store.pool import PoolInfo, PoolList
from calipers.store.schema import LABEL, POOL, POOL_CONTENT


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
        settings=read_settings(row.settings),
        number=number,
        closed=row.closed,
        made_of=msgspec.json.decode(row.made_of or "{}", type=dict[str, str]),
    )
