"""A line with a mark in front, whose further lines stand under its text and not under the mark."""

from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def bullet(mark: Text, text: Text, *, indent: int) -> Padding:
    """The mark, a blank, and the text beside it, moved in."""
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(mark, text)
    return Padding(line, (0, 0, 0, indent))
