"""Sealed queries as a document: how many, from which slices, and how to use them."""

from pathlib import Path

from calipers.model.document import Column, Document, Note, Table
from calipers.questions.seal.ledger import ledger_beside, per_look
from calipers.questions.seal.rule import Sealed
from calipers.words import plural


def document(found: Sealed) -> Document:
    """The number of queries, the slices, and what each file is for."""
    whole = found.open.queries + found.sealed.queries
    rows = [
        (f"{one.tag}={one.value}", f"{one.queries:,}", f"{one.sealed:,}") for one in found.slices
    ]
    columns = (Column("slice", words=True), "queries", "sealed")
    return Document(
        f"Sealed {found.sealed.queries:,} of {plural(whole, 'query', 'queries')} "
        f"({found.sealed.queries / whole:.0%}); {found.open.queries:,} stay open.",
        blocks=[Table(columns, rows)] if rows else [],
        notes=[*_notes(found)],
    )


def _notes(found: Sealed) -> list[Note]:
    """What each file is for."""
    spent = f"{100 * per_look(found.error, found.looks):.2g}%"
    whole = f" Put {found.whole} away: it holds every query." if found.whole is not None else ""
    return [
        Note("input", f"{_confirms(found)} Tune on {found.files['open']}.{whole}"),
        Note(
            "input",
            f"{plural(found.looks, 'look')} at an error of {spent} each, all written to "
            f"{found.files['ledger']}: keep it.",
        ),
        Note(
            "next",
            f"Then ask: `calipers confirm OLD NEW --sealed {found.files['sealed']}"
            f"{_ledger(found)}`",
        ),
    ]


def _confirms(found: Sealed) -> str:
    n = plural(found.sealed.queries, "sealed query confirms", "sealed queries confirm")
    if found.confirms is None:
        return f"{n} only a gain in nearly all of them."
    return f"{n} a gain of about {found.confirms:.1g} in recall@10."


def _ledger(found: Sealed) -> str:
    """The path of the ledger, if it is not beside the sealed part."""
    ledger = found.files["ledger"]
    return (
        "" if ledger == str(ledger_beside(Path(found.files["sealed"]))) else f" --ledger {ledger}"
    )
