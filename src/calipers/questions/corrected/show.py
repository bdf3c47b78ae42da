"""Metrics corrected by people, on a terminal."""

from rich.console import Console
from rich.text import Text

from calipers.model.result import plain
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import csv_text, flat, open_table, print_verdict, show_with
from calipers.questions.corrected.rule import CorrectedScores
from calipers.words import number, plural


def print_corrected(found: CorrectedScores, console: Console, *, explain: bool = False) -> None:
    """One line per metric: by the machine, by people alone, and by both together."""
    print_verdict(verdict(found), console)
    columns = ("mean", "interval", "machine", "people")
    table = open_table("as people would judge", numbers=columns)
    for one in found.metrics:
        table.add_row(
            Text(one.metric, style="bold"),
            number(one.value),
            one.interval.shown,
            number(one.machine),
            number(one.people),
        )
    console.print(table)
    print_notes(corrected_lines(found), console, explain=explain)


def corrected_csv(found: CorrectedScores) -> str:
    """One row per metric, full precision."""
    return csv_text(flat(plain(one)) for one in found.metrics)


def verdict(found: CorrectedScores) -> str:
    """What people would have found, by the first metric."""
    one = found.metrics[0]
    return (
        f"{one.metric}: machine alone {number(one.machine)}; corrected by people's labels of "
        f"{plural(one.sampled, 'query', 'queries')} {number(one.value)} ({one.interval.shown})."
    )


def corrected_lines(found: CorrectedScores) -> list[Note]:
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


show_with(CorrectedScores, print_corrected, rows=lambda found: found.metrics)
