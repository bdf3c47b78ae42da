"""Pools and their labels from one store into another, and whether they are whole."""

from collections.abc import Iterator

from sqlalchemy import Connection, insert, select

from calipers.store.blob import digest_of
from calipers.store.label_tables import LABEL, POOL, POOL_CONTENT, POOL_JUDGE


def copy_pools(reading: Connection, writing: Connection) -> int:
    """Bring the pools whose names the target lacks; returns how many.

    Numbers are given anew, so an undo is told the new number of what it takes back.
    """
    there = set(writing.execute(select(POOL.c.name)).scalars())
    missing = [
        row
        for row in reading.execute(select(POOL).order_by(POOL.c.number)).mappings()
        if row["name"] not in there
    ]
    for row in missing:
        plain = {name: value for name, value in row.items() if name != "number"}
        statement = insert(POOL).values(plain).returning(POOL.c.number)
        number = int(writing.execute(statement).scalar_one())
        for table in (POOL_JUDGE, POOL_CONTENT):
            mine = select(table).where(table.c.pool == row["number"]).order_by(table.c.position)
            for one in reading.execute(mine).mappings():
                writing.execute(insert(table).values({**one, "pool": number}))
        _copy_labels(reading, writing, row["number"], number)
    return len(missing)


def _copy_labels(reading: Connection, writing: Connection, old: int, new: int) -> None:
    numbers: dict[int, int] = {}
    log = select(LABEL).where(LABEL.c.pool == old).order_by(LABEL.c.number)
    for one in reading.execute(log).mappings():
        row = {name: value for name, value in one.items() if name != "number"}
        row |= {"pool": new, "undoes": numbers.get(one["undoes"])}
        statement = insert(LABEL).values(row).returning(LABEL.c.number)
        numbers[one["number"]] = int(writing.execute(statement).scalar_one())


def damaged_pools(connection: Connection) -> Iterator[str]:
    """One sentence for each content of a pool that is not as it was written."""
    table = POOL_CONTENT
    places = select(POOL.c.name, table.c.pool, table.c.position, table.c.kind, table.c.digest)
    for row in connection.execute(places.join(POOL, POOL.c.number == table.c.pool)).all():
        # One at a time: all of them together may not fit into memory.
        one = select(table.c.bytes).where(
            table.c.pool == row.pool, table.c.position == row.position
        )
        if digest_of(bytes(connection.execute(one).scalar_one())) != row.digest:
            yield f"The {row.kind} of the pool {row.name} are damaged."
