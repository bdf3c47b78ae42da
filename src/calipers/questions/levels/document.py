"""Levels side by side: metrics as rows, levels as columns."""

from collections.abc import Iterator
from typing import Any

from calipers.model.document import Cell, Cells, Column, Document, Table
from calipers.present.scores import summary_rows, verdict
from calipers.questions.levels.rule import Levels
from calipers.words import number, plural


def document(levels: Levels) -> Document:
    """What the levels say together, their means, and what could not be computed."""
    names = dict.fromkeys(name for scores in levels.scores.values() for name in scores)
    rows: list[Cells] = [
        (Cell(name, strong=True), *(_cell(levels, level, name) for level in levels.scores))
        for name in names
    ]
    sentence = _right_document(levels) or verdict(next(iter(levels.scores.values())))
    return Document(
        sentence,
        blocks=[Table((Column("metric", words=True), *levels.scores), rows)],
        notes=[*_notes(levels)],
        rows=lambda: _rows(levels),
    )


def _cell(levels: Levels, level: str, name: str) -> str:
    summary = levels.scores[level].summaries.get(name)
    if summary is None:
        return ""
    if summary.mean is None:
        return "undefined"
    ends = f"  {summary.interval.shown}" if summary.interval else ""
    return f"{number(summary.mean)}{ends}"


def _notes(levels: Levels) -> Iterator[str]:
    """How the input was read, and which levels are missing or the same."""
    said = (note for scores in levels.scores.values() for note in scores.settings["notes"])
    yield from dict.fromkeys([*said, *levels.not_computed])
    by = {
        scores.settings["match"] for level, scores in levels.scores.items() if level != "document"
    }
    if by == {"id"} and {"evidence", "chunk"} <= set(levels.scores):
        yield "The targets are ids of chunks, so evidence and chunk are the same here."


def _right_document(levels: Levels) -> str | None:
    """How often the document is right and the chunk wrong."""
    scores = levels.scores
    if not {"evidence", "document"} <= set(scores):
        return None
    at = [m.k for m in scores["document"].metrics if m.stem == "hit_rate" and m.k is not None]
    if not at:
        return None
    name = f"hit_rate@{max(at)}"
    found, evidence = scores["document"].of(name), scores["evidence"].of(name)
    n = int((found == found).sum())
    wrong = int(((found == 1) & (evidence == 0)).sum())
    return f"Right document, wrong chunk: {wrong:,} of {plural(n, 'query', 'queries')}."


def _rows(levels: Levels) -> Iterator[dict[str, Any]]:
    for level, scores in levels.scores.items():
        yield from ({"at": level, **row} for row in summary_rows(scores))
