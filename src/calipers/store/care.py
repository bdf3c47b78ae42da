"""Check a history: read all of it, and say what is damaged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from sqlalchemy import Connection, Table, and_, select, text

from calipers.errors import CalipersError
from calipers.model.document import Document, Lines
from calipers.model.result import Plain, ShowsItself
from calipers.store.blob import digest_of
from calipers.store.listing import count, evaluations
from calipers.store.load import read_parts
from calipers.store.open import Store
from calipers.store.record import sound
from calipers.store.schema import CONTENT, EVALUATION, PART, POOL, POOL_CONTENT
from calipers.words import plural


@dataclass(frozen=True, repr=False)
class Checked(Plain, ShowsItself):
    """How much a history holds, and the damage that a check found."""

    shown_by: ClassVar[str] = "calipers.store.care"

    place: str
    evaluations: int
    problems: tuple[str, ...]
    """One sentence for each damaged part."""


def document(found: Checked) -> Document:
    """Show the damage, or that there is none."""
    if found.problems:
        said = f"{found.place} is damaged: {plural(len(found.problems), 'problem')}."
        return Document(said, "failed", blocks=[Lines(found.problems)])
    read = plural(found.evaluations, "evaluation")
    return Document(f"{found.place} is whole: {read} read.", "passed")


@sound
def check(store: Store) -> Checked:
    """Read all of the history; return how much it holds and any damage."""
    return Checked(store.place.shown, count(store), tuple(problems(store)))


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
