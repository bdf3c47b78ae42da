"""Labels that were filled in elsewhere, taken into a pool."""

import os
from collections.abc import Iterable

from calipers.errors import InvalidInput
from calipers.io.records.label_files import read_labels
from calipers.labels.desk import Desk
from calipers.labels.result import Imported
from calipers.model.labels import is_machine
from calipers.store.label_log import append_on, new_request
from calipers.store.label_pools import add_judges


def take_labels(
    desk: Desk, paths: Iterable[str | os.PathLike[str]], judge: str | None = None
) -> Imported:
    """Read labels that were filled in elsewhere, in one transaction.

    ``judge`` is whose those are that do not say it themselves.
    """
    at = {item.label.pair: item.position for item in desk.items}
    rows: list[tuple[int, str, float, str | None]] = []
    ungraded = 0
    for path in paths:
        for place, label in read_labels(path):
            if label.grade is None:
                ungraded += 1
                continue
            if label.pair not in at:
                raise InvalidInput(
                    f"The row at {place} is about something that is not in the pool "
                    f"{desk.name}: query {label.query_id!r:.60}, item "
                    f"{label.item or label.text!r:.60}; import it into the pool it was "
                    "drafted from."
                )
            whose = (label.judge or "").strip() or judge
            if whose is None:
                raise InvalidInput(
                    f"The row at {place} does not say who judged it, and labels of a machine "
                    "must not count as people's; fill in 'judge', or say whose such rows are: "
                    "--judge anna, or --judge machine:NAME for a language model."
                )
            rows.append((at[label.pair], whose, label.grade, label.note))
    names = list(dict.fromkeys(who for _, who, _, _ in rows))
    state = desk.state()
    new = []
    for row in rows:
        held = state.current(row[0], row[1])
        if held is None or held.grade != row[2]:
            new.append(row)
    add_judges(desk.store, desk.content.number, [one for one in names if not is_machine(one)])
    with desk.store.writing() as connection:
        for position, who, grade, note in new:
            append_on(
                connection,
                desk.content.number,
                item=position,
                judge=who,
                kind="label",
                grade=grade,
                note=note,
                request=new_request(),
            )
    return Imported(desk.name, len(new), len(rows) - len(new), ungraded, tuple(names))
