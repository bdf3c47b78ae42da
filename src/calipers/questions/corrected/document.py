"""Metrics corrected by people's labels, as a document."""

from calipers.model.document import Cell, Column, Document, Note, Table
from calipers.questions.corrected.rule import CorrectedScores
from calipers.words import number, plural


def document(found: CorrectedScores) -> Document:
    """One line per metric: corrected, by the machine, and by people alone."""
    columns = (Column("as people would judge", words=True), "mean", "interval", "machine", "people")
    rows = [
        (
            Cell(one.metric, strong=True),
            number(one.value),
            one.interval.shown,
            number(one.machine),
            number(one.people),
        )
        for one in found.metrics
    ]
    return Document(
        verdict(found),
        blocks=[Table(columns, rows)],
        notes=_notes(found),
        rows=lambda: found.metrics,
    )


def verdict(found: CorrectedScores) -> str:
    """What people would have found, by the first metric."""
    one = found.metrics[0]
    return (
        f"{one.metric}: machine alone {number(one.machine)}; corrected by people's labels of "
        f"{plural(one.sampled, 'query', 'queries')} {number(one.value)} ({one.interval.shown})."
    )


def _notes(found: CorrectedScores) -> list[Note]:
    """What the correction rests on."""
    lines = [
        Note(
            "method",
            f"People judged {found.sampled:,} of {plural(found.queries, 'query', 'queries')}; the "
            f"mean is corrected by what they found there. The {found.settings['confidence']:.0%} "
            "interval counts the errors of the machine that they saw, and those that so small a "
            "sample may lack.",
        )
    ]
    if found.unjudged:
        lines.append(
            Note(
                "unjudged",
                f"{found.unjudged:.0%} of the results that count here were not among those that "
                "people judged, as another run was drawn for; they count as not relevant. Draw a "
                "sample of this run, too.",
            )
        )
    if found.skipped:
        skipped = ", ".join(found.skipped)
        lines.append(Note("doubt", f"Not corrected, as too little is known: {skipped}."))
    return lines
