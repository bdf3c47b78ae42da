"""Questions taken from traces, as a document."""

from calipers.model.document import Document, Lines, Note
from calipers.present.escape import printable
from calipers.questions.traces.rule import TracedQuestions

SHOWN = 5


def document(found: TracedQuestions) -> Document:
    """How many questions of how many askings, and a few of them."""
    lines = []
    for one in found.questions:
        about = f"asked {one.asked}×" if one.asked > 1 else "asked once"
        differing = f", results differ by {one.disagreement:.0%}" if one.disagreement else ""
        lines.append(f"{printable(one.query, 90)}  ({about}{differing})")
    doubtful = sum(one.disagreement > 0 for one in found.questions)
    notes = [Note("counted", f"For {doubtful:,} of them the results differ between askings.")]
    if found.masked:
        notes.append(Note("input", f"Masked in {found.masked:,} places."))
    rest = len(lines) - SHOWN
    title = f"The first {SHOWN}" if rest > 0 else ""
    return Document(
        f"{len(found.questions):,} of {found.unique:,} different questions, from "
        f"{found.traces:,} askings.",
        blocks=[
            Lines(lines[:SHOWN], title),
            *([Lines(lines, "All", detail=True)] if rest > 0 else []),
        ],
        notes=notes,
        rows=lambda: found.questions,
    )
