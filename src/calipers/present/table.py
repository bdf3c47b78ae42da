"""The score table as a view model: metrics as rows, cut-offs as columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calipers.model.summary import Summary

if TYPE_CHECKING:
    # Whoever only wants a number formatted need not load the tables' library.
    from calipers.model.scores import Scores

WHOLE = "all"
"""The heading of the column for metrics without a cut-off."""


@dataclass(frozen=True)
class Cell:
    """One metric at one cut-off, ready to show."""

    mean: str
    interval: str


@dataclass(frozen=True)
class ScoreTable:
    """Rows of cells; None where a metric was not asked for at that cut-off."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def score_table(scores: "Scores") -> ScoreTable:
    """The table of means and intervals."""
    ks = sorted({metric.k for metric in scores.metrics if metric.k is not None})
    keys: list[int | None] = [*ks]
    if any(metric.k is None for metric in scores.metrics) or scores.weights:
        keys.append(None)
    rows: dict[str, dict[int | None, Cell]] = {}
    for metric in scores.metrics:
        rows.setdefault(metric.stem, {})[metric.k] = _cell(scores[metric.name])
    if scores.weights:
        rows["score"] = {None: _cell(scores["score"])}
    return ScoreTable(
        tuple(WHOLE if k is None else f"@{k}" for k in keys),
        tuple((stem, tuple(cells.get(k) for k in keys)) for stem, cells in rows.items()),
    )


def _cell(summary: Summary) -> Cell:
    if summary.mean is None:
        return Cell("undefined", "")
    interval = summary.interval
    shown = f"{number(interval.low)}–{number(interval.high)}" if interval else ""
    return Cell(number(summary.mean), shown)


def number(value: float) -> str:
    """Three places for shares, fewer for large counts."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
