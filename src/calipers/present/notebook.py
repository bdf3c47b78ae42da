"""Results as a notebook shows them: the answer as tables, and a chart where one helps.

A notebook may be light or dark, so that no colour is fixed but that of the signs, which is seen on
both.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import polars as pl
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from calipers.present.escape import clean, printable
from calipers.present.notes import MoreWith, PythonConsole
from calipers.words import number

WIDTH = 160
"""Characters that a table may take beside itself: a notebook is wider than a terminal."""
MOST_ROWS = 10
"""Rows that stand under a few sentences."""
LONGEST = 160
"""Characters of a text in a cell."""
TAGS = {"bold": "strong", "dim": "small"}
COLOURS = {"green": "#218c40", "red": "#d9443a", "yellow": "#a37000", "cyan": "#2f7bd6"}
"""Of middling lightness: each has a contrast of 4.2 and more with white and with #111."""
LINE = "margin: 0.2em 0; white-space: pre-wrap"


def as_html(value: Any, printer: Callable[[Any, Console], None]) -> str:
    """What a command prints of a result, as the tables and sentences of a page."""
    paper = PaperConsole()
    printer(value, paper)
    return paper.html


def frame_html(frame: pl.DataFrame, most: int = MOST_ROWS) -> str:
    """The first rows of a table, without what is empty or a table of its own."""
    plain = [one.name for one in frame if not one.dtype.is_nested() and one.null_count() < len(one)]
    table = Table()
    for name in plain:
        table.add_column(Text(name), justify="right" if frame[name].dtype.is_numeric() else "left")
    for row in frame.select(plain).head(most).iter_rows():
        table.add_row(*(Text(_short(cell)) for cell in row))
    left = frame.height - most
    more = _line(f"<small>… and {left:,} more rows: .to_polars()</small>") if left > 0 else ""
    return _table(table, 0) + more if plain else ""


def _short(cell: Any) -> str:
    if isinstance(cell, float):
        return number(cell)
    return "" if cell is None else printable(str(cell), LONGEST)


class PaperConsole(PythonConsole):
    """A console on which the tables and sentences of a terminal become those of a page."""

    def __init__(self) -> None:
        super().__init__(WIDTH)
        self._parts: list[str] = []

    @property
    def html(self) -> str:
        """Everything that was printed."""
        return "".join(self._parts)

    def print(self, *objects: Any, **options: Any) -> None:
        """Keep what would be printed, as markup."""
        for one in objects:
            if isinstance(one, Text) and options.get("no_wrap"):
                one.no_wrap = True
            self._parts.append(_block(one, self))


def _block(value: Any, console: Console, indent: int = 0) -> str:
    if isinstance(value, Padding):
        return _block(value.renderable, console, indent + value.left)
    if isinstance(value, Group):
        return "".join(_block(one, console, indent) for one in value.renderables)
    if isinstance(value, MoreWith):
        return _line(f"<small>{_escaped(f'{value.words}: {value.python}')}</small>")
    if isinstance(value, Table):
        return _table(value, indent)
    if hasattr(value, "as_table"):
        return _table(value.as_table(), indent)
    return _line(_inline(value), indent, aligned=isinstance(value, Text) and bool(value.no_wrap))


def _line(inner: str, indent: int = 0, *, aligned: bool = False) -> str:
    """A paragraph; one that is not to be broken may be aligned with others by its blanks."""
    looks = [LINE, *([f"margin-left: {indent / 2:g}em"] if indent else [])]
    looks += ["font-family: monospace"] if aligned else []
    return f'<p style="{"; ".join(looks)}">{inner}</p>' if inner.strip() else ""


def _table(table: Table, indent: int) -> str:
    columns = list(table.columns)
    if not table.show_header:
        lines = zip(*(map(_inline, column.cells) for column in columns), strict=True)
        return "".join(_line(" ".join(cells), indent) for cells in lines)
    heads = _row("th", columns, [column.header for column in columns])
    cells = zip(*(column.cells for column in columns), strict=True)
    body = "".join(_row("td", columns, row) for row in cells)
    return f"<table><thead>{heads}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, columns: Sequence[Column], cells: Iterable[Any]) -> str:
    made = []
    for column, value in zip(columns, cells, strict=True):
        side = "right" if column.justify == "right" else "left"
        looks = f"text-align: {side}; vertical-align: top"
        made.append(f'<{tag} style="{looks}">{_inline(value)}</{tag}>')
    return f"<tr>{''.join(made)}</tr>"


def _inline(value: Any) -> str:
    """A text of the terminal with what is bold, dim or coloured in it; all of it escaped."""
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
    inner, words = _escaped(text), style.split()
    if not text.strip():
        return inner
    for word, tag in TAGS.items():
        if word in words:
            inner = f"<{tag}>{inner}</{tag}>"
    colour = next((COLOURS[word] for word in words if word in COLOURS), None)
    return f'<span style="color: {colour}">{inner}</span>' if colour else inner


def _escaped(text: str) -> str:
    return escape(clean(text)).replace("\n", "<br>")
