"""What answers on a terminal are made of: the verdict, tables, notes; results print themselves."""

import csv
import io
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from calipers.model.claim import Claim, Standing
from calipers.model.result import CHARTS, LOOKS, Looks
from calipers.present.escape import for_markdown, printable
from calipers.words import plural

if TYPE_CHECKING:
    from rich.table import Table


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

    ``chart`` makes the one chart of the answer, and names it; ``html`` is what a notebook shows in
    place of the tables and sentences of the terminal.
    """

    def page(value: Any) -> str:
        # A prompt needs none of what makes a page.
        from calipers.present.notebook import as_html, chart_html

        drawn = chart_html(lambda: chart[0](value), chart[1]) if chart else ""
        return as_html(value, printer) + drawn

    def save_chart(value: Any, path: str) -> None:
        from calipers.present.charts import write_chart

        write_chart(value, path)

    if chart:
        CHARTS[kind] = chart
    LOOKS[kind] = Looks(
        lambda value: as_text(value, printer),
        lambda value: first_line(value, printer),
        html or page,
        save_chart,
    )


def as_text(value: Any, printer: Printer) -> str:
    """The answer as plain text that fits a screen."""
    lines = _printed(value, printer)
    if len(lines) > SCREEN:
        left = len(lines) - SCREEN + 1
        lines = [*lines[: SCREEN - 1], f"… {left} more lines; to_dict() has everything."]
    return "\n".join(lines)


def first_line(value: Any, printer: Printer) -> str:
    """The verdict, which every answer opens with."""
    return " ".join(_printed(value, printer, width=10_000)[:1])


def _printed(value: Any, printer: Printer, width: int | None = None) -> list[str]:
    paper = io.StringIO()
    columns = min(shutil.get_terminal_size().columns, WIDEST) if width is None else width
    # Neither colour nor emoji: this text may go to a file, and a name is no picture.
    console = Console(file=paper, width=columns, color_system=None, highlight=False, emoji=False)
    printer(value, console)
    lines = [line.rstrip() for line in paper.getvalue().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


STYLES: dict[Standing, str] = {
    "better": "bold green",
    "worse": "bold red",
    "cannot_tell": "bold yellow",
    "passed": "bold green",
    "failed": "bold red",
}
"""A colour helps who sees it; the sign and the words say the same without."""


def print_claims(claims: Sequence[Claim], console: Console) -> None:
    """Each fact with its standing; under it what is possible and what would settle it."""
    for claim in claims:
        line = Text(f"{claim.sign} ", STYLES[claim.standing])
        line.append(printable(claim.line[2:]), "bold")
        console.print(line)
        for further in (claim.possible, claim.next):
            if further:
                console.print(Text(f"  {printable(further)}"))


def claims_markdown(claims: Sequence[Claim]) -> str:
    """The same as a list."""
    lines = []
    for claim in claims:
        further = " ".join(for_markdown(one) for one in (claim.possible, claim.next) if one)
        lines.append(f"- **{for_markdown(claim.line)}**{'. ' + further if further else ''}")
    return "\n".join(lines) + "\n" if lines else ""


def claims_html(claims: Sequence[Claim]) -> str:
    """The same as a part of a page."""
    items = []
    for claim in claims:
        further = "".join(
            f"<br>{escape(printable(one))}" for one in (claim.possible, claim.next) if one
        )
        sign = f'<span class="sign {claim.standing}">{claim.sign}</span>'
        items.append(
            f"<li>{sign} <strong>{escape(printable(claim.line[2:]))}</strong>{further}</li>"
        )
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""
