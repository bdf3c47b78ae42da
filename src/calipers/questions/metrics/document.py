"""Metrics as a document: a line each, or all that is known of them."""

from collections.abc import Iterator
from typing import Any

from calipers.measures import definitions
from calipers.model.document import Block, Cell, Column, Document, Lines, Note, Table
from calipers.questions.metrics.settings import MetricList

BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": ""}


def document(listing: MetricList) -> Document:
    """One line per metric; one alone with all that is known of it."""
    rows = [
        (
            Cell(f"{one['name']}{'@k' if '@k' in one['grammar'] else ''}", strong=True),
            one["formula"],
        )
        for one in listing
    ]
    table = Table((Column("metric", words=True), Column("formula", words=True)), rows)
    alone = len(listing) == 1
    blocks: list[Block] = [] if alone else [table]
    blocks += (Lines([*_about(one)], one["grammar"], detail=not alone) for one in listing)
    sentence = f"{listing[0]['name']}." if alone else f"{len(listing)} metrics."
    notes = []
    if not alone:
        others = len(listing) < len(definitions())
        first = "`calipers metrics --all` lists the others, " if others else ""
        notes.append(Note("next", f"{first}`calipers metrics NAME` explains one."))
    return Document(sentence, blocks=blocks, notes=notes, rows=lambda: map(_row, listing))


def _about(metric: dict[str, Any]) -> Iterator[str]:
    low, high = metric["bounds"]
    bounds = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
    yield ", ".join(filter(None, (bounds, BETTER[metric["better"]])))
    yield from filter(None, (metric["formula"], metric["notes"]))
    if metric["parameters"]:
        words = "; ".join(
            f"{name}: {one['allowed']}"
            + ("" if one["default"] is None else f" ({one['default']} unless given)")
            for name, one in metric["parameters"].items()
        )
        yield f"Parameters: {words}."
    if metric["also_called"]:
        yield f"Also called {', '.join(metric['also_called'])}."


def _row(metric: dict[str, Any]) -> dict[str, Any]:
    low, high = (None if end is None else float(end) for end in metric["bounds"])
    known = {name: metric[name] for name in ("name", "grammar", "better", "formula")}
    return {**known, "lowest": low, "highest": high}
