"""The shape of every answer on a terminal: the verdict, the table, at most three notes."""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.words import plural

MOST_NOTES = 3
"""What is printed below a table unless ``--explain`` asks for everything."""


def print_verdict(sentence: str, console: Console, warnings: Sequence[str] = ()) -> None:
    """The answer in one sentence, what makes it doubtful, and a blank line under both."""
    console.print(Text(sentence, style="bold"))
    for line in warnings:
        console.print(Text(line, style="bold red"))
    console.print()


def print_notes(lines: Sequence[str], console: Console, *, explain: bool = False) -> None:
    """The first notes, or all of them; how many are kept back is always said."""
    if not lines:
        return
    console.print()
    shown = lines if explain else lines[:MOST_NOTES]
    for line in shown:
        console.print(Text(line, style="dim"))
    if rest := len(lines) - len(shown):
        console.print(Text(f"{plural(rest, 'more note')}: --explain", style="dim"))


def bullet(mark: Text, text: Text, *, indent: int) -> Padding:
    """The mark, a blank, and the text beside it, moved in."""
    from rich.table import Table

    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(mark, text)
    return Padding(line, (0, 0, 0, indent))
