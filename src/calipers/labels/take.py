"""Every label of a pool as a file, and labels of files taken into a pool."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.records.label_files import read_labels, write_labels
from calipers.labels.desk import Desk, check_free
from calipers.labels.judging import check_quote
from calipers.labels.result import Exported, Imported
from calipers.model.labels import Label, Pair, is_machine
from calipers.model.result import from_moment
from calipers.store.label_pools import add_judges, append_on, new_request
from calipers.store.pool import LabelState

KINDS = ("label", "skip", "note", "settle")
"""What a row can be."""
LAST = datetime.max.replace(tzinfo=UTC)


def every_label(desk: Desk) -> list[Label]:
    """Each label, skip, note and settlement that holds, with its judge, quote, note and time."""
    state = desk.state()
    return [
        replace(
            desk.items[one.item].label.judged(one.judge, one.grade, note),
            quote=one.quote,
            quote_start=one.quote_start,
            kind=one.kind,
            saved=one.saved,
        )
        for one, note in state.held()
    ]


def write_every_label(
    desk: Desk, path: str | os.PathLike[str], *, overwrite: bool = False
) -> Exported:
    """Write them as CSV or JSON lines, whole or not at all."""
    check_free(path, overwrite)
    rows = every_label(desk)
    if not rows:
        raise InvalidInput(f"Nothing is judged yet in the pool {desk.name}; label something.")
    write_labels(rows, Path(path))
    return Exported(
        (str(path),),
        "every label",
        len({one.query_id for one in rows}),
        len({one.pair for one in rows}),
        len(rows),
        0,
        None,
    )


def take_labels(
    desk: Desk, paths: Iterable[str | os.PathLike[str]], judge: str | None = None
) -> Imported:
    """Read labels that were filled in elsewhere, in one transaction.

    ``judge`` is whose those are that do not say it themselves.
    """
    at = {item.label.pair: item.position for item in desk.items}
    rows: list[tuple[int, Label]] = []
    ungraded = 0
    for path in paths:
        for place, label in read_labels(path):
            if label.kind is None and label.grade is None:
                ungraded += 1
                continue
            rows.append(_checked(desk, at, place, label, judge))
    names = list(dict.fromkeys(str(one.judge) for _, one in rows if one.kind != "settle"))
    state = desk.state()
    found = [list(_new(state, position, label)) for position, label in rows]
    add_judges(desk.store, desk.content.number, [one for one in names if not is_machine(one)])
    with desk.store.writing() as connection:
        # In the order in which they were given; what has no time comes last.
        new = sorted((one for each in found for one in each), key=lambda one: one["now"] or LAST)
        for entry in new:
            append_on(connection, desk.content.number, request=new_request(), **entry)
    added = sum(map(bool, found))
    return Imported(desk.name, added, len(rows) - added, ungraded, tuple(names))


def _checked(
    desk: Desk, at: Mapping[Pair, int], place: str, label: Label, judge: str | None
) -> tuple[int, Label]:
    """A row with its position in the pool and its judge, or a sentence about what is odd in it."""
    if label.pair not in at:
        raise InvalidInput(
            f"The row at {place} is about something that is not in the pool {desk.name}: query "
            f"{label.query_id!r:.60}, item {label.item or label.text!r:.60}; import it into the "
            "pool it was drafted from."
        )
    whose = (label.judge or "").strip() or judge
    if whose is None:
        raise InvalidInput(
            f"The row at {place} does not say who judged it, and labels of a machine "
            "must not count as people's; fill in 'judge', or say whose such rows are: "
            "--judge anna, or --judge machine:NAME for a language model."
        )
    kind = label.kind or "label"
    if kind not in KINDS or (kind in ("label", "settle")) is (label.grade is None):
        raise InvalidInput(
            f"The row at {place} is of the kind {kind!r:.40} with the grade {label.grade}; the "
            f"kind is one of {', '.join(KINDS)}, and label and settle alone have a grade."
        )
    grades = desk.content.settings.grades
    if label.grade is not None and label.grade not in grades:
        raise InvalidInput(
            f"The row at {place} has the grade {label.grade:g}; in the pool {desk.name} it can be "
            f"{', '.join(f'{one:g}' for one in grades)}."
        )
    if label.quote is not None:
        check_quote(label.quote, label.quote_start, desk.items[at[label.pair]].label)
    if label.saved is not None:
        try:
            from_moment(label.saved)
        except ValueError:
            raise InvalidInput(
                f"The time at {place} is {label.saved!r:.40}; it is written in UTC as "
                "2026-01-31T06:00:00.000000Z, or left empty."
            ) from None
    return at[label.pair], replace(label, judge=whose)


def _new(state: LabelState, position: int, label: Label) -> Iterator[dict[str, Any]]:
    """The entries of a row that the pool does not have, nor anything later in their place."""
    who, kind = str(label.judge), label.kind or "label"
    held = state.settled(position) if kind == "settle" else state.current(position, who)
    if held is not None and label.saved is not None and held.saved > label.saved:
        return
    entry = {
        "item": position,
        "judge": who,
        "now": None if label.saved is None else from_moment(label.saved),
    }
    marks = (label.quote, label.quote_start)
    if kind != "note" and (
        held is None
        or (held.kind, held.grade) != (kind, label.grade)
        # A file to label has no marks, and takes none away.
        or (label.kind is not None and (held.quote, held.quote_start) != marks)
    ):
        quoted = {"quote": marks[0], "quote_start": marks[1]}
        yield {**entry, "kind": kind, "grade": label.grade, **quoted}
    if label.note is not None and kind != "settle" and state.note(position, who) != label.note:
        yield {**entry, "kind": "note", "note": label.note}
