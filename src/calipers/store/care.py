"""Care of a history: what is in it, whether it is whole, making it smaller."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
from sqlalchemy import Connection, delete, func, select, text

from calipers.errors import CalipersError, InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.model.result import from_moment
from calipers.statistics.clusters import exact_mean
from calipers.store.blob import digest_of
from calipers.store.checksum import sound
from calipers.store.listing import evaluations
from calipers.store.load import load_retrieved, load_scores
from calipers.store.open import Store
from calipers.store.references import resolve
from calipers.store.result import Checked, Pruned
from calipers.store.schema import CONTENT, EVALUATION, HEAD, PART, POOL, POOL_CONTENT, SUMMARY, TAG


def check(store: Store) -> Checked:
    """The counts and the size, and whether everything is as it was written; all of it is read."""
    return replace(_counted(store), problems=tuple(problems(store)))


@sound
def _counted(store: Store) -> Checked:
    with store.reading() as connection:
        n, names, oldest, newest = connection.execute(
            select(
                func.count(),
                func.count(EVALUATION.c.name.distinct()),
                func.min(EVALUATION.c.saved),
                func.max(EVALUATION.c.saved),
            ).select_from(EVALUATION)
        ).one()
        size = _size(connection)
    return Checked(
        place=store.place.shown,
        kind=store.place.kind,
        version=HEAD,
        evaluations=n,
        names=names,
        oldest=None if oldest is None else from_moment(oldest),
        newest=None if newest is None else from_moment(newest),
        bytes=size,
        problems=(),
    )


@sound
def size_of(store: Store) -> int:
    """How large the file is, or the tables on the server."""
    with store.reading() as connection:
        return _size(connection)


def _size(connection: Connection) -> int:
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
    with store.reading() as connection:
        yield from list(_database_problems(connection))
    damaged: set[int] = set()
    for look in (partial(_damaged_contents, damaged=damaged), damaged_pools):
        yield from _found(store, look)
    numbers: list[int] = []
    yield from _found(store, partial(_list_numbers, into=numbers))
    for number in numbers:
        yield from _problems_of(store, number, skip_contents=number in damaged)


def _found(store: Store, look: Callable[[Connection], Iterable[str]]) -> list[str]:
    try:
        return _looked(store, look)
    except CalipersError as error:
        return [str(error)]


@sound
def _looked(store: Store, look: Callable[[Connection], Iterable[str]]) -> list[str]:
    with store.reading() as connection:
        return list(look(connection))


def _list_numbers(connection: Connection, *, into: list[int]) -> Iterable[str]:
    newest = (EVALUATION.c.saved.desc(), EVALUATION.c.number.desc())
    into += connection.execute(select(EVALUATION.c.number).order_by(*newest)).scalars()
    return ()


def _problems_of(store: Store, number: int, *, skip_contents: bool) -> Iterator[str]:
    """What is wrong with one evaluation; its contents also where its summaries are damaged."""
    for metrics in (None, ()):
        try:
            listed = evaluations(store, metrics=metrics, where=[EVALUATION.c.number == number])
        except CalipersError as error:
            if metrics is None:
                yield str(error)
            continue
        for evaluation in [] if skip_contents else listed:
            try:
                yield from _evaluation_problems(store, evaluation)
            except CalipersError as error:
                yield str(error)
        return


def _database_problems(connection: Connection) -> Iterator[str]:
    if connection.dialect.name != "sqlite":
        return
    for row in connection.execute(text("PRAGMA integrity_check")).scalars():
        if row != "ok":
            yield f"The file is damaged: {row}."
    for row in connection.execute(text("PRAGMA foreign_key_check")).all():
        yield f"A row of {row[0]} belongs to nothing in {row[2]}."


def _damaged_contents(connection: Connection, *, damaged: set[int]) -> Iterator[str]:
    """A sentence for each content; ``damaged`` gets the numbers of the evaluations it is of."""
    for digest in connection.execute(select(CONTENT.c.digest)).scalars().all():
        # One at a time: all of them together may not fit into memory.
        one = select(CONTENT.c.bytes).where(CONTENT.c.digest == digest)
        if digest_of(bytes(connection.execute(one).scalar_one())) != digest:
            owners = connection.execute(
                select(EVALUATION.c.number, EVALUATION.c.id, EVALUATION.c.name, PART.c.kind)
                .join(PART, PART.c.evaluation == EVALUATION.c.number)
                .where(PART.c.digest == digest)
            ).all()
            shown = ", ".join(f"{one.name} ({one.id[:8]})" for one in owners[:3]) or "nothing"
            kind = owners[0].kind if owners else "content"
            more = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
            damaged.update(one.number for one in owners)
            yield f"The {kind} of {shown}{more} are damaged."


@sound
def _evaluation_problems(store: Store, evaluation: Evaluation) -> list[str]:
    scores = load_scores(store, evaluation)
    if "results" in _kinds(store, evaluation):
        load_retrieved(store, evaluation)
    found = []
    whose = f"{evaluation.name} ({evaluation.short})"
    if len(scores) != evaluation.queries:
        found.append(f"{whose} says {evaluation.queries} queries and holds {len(scores)}.")
    for name, summary in evaluation.summaries.items():
        column = scores.of(name)
        defined = column[~np.isnan(column)]
        mean = exact_mean(defined) if defined.size else None
        if mean != summary.mean:
            found.append(f"The mean of {name} in {whose} is not that of its queries.")
    return found


def _kinds(store: Store, evaluation: Evaluation) -> list[str]:
    with store.reading() as connection:
        statement = select(PART.c.kind).where(PART.c.evaluation == evaluation.number)
        return list(connection.execute(statement).scalars())


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
    before_it = size_of(store)
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
        bytes=size_of(store),
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
            for table in (TAG, PART, SUMMARY):
                connection.execute(delete(table).where(table.c.evaluation.in_(some)))
            connection.execute(delete(EVALUATION).where(EVALUATION.c.number.in_(some)))
        connection.execute(delete(CONTENT).where(CONTENT.c.digest.not_in(select(PART.c.digest))))


def give_room_back(store: Store) -> None:
    """Give unused space back to the disk; a server keeps it for what is saved next."""
    if store.place.kind == "sqlite":
        store.outside("VACUUM")
    else:
        names = ", ".join(table.name for table in EVALUATION.metadata.sorted_tables)
        store.outside(f"VACUUM (ANALYZE) {names}")


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
