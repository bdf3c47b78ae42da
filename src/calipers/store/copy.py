"""Everything from one history into another, without loss."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select

from calipers.errors import InvalidInput, WriteFailed
from calipers.store.blob import check
from calipers.store.label_log import label_state
from calipers.store.open import Store, open_place, spoken
from calipers.store.place import Where, locate
from calipers.store.record import EvaluationRecord, write_on
from calipers.store.result import Copied
from calipers.store.schema import (
    CONTENT,
    EVALUATION,
    LABEL,
    PART,
    POOL,
    POOL_CONTENT,
    POOL_JUDGE,
    SUMMARY,
    TAG,
)


def copy_to(source: Store, given: Where) -> Copied:
    """Copy into the history that is named; one that is new is there whole or not at all."""
    place = locate(given, create=True)
    if place.path is None or place.path.exists():
        return copy(source, open_place(place, create=True))
    part = place.path.with_name(f".{place.path.name}.{os.getpid()}.part")
    try:
        copied = copy(source, open_place(replace(place, path=part), create=True))
        try:
            os.link(part, place.path)
        except FileExistsError:  # somebody made it meanwhile
            return copy(source, open_place(place))
        except OSError:  # a file system without links
            part.rename(place.path)
    finally:
        part.unlink(missing_ok=True)
    return copied


def copy(source: Store, target: Store) -> Copied:
    """Bring the evaluations that the target lacks, in one transaction, and compare afterwards."""
    if source.place.is_same(target.place):
        # It would wait for itself to finish reading before it writes.
        raise InvalidInput(
            f"A history cannot be copied into itself: {source.place.shown} is given twice; name "
            "another one."
        )
    with source.reading() as reading:
        ids = list(
            reading.execute(
                select(EVALUATION.c.id).order_by(EVALUATION.c.saved, EVALUATION.c.number)
            ).scalars()
        )
        with target.writing() as writing:
            there = set(writing.execute(select(EVALUATION.c.id)).scalars())
            missing = [one for one in ids if one not in there]
            digests = {}
            for one in missing:
                with spoken(source.place, writing=False):
                    record = _record(reading, one)
                for digest, content in record.contents.values():
                    check(content, digest, f"The evaluation {one} in {source.place.shown}")
                digests[one] = _digest(record)
                write_on(writing, record)
            left = copy_pools(reading, writing)
            for one in missing:
                if _digest(_record(writing, one)) != digests[one]:
                    raise WriteFailed(
                        f"The evaluation {one} did not arrive in {target.place.shown} as it is in "
                        f"{source.place.shown}; nothing was copied. The source may be damaged: "
                        "look with `calipers history check`."
                    )
    return Copied(
        source.place.shown,
        target.place.shown,
        len(missing),
        len(ids) - len(missing),
        hashlib.sha256("".join(sorted(digests.values())).encode()).hexdigest()[:32],
        left,
    )


def _record(connection: Connection, one: str) -> EvaluationRecord:
    row = dict(
        connection.execute(select(EVALUATION).where(EVALUATION.c.id == one)).mappings().one()
    )
    number = row.pop("number")
    row.pop("id")
    row.pop("checksum")
    tags = connection.execute(
        select(TAG.c.name, TAG.c.value).where(TAG.c.evaluation == number).order_by(TAG.c.name)
    )
    summaries = connection.execute(
        select(SUMMARY).where(SUMMARY.c.evaluation == number).order_by(SUMMARY.c.position)
    ).mappings()
    parts = connection.execute(
        select(PART.c.kind, CONTENT.c.digest, CONTENT.c.bytes)
        .join(CONTENT, CONTENT.c.digest == PART.c.digest)
        .where(PART.c.evaluation == number)
    )
    return EvaluationRecord(
        one,
        row,
        {found.name: found.value for found in tags},
        [_without(found, ("evaluation", "position", "checksum")) for found in summaries],
        {found.kind: (found.digest, bytes(found.bytes)) for found in parts},
    )


def _without(row: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _digest(record: EvaluationRecord) -> str:
    """A fingerprint of everything in a record; floats by all their digits."""
    contents = {
        kind: hashlib.sha256(content).hexdigest() for kind, (_, content) in record.contents.items()
    }
    whole = [record.id, record.row, record.tags, record.summaries, contents]
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()


def copy_pools(reading: Connection, writing: Connection) -> tuple[str, ...]:
    """Bring the pools whose names the target lacks; returns those that it has without all labels.

    Numbers are given anew, so an undo is told the new number of what it takes back.
    """
    there = {row.name: row.number for row in writing.execute(select(POOL.c.name, POOL.c.number))}
    left = []
    pools = select(POOL).where(POOL.c.deleted.is_(None)).order_by(POOL.c.number)
    for row in reading.execute(pools).mappings().all():
        if row["name"] in there:
            theirs = label_state(writing, there[row["name"]])
            for given in label_state(reading, row["number"]).labels():
                known = theirs.current(given.item, given.judge)
                if known is None or known.saved < given.saved:
                    left.append(row["name"])
                    break
            continue
        plain = {name: value for name, value in row.items() if name != "number"}
        statement = insert(POOL).values(plain).returning(POOL.c.number)
        number = int(writing.execute(statement).scalar_one())
        for table in (POOL_JUDGE, POOL_CONTENT):
            mine = select(table).where(table.c.pool == row["number"]).order_by(table.c.position)
            for one in reading.execute(mine).mappings():
                writing.execute(insert(table).values({**one, "pool": number}))
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
