"""A comparison on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.comparison import Comparison
from calipers.present.comparison import (
    ComparedCell,
    compared_rows,
    findings,
    heading,
    legend,
    power_sentences,
    query_name,
    signed,
    warnings,
)
from calipers.present.plain import printable
from calipers.present.table import number

COLUMN = 28
FIRST_COLUMN = 14


def print_comparison(
    comparison: Comparison, console: Console, *, metric: str | None = None, examples: int = 5
) -> None:
    """The table, what it says, what it cannot say, and the queries that moved most."""
    for line in warnings(comparison):
        console.print(Text(line, style="bold red"))
    fits = FIRST_COLUMN + COLUMN * len(comparison.others) + 18 <= console.width
    console.print(_wide(comparison) if fits else _long(comparison))
    console.print()
    for line in findings(comparison):
        console.print(Text(line, style="bold"))
    for line in power_sentences(comparison):
        console.print(Text(line))
    _print_queries(comparison, console, metric or comparison.metrics[0].name, examples)
    console.print()
    for line in legend(comparison):
        console.print(Text(line, style="dim"))


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def _wide(comparison: Comparison) -> Table:
    table = _table()
    table.add_column("metric", no_wrap=True)
    for name in comparison.systems:
        table.add_column(Text(heading(comparison, name)), no_wrap=True)
    for row in compared_rows(comparison):
        table.add_row(Text(row.metric, style="bold"), *(_stacked(cell) for cell in row.cells))
    return table


def _mean(cell: ComparedCell) -> Text:
    text = Text(cell.mean + ("*" if cell.best else ""), style="bold" if cell.best else "")
    if cell.mark:
        text.append(f" {cell.mark}", style="green" if cell.mark == "▲" else "red")
    return text


def _stacked(cell: ComparedCell) -> Text:
    lines = [_mean(cell)]
    if cell.difference:
        lines += [
            Text(cell.difference, style="dim"),
            Text(f"{cell.p}  {cell.counts}", style="dim"),
            Text(f"could see {cell.visible}", style="dim"),
        ]
    return Text("\n").join(lines)


def _long(comparison: Comparison) -> Table:
    """The systems under each other, where they do not fit side by side."""
    table = _table()
    table.add_column("metric", overflow="fold")
    table.add_column("mean", no_wrap=True)
    for row in compared_rows(comparison):
        table.add_row(Text(row.metric, style="bold"), "")
        for name, cell in zip(comparison.systems, row.cells, strict=True):
            table.add_row(Text(f"  {heading(comparison, name)}"), _stacked(cell))
    return table


def _print_queries(comparison: Comparison, console: Console, metric: str, examples: int) -> None:
    if not examples:
        return
    for name in comparison.others:
        for title, wins in (("gained most", True), ("lost most", False)):
            found = comparison.largest(name, metric, wins=wins, count=examples)
            if not found:
                continue
            console.print()
            label = f"{printable(name, 30)}: the queries that {title} in {metric}"
            console.print(Text(label, style="bold"))
            for one in found:
                moved = f"{number(one.baseline)} → {number(one.system)}"
                line = Text(f"  {signed(one.difference):>7}  ")
                line.append(f"{moved}  ", style="dim")
                line.append(query_name(one.query, one.text))
                console.print(line, no_wrap=True, overflow="ellipsis")
