"""Maintain a history: check it, remove what is old."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, and_, delete, func, select, text

from calipers.errors import CalipersError
from calipers.model.evaluation import Evaluation
from calipers.model.result import from_moment
from calipers.store.blob import digest_of
from calipers.store.listing import evaluations, resolve
from calipers.store.load import read_parts
from calipers.store.open import Store
from calipers.store.record import sound
from calipers.store.result import Checked, Pruned
from calipers.store.schema import (
    CONTENT,
    EVALUATION,
    HEAD,
    PART,
    POOL,
    POOL_CONTENT,
)


@sound
def check(store: Store) -> Checked:
    """Read all of the history; return its counts and any damage."""
    with store.reading() as connection:
        n, names, oldest, newest = connection.execute(
            select(
                func.count(),
                func.count(EVALUATION.c.name.distinct()),
                func.min(EVALUATION.c.saved),
                func.max(EVALUATION.c.saved),
            ).select_from(EVALUATION)
        ).one()
    return Checked(
        place=store.place.shown,
        kind=store.place.kind,
        version=HEAD,
        evaluations=n,
        names=names,
        oldest=None if oldest is None else from_moment(oldest),
        newest=None if newest is None else from_moment(newest),
        problems=tuple(problems(store)),
    )


def problems(store: Store) -> Iterator[str]:
    """One sentence for each damaged part; none if the history is intact."""
    read = partial(_unreadable, store)
    for look in (_database_problems, _damaged_contents, read):
        try:
            yield from _looked(store, look)
        except CalipersError as error:
            yield str(error)


@sound
def _looked(store: Store, look: Callable[[Connection], Iterable[str]]) -> list[str]:
    with store.reading() as connection:
        return list(look(connection))


def _unreadable(store: Store, connection: Connection) -> Iterator[str]:
    """Read each evaluation on its own, so that one unreadable part hides no other."""
    newest = (EVALUATION.c.saved.desc(), EVALUATION.c.number.desc())
    for number in connection.execute(select(EVALUATION.c.number).order_by(*newest)).scalars().all():
        try:
            for one in evaluations(store, where=[EVALUATION.c.number == number]):
                read_parts(store, connection, one, ())
        except CalipersError as error:
            yield str(error)


def _database_problems(connection: Connection) -> Iterator[str]:
    if connection.dialect.name != "sqlite":
        return
    for row in connection.execute(text("PRAGMA integrity_check")).scalars():
        if row != "ok":
            yield f"The file is damaged: {row}."
    for row in connection.execute(text("PRAGMA foreign_key_check")).all():
        yield f"A row of {row[0]} belongs to nothing in {row[2]}."


def _damaged_contents(connection: Connection) -> Iterator[str]:
    """A sentence for each damaged content, of an evaluation or a pool."""
    # The bytes one at a time: together they may not fit into memory.
    for digest in connection.execute(select(CONTENT.c.digest)).scalars().all():
        if _is_damaged(connection, CONTENT, CONTENT.c.digest == digest, digest):
            owners = connection.execute(
                select(EVALUATION.c.id, EVALUATION.c.name, PART.c.kind)
                .join(PART, PART.c.evaluation == EVALUATION.c.number)
                .where(PART.c.digest == digest)
            ).all()
            shown = ", ".join(f"{one.name} ({one.id[:8]})" for one in owners[:3]) or "nothing"
            more = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
            yield f"The {owners[0].kind if owners else 'content'} of {shown}{more} are damaged."
    held = POOL_CONTENT.c
    places = select(POOL.c.name, held.pool, held.position, held.kind, held.digest)
    for row in connection.execute(places.join(POOL, POOL.c.number == held.pool)).all():
        where = and_(held.pool == row.pool, held.position == row.position)
        if _is_damaged(connection, POOL_CONTENT, where, row.digest):
            yield f"The {row.kind} of the pool {row.name} are damaged."


def _is_damaged(connection: Connection, table: Table, where: Any, digest: str) -> bool:
    content = connection.execute(select(table.c.bytes).where(where)).scalar_one()
    return digest_of(bytes(content)) != digest


def prune(store: Store, keep: int, *, name: str | None = None, dry_run: bool = False) -> Pruned:
    """Remove all but the latest ``keep`` evaluations of each name; tagged ones stay.

    What other evaluations share stays. A file does not shrink: later saves take the space.
    """
    if name is not None:
        resolve(store, f"@name:{name}")
    seen: Counter[str] = Counter()
    chosen = []
    for one in evaluations(store, name=name, metrics=()):
        seen[one.name] += 1
        if seen[one.name] > keep and not one.tags:
            chosen.append(one)
    if chosen and not dry_run:
        remove(store, chosen)
    return Pruned(store.place.shown, tuple(chosen), removed=bool(chosen) and not dry_run)


def remove(store: Store, chosen: Sequence[Evaluation]) -> None:
    """Remove evaluations, and contents that no other uses, in one transaction."""
    with store.writing() as connection:
        if connection.dialect.name == "postgresql":
            # A save writes the evaluation first, so this waits for every save in progress:
            # none of them may lose a content that it found already stored.
            connection.execute(text("LOCK TABLE calipers_evaluation IN EXCLUSIVE MODE"))
        for one in chosen:
            # The database removes its tags, summaries and parts too.
            connection.execute(delete(EVALUATION).where(EVALUATION.c.number == one.number))
        connection.execute(delete(CONTENT).where(CONTENT.c.digest.not_in(select(PART.c.digest))))
