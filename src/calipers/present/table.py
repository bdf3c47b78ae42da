"""Tables: on a terminal without lines, and as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

ROOM = 2
"""Blanks between two columns."""


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table without lines: names on the left, all else flush right, nothing wrapped or cut.

    It looks as rich would show it, and is there in a fifth of the time.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Text]]

    @cached_property
    def widths(self) -> list[int]:
        """The characters that each column takes, with the room behind it."""
        columns = zip(map(Text, self.heads), *self.rows, strict=True)
        widest = [
            max(cell_len(line.plain) for cell in column for line in _lines(cell))
            for column in columns
        ]
        return [width + ROOM for width in widest[:-1]] + widest[-1:]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Line by line."""
        for row in ([Text(head, "bold") for head in self.heads], *self.rows):
            for cells in zip_longest(*map(_lines, row), fillvalue=Text()):
                line = Text(no_wrap=True)
                for place, (cell, width) in enumerate(zip(cells, self.widths, strict=True)):
                    behind = ROOM if place < len(cells) - 1 else 0
                    left = " " * (width - behind - cell_len(cell.plain))
                    for part in (left, cell) if place else (cell, left):
                        line.append(part)
                    line.append(" " * behind)
                yield line

    def as_table(self) -> "Table":
        """The same as the library has it."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, ROOM, 0, 0), header_style="bold")
        for place, head in enumerate(self.heads):
            table.add_column(head, justify="right" if place else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table


def _lines(text: Text) -> list[Text]:
    return list(text.split("\n", allow_blank=True)) if "\n" in text.plain else [text]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV, full precision; what is undefined is an empty cell.

    >>> csv_text(("k", "recall"), [(1, 0.5), (2, None)])
    'k,recall\\n1,0.5\\n2,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
