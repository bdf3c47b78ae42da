"""Slices of the queries as a document: which stand out, one table per tag, and a chart."""

from calipers.model.document import (
    Answers,
    Cell,
    Cells,
    Column,
    Document,
    Heads,
    Note,
    Picture,
    Table,
)
from calipers.model.fact import Fact, sentence
from calipers.present.charts import (
    Chart,
    Dot,
    Mark,
    Panel,
    Stroke,
    interval_row,
    numbers,
    rows,
)
from calipers.present.escape import printable
from calipers.questions.slices.result import Slice, Slices
from calipers.words import number, plural


def document(slices: Slices) -> Document:
    """What stands out, one table per tag, and what the marks mean."""
    first, *further = slices.claims or (None,)
    sentence = first.fact if first else "No slice can be compared with the rest."
    notes = [Note("doubt", first.range)] if first and first.range else []
    notes += [Note("next", first.next)] if first and first.next else []
    return Document(
        sentence,
        first.standing if first else None,
        blocks=[
            *([Answers(further)] if further else []),
            *(_table(slices, by) for by in slices.by),
            Picture(lambda: slices_chart(slices, sentence)),
        ],
        notes=[*notes, _marks(slices)],
        rows=lambda: slices.rows,
    )


def _table(slices: Slices, by: str) -> Table:
    by_value: dict[str, list[Slice]] = {}
    for row in slices.of(by):
        by_value.setdefault(row.value, []).append(row)
    columns: Heads = (Column(f"by {by}", words=True), "queries", *slices.metrics)
    cells: list[Cells] = [
        (Cell(value, strong=True), f"{parts[0].queries:,}", *map(_cell, parts))
        for value, parts in by_value.items()
    ]
    return Table(columns, cells)


def _cell(row: Slice) -> Cell:
    if row.mean is None:
        return Cell("undefined")
    return Cell(
        number(row.mean), None if row.standing == "no clear difference" else row.standing
    )


def _marks(slices: Slices) -> Note:
    """What the marks mean."""
    if slices.primary is None:
        return Note("marks", "No slice is tested: none of these metrics can decide.")
    tests = Fact(
        about="setting", metric=slices.primary, count=slices.tests, text="slices"
    )
    together = "over {it.count} slices together" if slices.tests > 1 else "one slice"
    return Note(
        "marks",
        sentence(
            "Marked slices are better (▲) or worse (▼) than the other queries in {it.metric} "
            "(permutation test "
            + together
            + ", and neither interval holds the other mean).",
            it=tests,
        ),
    )


def slices_chart(slices: Slices, sentence: str) -> Chart:
    """One dot with its interval per slice, one panel per tag, and the mean of all queries."""
    metric = slices.metrics[0]
    drawn = [
        (row, row.mean)
        for row in slices.rows
        if row.metric == metric and row.mean is not None
    ]
    overall = next(
        (mean for row, _ in drawn if (mean := _overall(row)) is not None), None
    )
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
            label = f"{printable(row.value, 40)}: {number(mean)}"
            label += f" ({row.interval.shown})" if row.interval else ""
            label += f", {plural(row.queries, 'query', 'queries')}"
            label += ", worse than the rest" if row.is_worse else ""
            shape, colour = ("down", "worse") if row.is_worse else ("circle", "accent")
            marks += interval_row(Dot(mean, -at, label, colour, shape, 5), row.interval)
        panels.append(Panel(x, y, marks, printable(by, 60), rows=len(mine)))
    label = f"{metric} for each slice of the queries, with intervals."
    legend = [("down", "worse", "worse than the rest")] * any(
        r.is_worse for r, _ in drawn
    )
    if overall is not None:
        legend.append(("dashed", "even", "mean of all queries"))
    return Chart(sentence, panels, label, shares_axis=True, legend=legend)


def _overall(row: Slice) -> float | None:
    """The mean of all queries, computed from a slice and the rest."""
    if row.mean is None or row.rest is None:
        return None
    return (row.n * row.mean + row.rest_n * row.rest) / (row.n + row.rest_n)
