"""Results of checking and pruning a history."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from calipers.model.document import Column, Document, Lines, Table
from calipers.model.evaluation import Evaluation
from calipers.model.result import HasRows, Plain, ShowsItself
from calipers.words import plural

MOST_LISTED = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(Plain, ShowsItself):
    """The counts of a history, and the damage that a check found."""

    shown_by: ClassVar[str] = "calipers.store.result:check_document"

    place: str
    kind: str
    version: str
    evaluations: int
    names: int
    oldest: datetime | None
    newest: datetime | None
    problems: tuple[str, ...]
    """One sentence for each damaged part."""


@dataclass(frozen=True, repr=False)
class Pruned(Plain, HasRows):
    """The evaluations that were removed, or would be."""

    shown_by: ClassVar[str] = "calipers.store.result:prune_document"
    dict_keys: ClassVar[str] = "place removed evaluations"

    place: str
    evaluations: tuple[Evaluation, ...]
    removed: bool


def check_document(found: Checked) -> Document:
    """Show the damage, if any, and the counts of the history."""
    if found.problems:
        said = f"{found.place} is damaged: {plural(len(found.problems), 'problem')}."
        return Document(said, "failed", blocks=[Lines(found.problems)])
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[found.kind]
    lines = [f"{kind}, tables of version {found.version}"]
    if found.evaluations:
        names = "one name" if found.names == 1 else f"{found.names:,} names"
        lines.append(
            f"{plural(found.evaluations, 'evaluation')} under {names}, "
            f"{found.oldest:%Y-%m-%d %H:%M} to {found.newest:%Y-%m-%d %H:%M} UTC"
        )
    read = plural(found.evaluations, "evaluation")
    return Document(f"{found.place} is whole: {read} read.", "passed", blocks=[Lines(lines)])


def prune_document(found: Pruned) -> Document:
    """Show the evaluations that were removed, or would be."""
    if not found.evaluations:
        return Document(f"Nothing to remove from {found.place}.", rows=lambda: found.evaluations)
    done = "Removed" if found.removed else "Would remove"
    rows = [
        (f"@{one.short}", f"{one.saved:%Y-%m-%d %H:%M}", one.name)
        for one in found.evaluations[:MOST_LISTED]
    ]
    more = len(found.evaluations) - len(rows)
    columns = (
        Column("id", words=True),
        Column("saved (UTC)", words=True),
        Column("name", words=True),
    )
    return Document(
        f"{done} {plural(len(found.evaluations), 'evaluation')} from {found.place}.",
        blocks=[Table(columns, rows, more=f"and {more:,} more" if more > 0 else "")],
        rows=lambda: found.evaluations,
    )
