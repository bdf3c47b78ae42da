"""A grid as a document: which combination is best, and how the runs went."""

from dataclasses import replace

from calipers.live.document import duration
from calipers.model.document import Cell, Cells, Column, Document, Note, Table
from calipers.questions.compare.document import document as comparison_document
from calipers.questions.grid.result import Grid, Planned
from calipers.words import listed, plural


def plan_document(planned: Planned) -> Document:
    """How much is left to ask, and every combination with its file."""
    left = sum(planned.questions - done for done in planned.done)
    pairs = list(zip(planned.combinations, planned.done, strict=True))
    table: list[Cells] = [
        (one.name, str(one.k), f"{done:,} of {planned.questions:,}", str(one.output))
        for one, done in pairs
    ]
    columns = (Column("combination", words=True), "k", "done", Column("run", words=True))
    return Document(
        f"{plural(len(planned.combinations), 'combination')}, "
        f"{plural(planned.questions, 'question')} each; {left:,} left to ask. Nothing was run.",
        blocks=[Table(columns, table)],
        rows=lambda: (
            {"combination": one.name, "k": one.k, "done": done, "run": str(one.output)}
            for one, done in pairs
        ),
    )


def document(grid: Grid) -> Document:
    """The comparison of all combinations, how their runs went, and what failed."""
    whole = comparison_document(grid.comparison)
    nothing = _without_effect(grid)
    moved = any(one.wins or one.losses for one in grid.comparison.differences)
    failed = [
        Note("failed", f"{name} is not in the table: {sentence}")
        for name, sentence in grid.failures.items()
    ]
    without = [Note("missing", nothing)] if nothing and moved else []
    if nothing and not moved:
        whole = replace(whole, sentence=nothing)
    return replace(
        whole, blocks=[*whole.blocks, _runs(grid)], notes=[*failed, *without, *whole.notes]
    )


def _without_effect(grid: Grid) -> str:
    """That a parameter does nothing is an answer: what it costs can be saved."""
    if not (names := grid.without_effect):
        return ""
    verb = "changes" if len(names) == 1 else "change"
    queries = plural(grid.comparison.queries.height, "query", "queries")
    return f"{listed(names)} {verb} nothing: all values score the same on each of the {queries}."


def _runs(grid: Grid) -> Table:
    table: list[Cells] = []
    for one in grid.combinations:
        name, report = Cell(one.name, strong=True), grid.reports.get(one.name)
        if report is None:
            table.append((name, str(one.k), "not run", "", "", ""))
            continue
        times = [duration(report["latency_ms"].get(at)) for at in ("p50", "p95")]
        counts = (f"{report['answered']:,}", f"{report['failed']:,}")
        table.append((name, str(one.k), *counts, *times))
    columns = (Column("combination", words=True), "k", "answered", "failed", "p50", "p95")
    return Table(columns, table, "Runs")
