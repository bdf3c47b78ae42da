"""Processes that save at the same time, and processes that are killed while they save.

Started as a program of its own: it loads neither polars nor numpy, so that its forks are light
and have no threads.
"""

import dataclasses
import hashlib
import json
import os
import pickle
import random
import signal
import sys
import time
from pathlib import Path

from sqlalchemy import func, select, text

from calipers.store.open import Store, open_store
from calipers.store.record import EvaluationRecord, new_id, write
from calipers.store.schema import EVALUATION, PART, SUMMARY

BULK = 200_000


def fresh(record: EvaluationRecord, padding: int) -> EvaluationRecord:
    """The same evaluation under another id, with something of its own to carry."""
    one = new_id()
    content = one.encode() + os.urandom(padding)
    bulk = (hashlib.sha256(content).hexdigest(), content)
    return dataclasses.replace(record, id=one, contents={**record.contents, "bulk": bulk})


def many(place: str, record: EvaluationRecord, processes: int, each: int) -> None:
    """So many processes that save so many evaluations each; on a history that is not there yet."""
    children = []
    for _ in range(processes):
        child = os.fork()
        if not child:
            code = 1
            try:
                store = open_store(place, create=True)
                for _ in range(each):
                    write(store, fresh(record, 100))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.stdout.write(json.dumps({"codes": codes, "evaluations": counted(open_store(place))[0]}))


def killed(place: str, record: EvaluationRecord, times: int) -> None:
    """So many processes, each killed at a random moment of its saving; the history after each.

    Every other one is killed after it has said that one is saved, as a busy machine may let none
    come so far: these are killed within a second save, the others within their first.
    """
    store = open_store(place, create=True)
    moments = random.Random(7)
    halves, broken, grown = 0, 0, 0
    one_save = min(timed_save(store, record) for _ in range(3))
    before = 3
    for number in range(times):
        said, says = os.pipe()
        child = os.fork()
        if not child:
            while True:
                write(store, fresh(record, BULK))
                os.write(says, b".")
        if number % 2:
            os.read(said, 1)
        os.close(said)
        os.close(says)
        time.sleep(moments.uniform(0, 4 * one_save))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        evaluations, whole = counted(store)
        halves += evaluations - whole
        broken += not sound(store)
        grown += evaluations > before
        before = evaluations
    sys.stdout.write(
        json.dumps({"halves": halves, "broken": broken, "grown": grown, "evaluations": before})
    )


def timed_save(store: Store, record: EvaluationRecord) -> float:
    started = time.monotonic()
    write(store, fresh(record, BULK))
    return time.monotonic() - started


def counted(store: Store) -> tuple[int, int]:
    """How many evaluations there are, and how many of them have all that belongs to them."""
    with store.reading() as connection:
        parts = select(PART.c.evaluation, func.count().label("n")).group_by(PART.c.evaluation)
        rows = select(SUMMARY.c.evaluation, func.count().label("n")).group_by(SUMMARY.c.evaluation)
        p, r = parts.subquery(), rows.subquery()
        found = connection.execute(
            select(p.c.n, r.c.n)
            .select_from(EVALUATION)
            .outerjoin(p, p.c.evaluation == EVALUATION.c.number)
            .outerjoin(r, r.c.evaluation == EVALUATION.c.number)
        ).all()
    return len(found), sum(row == found[0] and None not in row for row in found)


def sound(store: Store) -> bool:
    with store.reading() as connection:
        if connection.dialect.name != "sqlite":
            return True
        return bool(connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok")


if __name__ == "__main__":
    what, where, file, *numbers = sys.argv[1:]
    kept = pickle.loads(Path(file).read_bytes())
    if what == "many":
        many(where, kept, *map(int, numbers))
    else:
        killed(where, kept, *map(int, numbers))
    heavy = [name for name in ("polars", "numpy") if name in sys.modules]
    sys.exit(f"{heavy} should not be loaded here" if heavy else 0)
