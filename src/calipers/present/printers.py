"""What each kind of result looks like: the answer of its command, wherever it is shown."""

import io
import shutil
from collections.abc import Callable
from typing import Any

from rich.console import Console

from calipers.errors import InvalidInput
from calipers.model.agreement import Agreement
from calipers.model.alarm import Alarm
from calipers.model.bounds import Bounds
from calipers.model.calls import CallTable
from calipers.model.comparison import Comparison
from calipers.model.corrected import CorrectedScores
from calipers.model.diagnosis import Diagnosis
from calipers.model.diff import Diff
from calipers.model.floor import Floor
from calipers.model.gate import Verdict
from calipers.model.grid import Grid, Planned
from calipers.model.health import Health
from calipers.model.history import History, Shown
from calipers.model.levels import Levels
from calipers.model.misses import Misses
from calipers.model.plan import QueryPlan
from calipers.model.plot import Plot
from calipers.model.report import Report
from calipers.model.resolution import Resolution
from calipers.model.scores import Scores
from calipers.model.slices import Slices
from calipers.model.sweep import Sweep
from calipers.model.trend import Trend
from calipers.present.agreement import print_agreement
from calipers.present.alarm import print_alarm
from calipers.present.answer import headline
from calipers.present.bounds import print_bounds
from calipers.present.calls import print_calls
from calipers.present.compared import print_comparison
from calipers.present.corrected import print_corrected
from calipers.present.diagnosis import print_diagnosis
from calipers.present.diff import print_diff
from calipers.present.findings import print_health
from calipers.present.floor import print_floor
from calipers.present.gate import print_gate
from calipers.present.grid import print_grid, print_plan
from calipers.present.history import print_history
from calipers.present.levels import print_levels
from calipers.present.misses import print_misses
from calipers.present.plain import printable
from calipers.present.plan import plan_lines
from calipers.present.resolution import print_resolution
from calipers.present.shown import print_shown
from calipers.present.slices import print_slices
from calipers.present.sweep import print_sweep
from calipers.present.terminal import print_scores
from calipers.present.trend import print_trend

SCREEN = 40
"""Lines of what ``print`` shows of a result."""
WIDEST = 100


def print_result(value: Any, console: Console) -> None:
    """The answer that the command of a result would print."""
    for kind, show in _PRINTED.items():
        if isinstance(value, kind):
            show(value, console)
            return
    raise InvalidInput(f"A {type(value).__name__} has no looks of its own.")


def as_text(value: Any) -> str:
    """The answer as plain text that fits a screen."""
    lines = _lines(value)
    if len(lines) > SCREEN:
        left = len(lines) - SCREEN + 1
        lines = [*lines[: SCREEN - 1], f"… {left} more lines; to_dict() has everything."]
    return "\n".join(lines)


def first_line(value: Any) -> str:
    """The verdict, which every answer opens with."""
    return " ".join(_lines(value, width=10_000)[:1])


def _lines(value: Any, width: int | None = None) -> list[str]:
    paper = io.StringIO()
    columns = min(shutil.get_terminal_size().columns, WIDEST) if width is None else width
    # Neither colour nor emoji: this text may go to a file, and a name is no picture.
    console = Console(file=paper, width=columns, color_system=None, highlight=False, emoji=False)
    print_result(value, console)
    lines = [line.rstrip() for line in paper.getvalue().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _print_report(report: Report, console: Console) -> None:
    for one in report.systems:
        console.print(headline(one, printable(one.name, 40)), markup=False)
    console.print("save() writes the page (.html) or the short form (.md).", markup=False)


def _print_plot(plot: Plot, console: Console) -> None:
    console.print(f"The chart {plot.chart}; save() draws it to a file.", markup=False)


def _print_plan(plan: QueryPlan, console: Console) -> None:
    for line in plan_lines(plan):
        console.print(line, markup=False)


_PRINTED: dict[type, Callable[[Any, Console], None]] = {
    Agreement: lambda value, console: print_agreement(value, console, written=None),
    Alarm: print_alarm,
    Bounds: print_bounds,
    CallTable: print_calls,
    Comparison: print_comparison,
    CorrectedScores: print_corrected,
    Diagnosis: print_diagnosis,
    Diff: print_diff,
    Floor: print_floor,
    Grid: print_grid,
    Health: print_health,
    History: print_history,
    Levels: print_levels,
    Misses: print_misses,
    Planned: print_plan,
    Plot: _print_plot,
    QueryPlan: _print_plan,
    Report: _print_report,
    Resolution: lambda value, console: print_resolution(value, console, written=None),
    Scores: print_scores,
    Shown: print_shown,
    Slices: print_slices,
    Sweep: print_sweep,
    Trend: print_trend,
    Verdict: print_gate,
}
