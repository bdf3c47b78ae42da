"""Bounds on a terminal."""

from dataclasses import fields

from rich.console import Console

from calipers.present.notes import Note, print_notes
from calipers.present.terminal import csv_text, open_table, print_verdict, show_with
from calipers.questions.bounds.rule import Bound, Bounds
from calipers.words import number


def print_bounds(bounds: Bounds, console: Console, *, explain: bool = False) -> None:
    """How far a metric could move, a row for each, and what the bounds rest on."""
    print_verdict(bounds_verdict(bounds), console)
    print_bound_table(bounds, console)
    print_notes(bounds_notes(bounds), console, explain=explain)


def bounds_verdict(bounds: Bounds) -> str:
    """How much of the first metric hangs on what nobody judged."""
    first = next((one for one in bounds.bounds if one.value is not None), None)
    if first is None or first.lowest is None or first.highest is None:
        return "Nothing can be said: no query has anything to find."
    if not bounds.unjudged:
        return "Every result that counts was judged: no value can move."
    return (
        f"{first.metric} is {number(first.value or 0.0)}; had everything been judged, it would lie "
        f"between {number(first.lowest)} and {number(first.highest)}."
    )


def print_bound_table(bounds: Bounds, console: Console) -> None:
    """One row per metric: as it is, the lowest and the highest it could be."""
    columns = ("as it is", "lowest", "highest", "if all were relevant")
    table = open_table("metric", numbers=columns)
    for one in bounds.bounds:
        values = (one.value, one.lowest, one.highest, one.all_relevant)
        table.add_row(one.metric, *("undefined" if v is None else number(v) for v in values))
    console.print(table)


def bounds_notes(bounds: Bounds) -> list[Note]:
    """What the bounds rest on."""
    share = f" ({bounds.unjudged / bounds.shown:.0%})" if bounds.shown else ""
    lines = [
        Note(
            "unjudged",
            f"{bounds.unjudged:,} of {bounds.shown:,} results{share} down to rank {bounds.depth} "
            "were never judged. The lowest and highest value are those over all ways to judge them "
            f"irrelevant or relevant (grade {bounds.grade:g}); what was never returned is not "
            "considered.",
        )
    ]
    if bounds.skipped:
        lines.append(Note("doubt", f"Without bounds: {', '.join(bounds.skipped)}."))
    return lines


def bounds_csv(bounds: Bounds) -> str:
    """One line per metric, full precision."""
    return csv_text(map(vars, bounds.bounds), [field.name for field in fields(Bound)])


show_with(Bounds, print_bounds, rows=lambda found: found.bounds)
