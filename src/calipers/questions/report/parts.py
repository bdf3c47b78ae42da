"""The parts of a report, each the document of its own question."""

from dataclasses import replace
from typing import NamedTuple

from calipers.model.document import Block, Column, Document, Lines, Table, in_order
from calipers.model.result import ShowsItself
from calipers.present.scores import document as score_document
from calipers.present.scores import interval_table, score_table
from calipers.questions.report.browse import Browse
from calipers.questions.report.result import SystemReport


class Part(NamedTuple):
    """One question about a retriever, answered."""

    ident: str
    """Where a link on the page goes."""
    name: str
    document: Document


def summary(browse: Browse) -> Document:
    """What ``eval`` prints, with the best precision that can be reached."""
    made = score_document(browse.scores)
    blocks = [score_table(browse.scores, browse.ceilings), interval_table(browse.scores)]
    return replace(made, blocks=blocks)


def settings_table(browse: Browse) -> Table:
    """Under which settings it was measured, and the fingerprints of what was measured."""
    scores = browse.scores
    shown = {**scores.settings, **scores.policy.to_dict()}
    rows = [(name, str(value)) for name, value in shown.items() if value and name != "notes"]
    rows += [(f"fingerprint: {name}", value) for name, value in scores.fingerprints.items()]
    cells = [(name.replace("_", " "), value) for name, value in rows]
    heads = ("setting", Column("value", words=True))
    return Table(heads, cells, "Settings and fingerprints", detail=True)


def parts(system: SystemReport, *, examples: bool = False) -> list[Part]:
    """Every part; of one that could not be made, the reason.

    ``examples``: with some queries, for a reader who has no table of them below.
    """
    made: dict[str, tuple[str, str, ShowsItself | None]] = {
        "sweep": ("over-k", "Which k", system.sweep),
        "floor": ("floor", "Below which score to return nothing", system.floor),
        "diagnosis": ("diagnosis", "Diagnosis", system.diagnosis),
        "misses": ("lost", "Where recall is lost", system.misses),
        "slices": ("slices", "Slices", system.slices),
    }
    return [
        Part(
            ident,
            name,
            _read(found.document(), examples) if found else Document(system.without[key]),
        )
        for key, (ident, name, found) in made.items()
        # Without questions that have no answer, or without tags, nobody asks for these.
        if found or key not in ("floor", "slices")
    ]


def _read(document: Document, examples: bool) -> Document:
    """A document for a reader who has no command line."""
    blocks: list[Block] = [
        replace(one, more="") if isinstance(one, Table) else one
        for one in document.blocks
        if examples or not isinstance(one, Lines) or one.detail
    ]
    notes = [one for one in in_order(document.notes) if one.kind != "next"]
    return replace(document, blocks=blocks, notes=notes)
