"""A comparison on a terminal and as charts: the verdict, the leaderboard, and on request all."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from calipers.present.charts import (
    Chart,
    Dot,
    Mark,
    Panel,
    Stroke,
    interval_row,
    numbers,
    padded,
    rows,
    spread,
)
from calipers.present.escape import printable, query_name
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import STYLES, open_table, print_claims, show_with
from calipers.questions.compare.export import comparison_rows
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.words import (
    MOST_CLAIMS,
    ComparedCell,
    between,
    board_lines,
    board_sentence,
    compared_rows,
    heading,
    legend,
    power_sentences,
    told,
    warnings,
)
from calipers.words import number, plural, signed

SIGNS = {
    "better": ("up", "accent"),
    "worse": ("down", "worse"),
    "no clear difference": ("circle", "even"),
    "supporting": ("stroke", "even"),
}
"""A shape for each verdict, so that no colour is needed to read it."""
MEANINGS = {
    "better": "shown better",
    "worse": "shown worse",
    "no clear difference": "cannot tell",
    "supporting": "not asked for",
}
MANY = 400
"""Places of a scatter from which on they are rounded to hundredths."""


def differences(comparison: Comparison) -> Chart:
    """Each system minus the baseline, with intervals, by the signs of the sentences."""
    bounded = [facts.name for facts in comparison.metrics if facts.bounds == (0, 1)]
    drawn = [
        (one, one.difference)
        for one in comparison.differences
        if one.difference is not None and one.metric in bounded
    ]
    known = [difference for _, difference in drawn]
    for one, _ in drawn:
        known += [one.interval.low, one.interval.high] if one.interval else []
    x = spread([0.0, *known], least=0.1)
    panels = []
    for name in dict.fromkeys(one.system for one, _ in drawn):
        mine = [pair for pair in drawn if pair[0].system == name]
        y = rows([one.metric for one, _ in mine])
        marks: list[Mark] = [Stroke([(0.0, y.low), (0.0, y.high)], "even", width=1)]
        for at, (one, difference) in enumerate(mine):
            shape, colour = SIGNS[one.verdict]
            said = (
                printable(one.claim.line)
                if one.claim
                else f"{one.metric}: {signed(difference)} ({between(one.interval)}), not asked for"
            )
            dot = Dot(difference, -at, said, colour, shape, 6)
            marks += interval_row(dot, one.interval)
        title = f"{printable(name, 40)} − {printable(comparison.baseline, 40)}"
        panels.append(Panel(x, y, marks, title, rows=len(mine)))
    found = [verdict for verdict in SIGNS if any(one.verdict == verdict for one, _ in drawn)]
    return Chart(
        "Differences from the baseline",
        panels,
        "Each system less the baseline, with intervals.",
        shares_axis=True,
        legend=[(*SIGNS[verdict], MEANINGS[verdict]) for verdict in found],
    )


def head_to_head(comparison: Comparison, system: str, metric: str) -> Chart:
    """Every query by its value in both systems; queries at one place make one larger dot."""
    column = [facts.name for facts in comparison.metrics].index(metric)
    lower = comparison.metrics[column].better == "lower"
    before, after = (comparison.values[one][:, column] for one in (comparison.baseline, system))
    # Both values as one number, which sorts many times as fast as pairs.
    points = (before + 1j * after)[~np.isnan(before) & ~np.isnan(after)]
    places, counts = np.unique(points.round(4), return_counts=True)
    if places.size > MANY:
        places, counts = np.unique(points.round(2), return_counts=True)
    top = max([1.0, *places.real.tolist(), *places.imag.tolist()])
    most = int(counts.max(initial=1))
    name, base = printable(system, 24), printable(comparison.baseline, 24)
    signs = {
        "better": SIGNS["better"],
        "equal": SIGNS["no clear difference"],
        "worse": SIGNS["worse"],
    }
    marks: list[Mark] = [Stroke([(0.0, 0.0), (top, top)], "even", dashed=True, width=1)]
    for at in np.argsort(counts, kind="stable"):
        x, y, count = places[at].real.item(), places[at].imag.item(), counts[at].item()
        outcome = "equal" if x == y else "better" if (y > x) != lower else "worse"
        shape, colour = signs[outcome]
        said = f"{plural(count, 'query', 'queries')}: {base} {number(x)}, {name} {number(y)}"
        marks.append(Dot(x, y, said, colour, shape, 3.5 + 9 * sqrt((count - 1) / most)))
    across, up = (padded(numbers(0, top, f"{metric} of {one}")) for one in (base, name))
    panel = Panel(across, up, marks, ratio=1)
    return Chart(
        f"{metric} per query",
        [panel],
        f"Each query's {metric} in both systems.",
        widest=380,
        legend=[(*sign, word) for word, sign in signs.items()],
    )


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
        fits = _FIRST_COLUMN + _COLUMN * len(comparison.others) + 18 <= console.width
        console.print(_wide(comparison) if fits else _long(comparison))
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


def print_leaderboard(comparison: Comparison, console: Console) -> None:
    """All systems, best first, with the groups that cannot be told apart."""
    head, *rows = board_lines(comparison) or [()]
    if not rows:
        return
    table = open_table()
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
        table = open_table()
        table.add_column("system", overflow="fold")
        for metric in metrics:
            table.add_column(metric, no_wrap=True)
        for name in names:
            cells = [cell(rows[metric][name]) for metric in metrics]
            table.add_row(Text(heading(comparison, name), style="bold"), *cells)
        console.print(table)


def ranked(comparison: Comparison) -> list[str]:
    """The systems, the best in the metric that decides first."""
    deciding = comparison.primary or comparison.metrics[0].name
    first = next(metric for metric in comparison.metrics if metric.name == deciding)

    def worth(name: str) -> float:
        mean = comparison.mean(name, first.name).mean
        return float("-inf") if mean is None else first.turn * mean

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
    return _stacked(cell, cell.difference)


def _short(cell: ComparedCell) -> Text:
    """The mean, and under it the difference alone."""
    return _stacked(cell, cell.difference.partition(" ")[0])


def _wide(comparison: Comparison) -> Table:
    table = open_table()
    table.add_column("metric", no_wrap=True)
    for name in comparison.systems:
        table.add_column(Text(heading(comparison, name)), no_wrap=True)
    for row in compared_rows(comparison):
        table.add_row(Text(row.metric, style="bold"), *map(_whole, row.cells))
    return table


def _mean(cell: ComparedCell) -> Text:
    text = Text(cell.mean + ("*" if cell.best else ""), style="bold" if cell.best else "")
    if cell.standing:
        text.append(f" {cell.mark}", style=STYLES[cell.standing])
    return text


def _whole(cell: ComparedCell) -> Text:
    return _stacked(cell, cell.difference, f"{cell.p}  {cell.counts}".strip())


def _stacked(cell: ComparedCell, *under: str) -> Text:
    return Text("\n").join([_mean(cell), *(Text(line, style="dim") for line in under if line)])


def _long(comparison: Comparison) -> Table:
    """The systems under each other, where they do not fit side by side."""
    table = open_table()
    table.add_column("metric", overflow="fold")
    table.add_column("mean", no_wrap=True)
    for row in compared_rows(comparison):
        table.add_row(Text(row.metric, style="bold"), "")
        for name, cell in zip(comparison.systems, row.cells, strict=True):
            table.add_row(Text(f"  {heading(comparison, name)}"), _whole(cell))
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


show_with(Comparison, print_comparison, chart=differences, rows=comparison_rows)
