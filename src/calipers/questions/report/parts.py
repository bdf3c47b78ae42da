"""The parts of a report, each a document that answers one question."""

from dataclasses import replace
from typing import NamedTuple

from calipers.model.document import Block, Column, Document, Lines, Table, in_order
from calipers.model.result import ShowsItself
from calipers.present.scores import document as score_document
from calipers.present.scores import interval_table, score_table
from calipers.questions.report.browse import Browse
from calipers.questions.report.result import SystemReport


class ReportPart(NamedTuple):
    """One question about a retriever, answered."""

    ident: str
    """The anchor for links on the page."""
    name: str
    document: Document


def summary(browse: Browse) -> Document:
    """What ``eval`` prints, with the highest possible precision."""
    made = score_document(browse.scores)
    blocks = [score_table(browse.scores, browse.ceilings), interval_table(browse.scores)]
    return replace(made, blocks=blocks)


def settings_table(browse: Browse) -> Table:
    """The settings of the evaluation, and the fingerprints of its input."""
    scores = browse.scores
    shown = {**scores.settings, **scores.policy.to_dict()}
    rows = [(name, str(value)) for name, value in shown.items() if value and name != "notes"]
    rows += [(f"fingerprint: {name}", value) for name, value in scores.fingerprints.items()]
    cells = [(name.replace("_", " "), value) for name, value in rows]
    heads = ("setting", Column("value", words=True))
    return Table(heads, cells, "Settings and fingerprints", detail=True)


def parts(system: SystemReport, *, examples: bool = False) -> list[ReportPart]:
    """Every part, or the reason why it could not be made.

    ``examples`` adds some queries, for a page without a table of them.
    """
    made: dict[str, tuple[str, str, ShowsItself | None]] = {
        "sweep": ("over-k", "Which k", system.sweep),
        "floor": ("floor", "Below which score to return nothing", system.floor),
        "diagnosis": ("diagnosis", "Diagnosis", system.diagnosis),
        "misses": ("lost", "Where recall is lost", system.misses),
        "slices": ("slices", "Slices", system.slices),
    }
    return [
        ReportPart(
            ident,
            name,
            _read(found.document(), examples) if found else Document(system.without[key]),
        )
        for key, (ident, name, found) in made.items()
        # Omit these silently if no query is unanswerable, or if there are no tags.
        if found or key not in ("floor", "slices")
    ]


def _read(document: Document, examples: bool) -> Document:
    """A document without its hints for the command line."""
    blocks: list[Block] = [
        replace(one, more="") if isinstance(one, Table) else one
        for one in document.blocks
        if examples or not isinstance(one, Lines) or one.detail
    ]
    notes = [one for one in in_order(document.notes) if one.kind != "next"]
    return replace(document, blocks=blocks, notes=notes)
