"""A verdict on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.gate import Verdict
from calipers.present.gate import (
    CheckRow,
    baseline_heading,
    baseline_rows,
    condition_rows,
    failures,
    headline,
    notes,
    warnings,
)

COLOURS = {"passed": "green", "failed": "red", "untested": "yellow"}


def print_verdict(verdict: Verdict, console: Console) -> None:
    """The verdict, every check, the queries behind a failure, and what could not be seen."""
    for line in warnings(verdict):
        console.print(Text(line, style="bold yellow"))
    colour = COLOURS["passed" if verdict.passed else "failed"]
    console.print(Text(headline(verdict), style=f"bold {colour}"))
    if rows := condition_rows(verdict):
        console.print()
        console.print(_table(rows, ("condition", "value", "")))
    if rows := baseline_rows(verdict):
        console.print()
        console.print(Text(baseline_heading(verdict)))
        console.print(_table(rows, ("metric", "before → now", "difference"), visible=True))
    for sentence, worst in failures(verdict):
        console.print()
        console.print(Text(sentence, style="bold"))
        for line in worst:
            console.print(Text(f"  {line}"), no_wrap=True, overflow="ellipsis")
    if lines := notes(verdict):
        console.print()
        for line in lines:
            console.print(Text(line, style="dim"))


def _table(rows: list[CheckRow], names: tuple[str, str, str], *, visible: bool = False) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column(names[0], overflow="fold")
    table.add_column(names[1], justify="right", no_wrap=True)
    table.add_column(names[2], overflow="fold")
    if visible:
        table.add_column("could see", justify="right", no_wrap=True)
    for row in rows:
        style = COLOURS[row.status]
        detail = Text(row.detail)
        if row.counts:
            detail.append(f"\n{row.counts}", style="dim")
        if row.because and visible:
            detail.append(f"\n{row.because}", style=style)
        cells = [Text(row.mark, style=style), Text(row.name), Text(row.value), detail]
        table.add_row(*cells, *([Text(row.visible)] if visible else []))
    return table
