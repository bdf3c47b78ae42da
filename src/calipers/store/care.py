"""Care of a history: whether it is whole, copying it, making it smaller."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, text

from calipers.errors import CalipersError, InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.model.result import from_moment
from calipers.store.blob import check_content, digest_of
from calipers.store.label_pools import label_state
from calipers.store.listing import evaluations, resolve
from calipers.store.load import read_parts
from calipers.store.open import Store, spoken
from calipers.store.record import EvaluationRecord, sound, write_on
from calipers.store.result import Checked, Copied, Pruned
from calipers.store.schema import (
    CONTENT,
    EVALUATION,
    HEAD,
    LABEL,
    PART,
    POOL,
    POOL_CONTENT,
    SUMMARY,
)


@sound
def check(store: Store) -> Checked:
    """The counts and the size, and whether everything is as it was written; all of it is read."""
    with store.reading() as connection:
        n, names, oldest, newest = connection.execute(
            select(
                func.count(),
                func.count(EVALUATION.c.name.distinct()),
                func.min(EVALUATION.c.saved),
                func.max(EVALUATION.c.saved),
            ).select_from(EVALUATION)
        ).one()
        size = _size_on(connection)
    return Checked(
        place=store.place.shown,
        kind=store.place.kind,
        version=HEAD,
        evaluations=n,
        names=names,
        oldest=None if oldest is None else from_moment(oldest),
        newest=None if newest is None else from_moment(newest),
        bytes=size,
        problems=tuple(problems(store)),
    )


@sound
def _size(store: Store) -> int:
    """How large the file is, or the tables on the server."""
    with store.reading() as connection:
        return _size_on(connection)


def _size_on(connection: Connection) -> int:
    if connection.dialect.name == "sqlite":
        pages, size = (
            connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("page_count", "page_size")
        )
        return int(pages * size)
    tables = "', '".join(table.name for table in EVALUATION.metadata.sorted_tables)
    statement = f"SELECT sum(pg_total_relation_size(t::regclass)) FROM unnest(ARRAY['{tables}']) t"  # noqa: S608 - our own table names
    return int(connection.execute(text(statement)).scalar_one())


def problems(store: Store) -> Iterator[str]:
    """One sentence for everything that is not as it was written; none: the history is whole.

    What cannot be read hides nothing else: every evaluation is looked at by itself.
    """
    for look in (_database_problems, _damaged_contents, _damaged_pools):
        yield from _found(store, look)
    newest = (EVALUATION.c.saved.desc(), EVALUATION.c.number.desc())
    statement = select(EVALUATION.c.number).order_by(*newest)
    try:
        numbers = _looked(store, lambda connection: connection.execute(statement).scalars())
    except CalipersError as error:
        yield str(error)
        return
    for number in numbers:
        yield from _found(store, partial(_evaluation_problems, store, number))


def _found(store: Store, look: Callable[[Connection], Iterable[str]]) -> list[str]:
    """What a look into the history finds, or why it cannot be taken."""
    try:
        return _looked(store, look)
    except CalipersError as error:
        return [str(error)]


@sound
def _looked(store: Store, look: Callable[[Connection], Iterable[Any]]) -> list[Any]:
    with store.reading() as connection:
        return list(look(connection))


def _evaluation_problems(store: Store, number: int, connection: Connection) -> Iterable[str]:
    """None: what of an evaluation is not as it was saved is refused when it is read."""
    for one in evaluations(store, slices=None, where=[EVALUATION.c.number == number]):
        read_parts(store, connection, one, ())
    return ()


def _database_problems(connection: Connection) -> Iterator[str]:
    if connection.dialect.name != "sqlite":
        return
    for row in connection.execute(text("PRAGMA integrity_check")).scalars():
        if row != "ok":
            yield f"The file is damaged: {row}."
    for row in connection.execute(text("PRAGMA foreign_key_check")).all():
        yield f"A row of {row[0]} belongs to nothing in {row[2]}."


def _damaged_contents(connection: Connection) -> Iterator[str]:
    """A sentence for each content of evaluations that is not as it was written."""
    for digest in connection.execute(select(CONTENT.c.digest)).scalars().all():
        # One at a time: all of them together may not fit into memory.
        one = select(CONTENT.c.bytes).where(CONTENT.c.digest == digest)
        if digest_of(bytes(connection.execute(one).scalar_one())) != digest:
            owners = connection.execute(
                select(EVALUATION.c.id, EVALUATION.c.name, PART.c.kind)
                .join(PART, PART.c.evaluation == EVALUATION.c.number)
                .where(PART.c.digest == digest)
            ).all()
            shown = ", ".join(f"{one.name} ({one.id[:8]})" for one in owners[:3]) or "nothing"
            kind = owners[0].kind if owners else "content"
            more = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
            yield f"The {kind} of {shown}{more} are damaged."


def _damaged_pools(connection: Connection) -> Iterator[str]:
    """A sentence for each content of pools that is not as it was written."""
    table = POOL_CONTENT
    places = select(POOL.c.name, table.c.pool, table.c.position, table.c.kind, table.c.digest)
    for row in connection.execute(places.join(POOL, POOL.c.number == table.c.pool)).all():
        one = select(table.c.bytes).where(
            table.c.pool == row.pool, table.c.position == row.position
        )
        if digest_of(bytes(connection.execute(one).scalar_one())) != row.digest:
            yield f"The {row.kind} of the pool {row.name} are damaged."


def check_pruning(keep: int | None, before: datetime | None) -> None:
    """Refuse a pruning that names nothing, or everything."""
    if keep is None and before is None:
        raise InvalidInput(
            "Nothing says what may go; give --keep N, --older-than AGE (such as 90d), or both."
        )
    if keep is not None and keep < 1:
        raise InvalidInput(f"The number to keep is {keep}; the latest of a name always stays.")


def prune(
    store: Store,
    *,
    keep: int | None = None,
    before: datetime | None = None,
    name: str | None = None,
    tagged: bool = False,
    among: Collection[str] | None = None,
    dry_run: bool = False,
) -> Pruned:
    """Remove evaluations older than ``before``, and not among the latest ``keep`` of their name.

    The latest of a name always stays, and so does what is tagged unless ``tagged`` is true; with
    ``among`` nothing but those ids goes.
    """
    if name is not None:
        resolve(store, f"@name:{name}")
    seen: Counter[str] = Counter()
    chosen = []
    for one in evaluations(store, name=name, metrics=()):
        seen[one.name] += 1
        stays = seen[one.name] <= max(keep or 1, 1) or (before is not None and one.saved >= before)
        if not (stays or (one.tags and not tagged) or (among is not None and one.id not in among)):
            chosen.append(one)
    removes = bool(chosen) and not dry_run
    before_it = _size(store)
    if removes:
        remove(store, chosen)
        # Where somebody else reads just now, the room is given back another time.
        with suppress(CalipersError):
            give_room_back(store)
    return Pruned(
        store.place.shown,
        tuple(chosen),
        removed=removes,
        bytes_before=before_it,
        bytes=_size(store),
    )


def remove(store: Store, chosen: Sequence[Evaluation]) -> None:
    """Remove evaluations, and the contents that no other needs, in one transaction."""
    with store.writing() as connection:
        if connection.dialect.name == "postgresql":
            # Whoever saves begins with the evaluation, so this waits for all that have begun:
            # none of them may lose a content that it found in place.
            connection.execute(text("LOCK TABLE calipers_evaluation IN EXCLUSIVE MODE"))
        numbers = [evaluation.number for evaluation in chosen]
        for i in range(0, len(numbers), 500):
            some = numbers[i : i + 500]
            # Its tags, summaries and parts go with it.
            connection.execute(delete(EVALUATION).where(EVALUATION.c.number.in_(some)))
        connection.execute(delete(CONTENT).where(CONTENT.c.digest.not_in(select(PART.c.digest))))


def give_room_back(store: Store) -> None:
    """Give unused space back to the disk; a server keeps it for what is saved next."""
    if store.place.kind == "sqlite":
        store.outside("VACUUM")
    else:
        names = ", ".join(table.name for table in EVALUATION.metadata.sorted_tables)
        store.outside(f"VACUUM (ANALYZE) {names}")


def copy(source: Store, target: Store) -> Copied:
    """Bring the evaluations and pools that the target lacks, in one transaction.

    Nothing is copied where anything of it is not as it was saved.
    """
    if source.place.is_same(target.place):
        # It would wait for itself to finish reading before it writes.
        raise InvalidInput(
            f"A history cannot be copied into itself: {source.place.shown} is given twice; name "
            "another one."
        )
    with source.reading() as reading:
        found = evaluations(source, slices=None)
        with target.writing() as writing:
            there = set(writing.execute(select(EVALUATION.c.id)).scalars())
            missing = [one for one in reversed(found) if one.id not in there]
            for one in missing:
                with spoken(source.place, writing=False):
                    record = _record(source, reading, one)
                write_on(writing, record)
            left = _copy_pools(reading, writing)
    present = len(found) - len(missing)
    return Copied(source.place.shown, target.place.shown, len(missing), present, left)


def _record(store: Store, connection: Connection, one: Evaluation) -> EvaluationRecord:
    """Everything of an evaluation whose rows were found as they were saved."""
    row = _rows(connection, EVALUATION, EVALUATION.c.number == one.number, ("number", "id"))[0]
    mine = SUMMARY.c.evaluation == one.number
    kinds = select(PART.c.kind).where(PART.c.evaluation == one.number)
    _, contents = read_parts(store, connection, one, connection.execute(kinds).scalars().all())
    for digest, content in contents.values():
        check_content(content, digest, f"The evaluation {one.id} in {store.place.shown}")
    return EvaluationRecord(
        one.id,
        row,
        one.tags,
        _rows(connection, SUMMARY, mine, ("evaluation", "position")),
        contents,
    )


def _rows(
    connection: Connection, table: Table, mine: Any, but: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows as plain values, in order, without their checksums and what else is given anew."""
    statement = select(table).where(mine).order_by(*table.primary_key)
    names = {column.name for column in table.c} - {*but, "checksum"}
    rows = connection.execute(statement).mappings()
    return [{name: value for name, value in row.items() if name in names} for row in rows]


