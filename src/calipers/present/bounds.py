"""Bounds on a terminal."""

import csv
import io
from dataclasses import astuple, fields

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.bounds import Bound, Bounds
from calipers.present.table import number


def print_bounds(bounds: Bounds, console: Console) -> None:
    """One row per metric: as it is, the lowest and the highest it could be."""
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("metric", overflow="fold")
    for name in ("as it is", "lowest", "highest", "if all were relevant"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in bounds.bounds:
        values = (one.value, one.lowest, one.highest, one.all_relevant)
        table.add_row(one.metric, *("undefined" if v is None else number(v) for v in values))
    console.print(table)
    console.print()
    for line in bounds_notes(bounds):
        console.print(Text(line, style="dim"))


def bounds_notes(bounds: Bounds) -> list[str]:
    """What the bounds rest on."""
    share = f" ({bounds.unjudged / bounds.shown:.0%})" if bounds.shown else ""
    lines = [
        f"{bounds.unjudged:,} of {bounds.shown:,} results{share} down to rank {bounds.depth} were "
        "never judged. The lowest and highest value are those over all ways to judge them "
        f"irrelevant or relevant (grade {bounds.grade:g}); what was never returned is not "
        "considered."
    ]
    if bounds.skipped:
        lines.append(f"Without bounds: {', '.join(bounds.skipped)}.")
    return lines


def bounds_csv(bounds: Bounds) -> str:
    """One line per metric, full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Bound)])
    writer.writerows(astuple(one) for one in bounds.bounds)
    return text.getvalue()
