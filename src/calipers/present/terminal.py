"""Results on a terminal, with rich."""

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calipers.model.scores import Scores
from calipers.present.notes import notes as notes_of
from calipers.present.table import ScoreTable, score_table

COLUMN = 12
"""What one cut-off takes on a line, with the space beside it."""


def print_scores(scores: Scores, console: Console, *, notes: bool = True) -> None:
    """The table, and under it what was counted."""
    view = score_table(scores)
    widest = max(len(name) for name, _ in view.rows)
    fits = widest + 2 + COLUMN * len(view.columns) <= console.width
    console.print(_wide(view) if fits else _narrow(view))
    if notes:
        console.print()
        for line in notes_of(scores):
            console.print(Text(line, style="dim"))


def _wide(view: ScoreTable) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("metric", no_wrap=True)
    for column in view.columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in view.rows:
        row = [
            Text("") if cell is None else Text.assemble(cell.mean, "\n", (cell.interval, "dim"))
            for cell in cells
        ]
        table.add_row(Text(name, style="bold"), *row)
    return table


def _narrow(view: ScoreTable) -> Table:
    """One line per metric and cut-off, for narrow terminals and long lists of cut-offs."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("metric", overflow="fold")
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    for name, cells in view.rows:
        for column, cell in zip(view.columns, cells, strict=True):
            if cell is not None:
                label = name if column == "all" else f"{name} {column}"
                table.add_row(label, cell.mean, Text(cell.interval, style="dim"))
    return table


def print_metrics(listing: list[dict[str, Any]], console: Console) -> None:
    """Every metric with its formula, notes, parameters and other names."""
    for metric in listing:
        title = Text(metric["grammar"], style="bold")
        better = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
        low, high = metric["bounds"]
        bounds = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
        title.append(f"   {', '.join(filter(None, (bounds, better[metric['better']])))}", "dim")
        console.print(title)
        for paragraph in filter(None, (metric["formula"], metric["notes"])):
            console.print(Padding(Text(paragraph), (0, 0, 0, 4)))
        if metric["also_called"]:
            names = ", ".join(metric["also_called"])
            console.print(Padding(Text(f"Also called {names}.", style="dim"), (0, 0, 0, 4)))
        console.print()