def _copy_pools(reading: Connection, writing: Connection) -> tuple[str, ...]:
    """Bring the pools whose names the target lacks; returns those that it has without all labels.

    Numbers are given anew, so an undo is told the new number of what it takes back.
    """
    there = {row.name: row.number for row in writing.execute(select(POOL.c.name, POOL.c.number))}
    left = []
    pools = select(POOL).where(POOL.c.deleted.is_(None)).order_by(POOL.c.number)
    for row in reading.execute(pools).mappings().all():
        if row["name"] in there:
            known_here = label_state(writing, there[row["name"]])
            for given, _ in label_state(reading, row["number"]).held():
                known = known_here.current(given.item, given.judge)
                if given.kind == "label" and (known is None or known.saved < given.saved):
                    left.append(row["name"])
                    break
            continue
        plain = {name: value for name, value in row.items() if name != "number"}
        statement = insert(POOL).values(plain).returning(POOL.c.number)
        number = int(writing.execute(statement).scalar_one())
        theirs = POOL_CONTENT.c.pool == row["number"]
        for one in reading.execute(select(POOL_CONTENT).where(theirs)).mappings():
            writing.execute(insert(POOL_CONTENT).values({**one, "pool": number}))
        _copy_labels(reading, writing, row["number"], number)
    return tuple(left)


def _copy_labels(reading: Connection, writing: Connection, old: int, new: int) -> None:
    numbers: dict[int, int] = {}
    log = select(LABEL).where(LABEL.c.pool == old).order_by(LABEL.c.number)
    for one in reading.execute(log).mappings():
        row = {name: value for name, value in one.items() if name != "number"}
        row |= {"pool": new, "undoes": numbers.get(one["undoes"])}
        statement = insert(LABEL).values(row).returning(LABEL.c.number)
        numbers[one["number"]] = int(writing.execute(statement).scalar_one())
