"""Levels side by side: metrics as rows, levels as columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.notes import print_notes
from calipers.present.scores import summary_rows, verdict
from calipers.present.terminal import open_table, print_verdict, show_with
from calipers.questions.levels.rule import Levels
from calipers.words import number


@dataclass(frozen=True)
class LevelTable:
    """One row per metric; a cell is the mean and its interval, empty where not computed."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def level_table(levels: Levels) -> LevelTable:
    """The table of means and intervals."""
    names = dict.fromkeys(name for scores in levels.scores.values() for name in scores)
    rows = [(name, tuple(_cell(levels, level, name) for level in levels.scores)) for name in names]
    return LevelTable(tuple(levels.scores), tuple(rows))


def _cell(levels: Levels, level: str, name: str) -> tuple[str, str]:
    summary = levels.scores[level].summaries.get(name)
    if summary is None:
        return "", ""
    if summary.mean is None:
        return "undefined", ""
    ends = summary.interval
    return number(summary.mean), f"{number(ends.low)}–{number(ends.high)}" if ends else ""


def level_notes(levels: Levels) -> list[str]:
    """What the levels say together, and what could not be computed."""
    lines: list[str] = []
    said = (note for scores in levels.scores.values() for note in scores.settings["notes"])
    lines += dict.fromkeys([*said, *levels.not_computed])
    by = {
        scores.settings["match"] for level, scores in levels.scores.items() if level != "document"
    }
    if by == {"id"} and {"evidence", "chunk"} <= set(levels.scores):
        lines.append("The targets are ids of chunks, so evidence and chunk are the same here.")
    return lines


def _right_document(levels: Levels) -> list[str]:
    scores = levels.scores
    if not {"evidence", "document"} <= set(scores):
        return []
    at = [m.k for m in scores["document"].metrics if m.stem == "hit_rate" and m.k is not None]
    if not at:
        return []
    name = f"hit_rate@{max(at)}"
    found, evidence = scores["document"].of(name), scores["evidence"].of(name)
    n = int((found == found).sum())
    wrong = int(((found == 1) & (evidence == 0)).sum())
    return [
        f"Right document, wrong chunk: {wrong:,} of {n:,} "
        f"{'query' if n == 1 else 'queries'} (a document that holds a target is among the first "
        f"{max(at)}, and none of the evidence is)."
    ]


def levels_verdict(levels: Levels) -> str:
    """What is found of the first level, or how often the document is right and the chunk wrong."""
    return next(iter(_right_document(levels)), verdict(next(iter(levels.scores.values()))))


def print_levels(levels: Levels, console: Console, *, explain: bool = False) -> None:
    """What the levels say together, the table, and what must be known about it."""
    print_verdict(levels_verdict(levels), console)
    view = level_table(levels)
    table = open_table("metric", numbers=view.columns)
    for name, cells in view.rows:
        shown = [Text.assemble(mean, "\n", (interval, "dim")) for mean, interval in cells]
        table.add_row(Text(name, style="bold"), *shown)
    console.print(table)
    print_notes([printable(line) for line in level_notes(levels)], console, explain=explain)


def _rows(levels: Levels) -> Iterator[dict[str, Any]]:
    for level, scores in levels.scores.items():
        yield from ({"at": level, **row} for row in summary_rows(scores))


show_with(Levels, print_levels, rows=_rows)
