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
    """The counts and the size of a history, and the damage that a check found."""

    shown_by: ClassVar[str] = "calipers.store.result:check_document"

    place: str
    kind: str
    version: str
    evaluations: int
    names: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int
    """The size of the file, or of the tables on the server."""
    problems: tuple[str, ...]
    """One sentence for each damaged part."""


@dataclass(frozen=True, repr=False)
class Pruned(Plain, HasRows):
    """The evaluations that were removed, or would be."""

    shown_by: ClassVar[str] = "calipers.store.result:prune_document"
    dict_keys: ClassVar[str] = "place removed bytes_before bytes evaluations"

    place: str
    evaluations: tuple[Evaluation, ...]
    removed: bool
    bytes_before: int
    """The size of the file, or of the tables on the server."""
    bytes: int
    """The size afterwards, with unused space returned to the disk."""


def check_document(found: Checked) -> Document:
    """Show the damage, if any, and the counts and the size of the history."""
    if found.problems:
        said = f"{found.place} is damaged: {plural(len(found.problems), 'problem')}."
        return Document(said, "failed", blocks=[Lines(found.problems)])
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[found.kind]
    lines = [f"{kind}, tables of version {found.version}"]
    if found.evaluations:
        names = "one name" if found.names == 1 else f"{found.names:,} names"
        each = _size(found.bytes / found.evaluations)
        lines += [
            f"{plural(found.evaluations, 'evaluation')} under {names}, "
            f"{found.oldest:%Y-%m-%d %H:%M} to {found.newest:%Y-%m-%d %H:%M} UTC",
            f"{_size(found.bytes)}, {each} per evaluation",
        ]
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
    sizes = f"{_size(found.bytes_before)} before, {_size(found.bytes)} now."
    return Document(
        f"{done} {plural(len(found.evaluations), 'evaluation')} from {found.place}.",
        blocks=[Table(columns, rows, more=f"and {more:,} more" if more > 0 else "")],
        notes=[sizes] if found.removed else [],
        rows=lambda: found.evaluations,
    )


def _size(n: float) -> str:
    """Format a number of bytes.

    >>> _size(900), _size(53_000), _size(12_400_000)
    ('900 bytes', '53 kB', '12.4 MB')
    """
    if n < 1000:
        return f"{n:.0f} bytes"
    if n < 1_000_000:
        return f"{n / 1000:.0f} kB"
    return f"{n / 1_000_000:,.1f} MB"
