"""Results as a notebook shows them: the answer as tables, and a chart where one helps."""

import io
from collections.abc import Callable
from html import escape
from itertools import pairwise
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calipers.errors import MissingExtra
from calipers.present.charts import Spec, inline_svg
from calipers.present.escape import clean

WIDTH = 160
"""Characters that a table may take beside itself: a notebook is wider than a terminal."""
TAGS = {"bold": "strong", "dim": "small"}


def as_html(value: Any, printer: Callable[[Any, Console], None]) -> str:
    """What a command prints of a result, as the tables and sentences of a page."""
    paper = PaperConsole()
    printer(value, paper)
    return paper.html


def chart_html(make: Callable[[], Spec], label: str) -> str:
    """The chart, or why there is none: a table without a chart is still a table."""
    try:
        return inline_svg(make(), escape(label))
    except MissingExtra as error:
        return f"<p>{escape(str(error))}</p>"


class PaperConsole(Console):
    """A console on which the tables and sentences of a terminal become those of a page."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=WIDTH, color_system=None)
        self._parts: list[str] = []

    @property
    def html(self) -> str:
        """Everything that was printed."""
        return "".join(self._parts)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ARG002 - as rich has it
        """Keep what would be printed, as markup."""
        self._parts += map(_block, objects)


def _block(value: Any) -> str:
    if isinstance(value, Padding):
        return _block(value.renderable)
    if isinstance(value, Group):
        return "".join(map(_block, value.renderables))
    if isinstance(value, Table):
        return _table(value)
    if hasattr(value, "as_table"):
        return _table(value.as_table())
    inner = _inline(value)
    return f"<p>{inner}</p>" if inner else ""


def _table(table: Table) -> str:
    columns = list(table.columns)
    if not table.show_header:
        lines = zip(*(map(_inline, column.cells) for column in columns), strict=True)
        return "".join(f"<p>{' '.join(cells)}</p>" for cells in lines)
    heads = "".join(f"<th>{_inline(column.header)}</th>" for column in columns)
    rows = zip(*(column.cells for column in columns), strict=True)
    body = "".join(f"<tr>{''.join(map(_cell, columns, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _cell(column: Any, value: Any) -> str:
    side = "right" if column.justify == "right" else "left"
    return f'<td style="text-align: {side}">{_inline(value)}</td>'


def _inline(value: Any) -> str:
    """A text of the terminal with what is bold or dim in it; all of it escaped."""
    if not isinstance(value, Text):
        return _escaped(str(value))
    whole = str(value.style)
    ends = sorted({0, len(value.plain), *(at for s in value.spans for at in (s.start, s.end))})
    parts = []
    for start, end in pairwise(ends):
        styles = [str(s.style) for s in value.spans if s.start <= start and end <= s.end]
        parts.append(_styled(value.plain[start:end], " ".join([whole, *styles])))
    return "".join(parts)


def _styled(text: str, style: str) -> str:
    inner = _escaped(text)
    for word, tag in TAGS.items():
        if word in style.split() and text.strip():
            inner = f"<{tag}>{inner}</{tag}>"
    return inner


def _escaped(text: str) -> str:
    return escape(clean(text)).replace("\n", "<br>")
