"""The answer that a command prints, as the text and the page of its result."""

import io
import shutil
from collections.abc import Callable
from typing import Any, TypeAlias

from rich.console import Console

from calipers.model.result import LOOKS, Looks

SCREEN = 40
"""Lines of what ``print`` shows of a result."""
WIDEST = 100

Printer: TypeAlias = Callable[[Any, Console], None]


def show_with(
    kind: type,
    printer: Printer,
    *,
    chart: tuple[Callable[[Any], dict[str, Any]], str] | None = None,
    html: Callable[[Any], str] | None = None,
) -> None:
    """Let a kind of result show itself by what its command prints.

    ``chart`` makes the chart that a notebook adds, and names it; ``html`` is what a notebook shows
    in place of the tables and sentences of the terminal.
    """

    def page(value: Any) -> str:
        # A prompt needs none of what makes a page.
        from calipers.present.notebook import as_html, chart_html

        drawn = chart_html(lambda: chart[0](value), chart[1]) if chart else ""
        return as_html(value, printer) + drawn

    LOOKS[kind] = Looks(
        lambda value: as_text(value, printer),
        lambda value: first_line(value, printer),
        html or page,
    )


def as_text(value: Any, printer: Printer) -> str:
    """The answer as plain text that fits a screen."""
    lines = _lines(value, printer)
    if len(lines) > SCREEN:
        left = len(lines) - SCREEN + 1
        lines = [*lines[: SCREEN - 1], f"… {left} more lines; to_dict() has everything."]
    return "\n".join(lines)


def first_line(value: Any, printer: Printer) -> str:
    """The verdict, which every answer opens with."""
    return " ".join(_lines(value, printer, width=10_000)[:1])


def _lines(value: Any, printer: Printer, width: int | None = None) -> list[str]:
    paper = io.StringIO()
    columns = min(shutil.get_terminal_size().columns, WIDEST) if width is None else width
    # Neither colour nor emoji: this text may go to a file, and a name is no picture.
    console = Console(file=paper, width=columns, color_system=None, highlight=False, emoji=False)
    printer(value, console)
    lines = [line.rstrip() for line in paper.getvalue().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines
