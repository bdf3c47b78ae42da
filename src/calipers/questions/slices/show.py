"""Slices of the queries, on a terminal, as CSV and as a chart."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.present.charts import Chart, Dot, Mark, Panel, Stroke, interval_row, numbers, rows
from calipers.present.escape import printable
from calipers.present.notes import Note, print_notes
from calipers.present.terminal import csv_text, open_table, print_claims, show_with
from calipers.questions.slices.result import Slice, Slices
from calipers.words import number, plural

MARKS = {"above": "▲", "below": "▼", "cannot tell": "?"}
COLUMN = 13
"""What one metric takes on a line, with the space beside it."""


def print_slices(slices: Slices, console: Console, *, explain: bool = False) -> None:
    """What stands out, one table per cut, and what the marks mean."""
    print_claims(slices.claims, console)
    console.print()
    print_slice_tables(slices, console)
    print_notes([slices_note(slices)], console, explain=explain)


def print_slice_tables(slices: Slices, console: Console) -> None:
    """One table per cut: slices as rows, metrics as columns."""
    for number_of, by in enumerate(slices.by):
        if number_of:
            console.print()
        names = [f"by {by}", *(row.value for row in slices.of(by))]
        used = min(max(map(len, names)), 40) + len("  queries  ")
        fits = used + COLUMN * len(slices.metrics) <= console.width
        console.print(_wide(slices, by) if fits else _long(slices, by))


def slices_note(slices: Slices) -> Note:
    """What the marks mean."""
    if slices.primary is None:
        return Note("marks", "No slice is tested: none of these metrics can decide.")
    corrected = f"corrected over {slices.tests} tests" if slices.tests > 1 else "one test"
    unsure = sum(row.standing == "cannot tell" for row in slices.rows)
    few = f" ? too few queries to show anything ({plural(unsure, 'slice')})." if unsure else ""
    return Note(
        "marks",
        f"▲ above and ▼ below the rest of the queries in {slices.primary}, more than noise "
        f"(permutation test, {corrected}, p up to {1 - slices.settings['confidence']:.2g}); an "
        f"unmarked slice may differ, its queries just do not show it.{few} Other metrics are "
        "supporting.",
    )


def _wide(slices: Slices, by: str) -> Table:
    table = open_table(Text(f"by {printable(by, 20)}"), numbers=("queries", *slices.metrics))
    rows: dict[str, list[Slice]] = {}
    for row in slices.of(by):
        rows.setdefault(row.value, []).append(row)
    for value, cells in rows.items():
        name = Text(printable(value, 40), style="bold")
        table.add_row(name, f"{cells[0].queries:,}", *(_cell(cell) for cell in cells))
    return table


def _long(slices: Slices, by: str) -> Table:
    table = open_table(Text(f"by {printable(by, 20)}"), numbers=("queries",))
    table.add_column("metric", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    last = None
    for row in slices.of(by):
        first = row.value != last
        value = Text(printable(row.value, 30) if first else "", style="bold")
        table.add_row(value, f"{row.queries:,}" if first else "", row.metric, _cell(row))
        last = row.value
    return table


def _cell(row: Slice) -> Text:
    if row.mean is None:
        return Text("undefined", style="dim")
    text = Text(number(row.mean))
    if mark := MARKS.get(row.standing):
        style = "red" if row.is_worse else "yellow" if mark == "?" else "green"
        text = Text.assemble((f"{mark} ", style), text)
    if row.interval:
        text.append(f"\n{row.interval.shown}", style="dim")
    return text


def slice_rows(slices: Slices) -> Iterator[dict[str, Any]]:
    """One row per slice and metric, full precision."""
    for row in slices.rows:
        ends, apart = row.interval, row.difference_interval
        yield {
            "by": row.by,
            "slice": row.value,
            "metric": row.metric,
            "queries": row.queries,
            "n": row.n,
            "mean": row.mean,
            "low": ends and ends.low,
            "high": ends and ends.high,
            "rest_n": row.rest_n,
            "rest": row.rest,
            "difference": row.difference,
            "difference_low": apart and apart.low,
            "difference_high": apart and apart.high,
            "p_value": row.p_value,
            "p_adjusted": row.p_adjusted,
            "standing": row.standing,
        }


def slices_csv(slices: Slices) -> str:
    """The same as CSV."""
    return csv_text(slice_rows(slices))


def slices_chart(slices: Slices, metric: str, overall: float | None) -> Chart:
    """One dot with its interval per slice, one panel per tag, and the mean of all queries."""
    drawn = [
        (row, row.mean) for row in slices.rows if row.metric == metric and row.mean is not None
    ]
    highs = [row.interval.high if row.interval else mean for row, mean in drawn]
    x = numbers(0, max([1.0, *highs]), metric)
    panels = []
    for by in dict.fromkeys(row.by for row, _ in drawn):
        mine = [pair for pair in drawn if pair[0].by == by]
        y = rows([f"{printable(row.value, 40)} ({row.queries:,})" for row, _ in mine])
        marks: list[Mark] = []
        if overall is not None:
            marks.append(Stroke([(overall, y.low), (overall, y.high)], "even", True, 1.5))
        for at, (row, mean) in enumerate(mine):
            said = f"{printable(row.value, 40)}: {number(mean)}"
            said += f" ({row.interval.shown})" if row.interval else ""
            said += f", {plural(row.queries, 'query', 'queries')}"
            said += ", shown to be worse than the rest" if row.is_worse else ""
            shape, colour = ("down", "worse") if row.is_worse else ("circle", "accent")
            marks += interval_row(Dot(mean, -at, said, colour, shape, 5), row.interval)
        panels.append(Panel(x, y, marks, printable(by, 60), rows=len(mine)))
    said = f"{metric} for each slice of the queries, with intervals."
    legend = [("down", "worse", "shown to be worse than the rest")] * any(
        r.is_worse for r, _ in drawn
    )
    if overall is not None:
        legend.append(("dashed", "even", "mean of all queries"))
    return Chart(f"{metric} per slice", panels, said, shares_axis=True, legend=legend)


show_with(
    Slices,
    print_slices,
    chart=lambda slices: slices_chart(slices, slices.metrics[0], None),
    rows=slice_rows,
)
