"""A grid on a terminal: what it would do, and how its runs went."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.live.show import duration
from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, print_notes
from calipers.present.terminal import open_table, print_verdict, show_with
from calipers.questions.compare.export import comparison_rows
from calipers.questions.compare.show import (
    differences,
    print_answer,
    print_comparison,
    print_leaderboard,
)
from calipers.questions.compare.words import power_sentences
from calipers.questions.grid.result import Grid, Planned
from calipers.words import listed, plural


def print_plan(planned: Planned, console: Console) -> None:
    """How much is left to ask, and every combination with its file."""
    left = sum(planned.questions - done for done in planned.done)
    print_verdict(
        f"{plural(len(planned.combinations), 'combination')}, "
        f"{plural(planned.questions, 'question')} each; {left:,} left to ask. Nothing was run.",
        console,
    )
    table = open_table("combination", numbers=("k", "done"))
    table.add_column("run", overflow="fold")
    for one, done in zip(planned.combinations, planned.done, strict=True):
        table.add_row(
            Text(printable(one.name)),
            str(one.k),
            f"{done:,} of {planned.questions:,}",
            Text(str(one.output)),
        )
    console.print(table)


def print_grid(
    grid: Grid, console: Console, *, examples: int | None = None, explain: bool = False
) -> None:
    """The leaderboard of all combinations, how their runs went, and what failed.

    Every metric of every combination fills screens, so it is printed on request.
    """
    comparison = grid.comparison
    nothing = _without_effect(grid)
    moved = any(one.wins or one.losses for one in comparison.differences)
    if nothing and not moved:
        print_verdict(nothing, console)
    if explain or examples is not None or len(comparison.systems) == 2:
        print_comparison(comparison, console, examples=examples, explain=explain)
    else:
        print_answer(comparison, console)
        print_leaderboard(comparison, console)
        print_notes((Note("doubt", one) for one in power_sentences(comparison)), console)
        console.print(MoreWith("Every metric of every combination"))
    if nothing and moved:
        console.print()
        console.print(Text(nothing, style="bold"))
    console.print()
    console.print(_runs(grid))
    for name, sentence in grid.failures.items():
        console.print()
        console.print(Text(f"{printable(name)} is not in the table: ", "bold red"), end="")
        console.print(Text(printable(sentence)))


def _without_effect(grid: Grid) -> str:
    """That a parameter does nothing is an answer: what it costs can be saved."""
    if not (names := grid.without_effect):
        return ""
    verb = "changes" if len(names) == 1 else "change"
    queries = plural(grid.comparison.queries.height, "query", "queries")
    return (
        f"{printable(listed(names))} {verb} nothing here: every metric of each of the {queries} "
        "is the same for all values tried."
    )


def _runs(grid: Grid) -> Table:
    table = open_table("combination", numbers=("k", "answered", "failed", "p50", "p95"))
    for one in grid.combinations:
        report = grid.reports.get(one.name)
        if report is None:
            table.add_row(Text(printable(one.name)), str(one.k), "not run")
            continue
        times = [duration(report["latency_ms"].get(name)) for name in ("p50", "p95")]
        table.add_row(
            Text(printable(one.name)),
            str(one.k),
            f"{report['answered']:,}",
            f"{report['failed']:,}",
            *times,
        )
    return table


show_with(
    Grid,
    print_grid,
    chart=lambda grid: differences(grid.comparison),
    rows=lambda grid: comparison_rows(grid.comparison),
)
show_with(
    Planned,
    print_plan,
    rows=lambda found: (
        {"combination": one.name, "k": one.k, "done": done, "run": str(one.output)}
        for one, done in zip(found.combinations, found.done, strict=True)
    ),
)
