"""A grid on a terminal: what it would do, and how its runs went."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.grid import Grid, Planned
from calipers.present.comparison import power_sentences, print_leaderboard, warnings
from calipers.present.plain import printable
from calipers.present.retrieval import duration
from calipers.words import plural


def print_plan(planned: Planned, console: Console) -> None:
    """Every combination with its file, and how much of it is done."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("combination", overflow="fold")
    table.add_column("k", justify="right", no_wrap=True)
    table.add_column("done", justify="right", no_wrap=True)
    table.add_column("run", overflow="fold")
    for one, done in zip(planned.combinations, planned.done, strict=True):
        table.add_row(
            Text(printable(one.name)), str(one.k), f"{done:,} of {planned.questions:,}",
            Text(str(one.output)),
        )  # fmt: skip
    console.print(table)
    console.print()
    left = sum(planned.questions - done for done in planned.done)
    console.print(
        Text(
            f"{plural(len(planned.combinations), 'combination')}, "
            f"{plural(planned.questions, 'question')} each; {left:,} left to ask. Nothing was run."
        )
    )


def print_grid(grid: Grid, console: Console) -> None:
    """How the runs went, the leaderboard of all, and what failed."""
    console.print(_runs(grid))
    console.print()
    comparison = grid.comparison
    for line in warnings(comparison):
        console.print(Text(line, style="bold red"))
    print_leaderboard(comparison, console)
    console.print()
    for line in power_sentences(comparison):
        console.print(Text(line))
    console.print(
        Text("Every metric of every combination is in --json; `calipers compare` shows any two of "
             "the runs side by side.", style="dim")
    )  # fmt: skip
    for name, sentence in grid.failures.items():
        console.print()
        console.print(Text(f"{printable(name)} is not in the table: ", "bold red"), end="")
        console.print(Text(printable(sentence)))


def _runs(grid: Grid) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("combination", overflow="fold")
    for name in ("k", "answered", "failed", "p50", "p95"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in grid.combinations:
        report = grid.reports.get(one.name)
        if report is None:
            table.add_row(Text(printable(one.name)), str(one.k), "not run")
            continue
        times = [duration(report["latency_ms"].get(name)) for name in ("p50", "p95")]
        table.add_row(
            Text(printable(one.name)), str(one.k), f"{report['answered']:,}",
            f"{report['failed']:,}", *times,
        )  # fmt: skip
    return table
