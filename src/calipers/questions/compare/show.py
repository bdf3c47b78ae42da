"""A comparison on a terminal: the verdict, the leaderboard, and on request all of it."""

from collections.abc import Callable

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from calipers.present.escape import printable, query_name
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import STYLES, print_claims, show_with
from calipers.questions.compare.charts import differences
from calipers.questions.compare.export import comparison_rows
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.words import (
    MOST_CLAIMS,
    ComparedCell,
    board_lines,
    board_sentence,
    compared_rows,
    heading,
    legend,
    power_sentences,
    told,
    warnings,
)
from calipers.words import number, signed

_COLUMN = 28
_FIRST_COLUMN = 14
EXAMPLES = 5
"""Queries that gained or lost most, where all of a comparison is printed."""


def print_comparison(
    comparison: Comparison,
    console: Console,
    *,
    metric: str | None = None,
    examples: int | None = None,
    explain: bool = False,
) -> None:
    """What matters most, the table, what it cannot say; with ``explain`` how all of it was made.

    The queries that moved most are printed where they are asked for: with ``explain``, or by
    naming a metric or how many.
    """
    print_answer(comparison, console, explain=explain)
    if len(comparison.systems) > 2:
        print_leaderboard(comparison, console)
        console.print()
    if explain:
        _print_whole(comparison, console)
    else:
        _print_systems(comparison, console)
    if explain or metric is not None or examples is not None:
        shown = EXAMPLES if examples is None else examples
        _print_queries(comparison, console, metric or comparison.leading, shown)
    print_notes(_comparison_notes(comparison, explain=explain), console, explain=explain)


def print_answer(comparison: Comparison, console: Console, *, explain: bool = False) -> None:
    """What matters most, and what makes it doubtful."""
    print_claims(told(comparison, None if explain else MOST_CLAIMS), console)
    for line in warnings(comparison):
        console.print(Text(line, style="bold red"))
    console.print()


def _comparison_notes(comparison: Comparison, *, explain: bool = False) -> list[Note]:
    """What was remarked, what could not have been seen, and what the marks mean."""
    marks, how, *remarks = legend(comparison)
    if not explain:
        marks = f"{marks.removesuffix('.')}; below it the difference from the baseline."
    power = (Note("doubt", line) for line in power_sentences(comparison))
    said = (Note("input", line) for line in remarks)
    return [*said, *power, Note("marks", marks), Note("method", how)]


def _first(comparison: Comparison) -> str:
    """The metric that decides, or the first."""
    return comparison.primary or comparison.metrics[0].name


def print_leaderboard(comparison: Comparison, console: Console) -> None:
    """All systems, best first, with the groups that cannot be told apart."""
    head, *rows = board_lines(comparison) or [()]
    if not rows:
        return
    table = _table()
    for at, name in enumerate(head):
        side: JustifyMethod = "left" if name in ("system", "group") else "right"
        table.add_column(name, justify=side, overflow="fold", no_wrap=at != 1)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    console.print(Text(board_sentence(comparison), style="dim"))


def _print_systems(comparison: Comparison, console: Console) -> None:
    """One row per system, best first; as many metrics beside each other as there is room for."""
    names = ranked(comparison)
    rows = {
        row.metric: dict(zip(comparison.systems, row.cells, strict=True))
        for row in compared_rows(comparison)
    }
    room = console.width - max(len(heading(comparison, name)) for name in names) - 2
    # The intervals of many metrics would break the table up; they stand in the whole one.
    groups, cell = _fitting(rows, room, _with_interval), _with_interval
    if len(groups) > 1:
        groups, cell = _fitting(rows, room, _short), _short
    for at, metrics in enumerate(groups):
        if at:
            console.print()
        table = _table()
        table.add_column("system", overflow="fold")
        for metric in metrics:
            table.add_column(metric, no_wrap=True)
        for name in names:
            cells = [cell(rows[metric][name]) for metric in metrics]
            table.add_row(Text(heading(comparison, name), style="bold"), *cells)
        console.print(table)


def ranked(comparison: Comparison) -> list[str]:
    """The systems, the best in the metric that decides first."""
    deciding = _first(comparison)
    first = next(metric for metric in comparison.metrics if metric.name == deciding)
    towards = -1.0 if first.better == "lower" else 1.0

    def worth(name: str) -> float:
        mean = comparison.mean(name, first.name).mean
        return float("-inf") if mean is None else towards * mean

    return sorted(comparison.systems, key=worth, reverse=True)


def _fitting(
    rows: dict[str, dict[str, ComparedCell]], width: int, cell: Callable[[ComparedCell], Text]
) -> list[list[str]]:
    """The metrics in groups that fit the width, at least one in each."""
    groups: list[list[str]] = [[]]
    used = 0
    for metric, cells in rows.items():
        lines = [line for one in cells.values() for line in cell(one).plain.splitlines()]
        wide = max(map(len, [metric, *lines])) + 2
        if groups[-1] and used + wide > width:
            groups.append([])
            used = 0
        groups[-1].append(metric)
        used += wide
    return groups


def _with_interval(cell: ComparedCell) -> Text:
    """The mean, and under it the difference with its interval."""
    return _under(cell, cell.difference)


def _short(cell: ComparedCell) -> Text:
    """The mean, and under it the difference alone."""
    return _under(cell, cell.difference.partition(" ")[0])


def _under(cell: ComparedCell, difference: str) -> Text:
    lines = [_mean(cell), *([Text(difference, style="dim")] if difference else [])]
    return Text("\n").join(lines)


def _print_whole(comparison: Comparison, console: Console) -> None:
    fits = _FIRST_COLUMN + _COLUMN * len(comparison.others) + 18 <= console.width
    console.print(_wide(comparison) if fits else _long(comparison))


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
    if cell.standing:
        text.append(f" {cell.mark}", style=STYLES[cell.standing])
    return text


def _stacked(cell: ComparedCell) -> Text:
    lines = [_mean(cell)]
    if cell.difference:
        lines += [
            Text(cell.difference, style="dim"),
            Text(f"{cell.p}  {cell.counts}", style="dim"),
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


show_with(
    Comparison,
    print_comparison,
    chart=differences,
    rows=comparison_rows,
)
