"""What each kind of result looks like: the answer of its command, wherever it is shown."""

import io
import shutil
from collections.abc import Callable
from typing import Any

from rich.console import Console

from calipers.errors import InvalidInput
from calipers.labels.agreement_result import Agreement
from calipers.labels.agreement_show import print_agreement
from calipers.model.health import Health
from calipers.model.plan import QueryPlan
from calipers.model.scores import Scores
from calipers.present.answer import headline
from calipers.present.plain import printable
from calipers.questions.alarm.result import Alarm
from calipers.questions.alarm.show import print_alarm
from calipers.questions.audit.show import print_health
from calipers.questions.bounds.result import Bounds
from calipers.questions.bounds.show import print_bounds
from calipers.questions.calls.result import CallTable
from calipers.questions.calls.show import print_calls
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.show import print_comparison
from calipers.questions.corrected.result import CorrectedScores
from calipers.questions.corrected.show import print_corrected
from calipers.questions.diagnose.result import Diagnosis
from calipers.questions.diagnose.show import print_diagnosis
from calipers.questions.diff.result import Diff
from calipers.questions.diff.show import print_diff
from calipers.questions.evaluate.show import print_scores
from calipers.questions.floor.result import Floor
from calipers.questions.floor.show import print_floor
from calipers.questions.gate.result import Verdict
from calipers.questions.gate.show import print_gate
from calipers.questions.grid.result import Grid, Planned
from calipers.questions.grid.show import print_grid, print_plan
from calipers.questions.history.result import History, Shown
from calipers.questions.history.show import print_history
from calipers.questions.history.shown import print_shown
from calipers.questions.levels.result import Levels
from calipers.questions.levels.show import print_levels
from calipers.questions.misses.result import Misses
from calipers.questions.misses.show import print_misses
from calipers.questions.plan.show import plan_lines
from calipers.questions.plot.result import Plot
from calipers.questions.report.result import Report
from calipers.questions.resolve.result import Resolution
from calipers.questions.resolve.show import print_resolution
from calipers.questions.slices.result import Slices
from calipers.questions.slices.show import print_slices
from calipers.questions.sweep.result import Sweep
from calipers.questions.sweep.show import print_sweep
from calipers.questions.trend.result import Trend
from calipers.questions.trend.show import print_trend

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
