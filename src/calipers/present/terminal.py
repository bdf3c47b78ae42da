"""What answers on a terminal are made of: the verdict, tables, claims; results print themselves."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.errors import InvalidInput
from calipers.model.claim import Claim, Standing
from calipers.model.result import LOOKS, Looks, plain
from calipers.present.csv import csv_text as csv_text
from calipers.present.escape import for_markdown, printable
from calipers.present.notes import PythonConsole
from calipers.words import commands_in, whole_commands

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table


def print_verdict(sentence: str, console: Console) -> None:
    """The answer in one sentence, and a blank line under it."""
    console.print(Text(sentence, style="bold"))
    console.print()


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


def open_table(*words: str | Text, numbers: Iterable[str] = ()) -> "Table":
    """A table without lines: columns of words, which are folded, then columns of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, ROOM, 0, 0), header_style="bold")
    for one in words:
        table.add_column(one, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


WIDTH = 80
"""Characters of a line of a result as text, whatever the terminal: it may go to a file."""
UNBROKEN = 10_000
"""A line as long as it likes."""

Printer: TypeAlias = Callable[..., None]
"""Prints a result on a console; with ``explain`` everything that is known of it."""
Rows: TypeAlias = "Iterable[Any] | pl.DataFrame"


def show_with(
    kind: type,
    printer: Printer,
    *,
    chart: Callable[[Any], Any] | None = None,
    html: Callable[[Any], str] | None = None,
    rows: Callable[[Any], Rows] | None = None,
) -> None:
    """Let a kind of result show itself by what its command prints.

    ``chart`` makes the one chart of the answer; ``html`` is what a notebook shows in
    place of the tables and sentences of the terminal; ``rows`` are what it holds as a table.
    """

    def page(value: Any) -> str:
        # A prompt needs none of what makes a page.
        from calipers.present.chart_output import in_notebook
        from calipers.present.notebook import as_html

        return as_html(value, printer) + (in_notebook(chart(value)) if chart else "")

    def save_chart(value: Any, path: str) -> None:
        from calipers.present.chart_output import write_chart

        if chart is None:
            raise InvalidInput(f"There is no chart of a {kind.__name__}.")
        write_chart(chart(value), path)

    LOOKS[kind] = Looks(
        printer,
        lambda value, explain: as_text(value, printer, explain=explain),
        lambda value: first_line(value, printer),
        html or page,
        save_chart,
        rows and (lambda value: as_frame(rows(value))),
    )


def show_lines(
    kind: type,
    lines: Callable[[Any], Sequence[str]],
    *,
    broken: bool = False,
    table: bool = True,
    rows: Callable[[Any], Rows] | None = None,
) -> None:
    """The same for a result that is a few sentences, unbroken unless they hold no path.

    ``table``: a notebook shows the rows under them, too.
    """

    def print_sentences(value: Any, console: Console) -> None:
        for line in lines(value):
            console.print(Text(line), soft_wrap=not broken)

    def page(value: Any) -> str:
        from calipers.present.notebook import as_html, frame_html

        said = as_html(value, print_sentences)
        return said + frame_html(as_frame(rows(value))) if rows and table else said

    show_with(kind, print_sentences, html=page, rows=rows)


def as_text(value: Any, printer: Printer, *, explain: bool = False) -> str:
    """The answer as plain text."""
    # Most of what is short has nothing to keep back.
    takes = "explain" in signature(printer).parameters
    options = {"explain": True} if explain and takes else {}
    return "\n".join(_printed(value, printer, WIDTH, **options))


def first_line(value: Any, printer: Printer) -> str:
    """The verdict, which every answer opens with."""
    return " ".join(_printed(value, printer, UNBROKEN)[:1])


def _printed(value: Any, printer: Printer, width: int, **options: Any) -> list[str]:
    console = PythonConsole(width)
    printer(value, console, **options)
    written = cast(io.StringIO, console.file).getvalue()
    lines = [line.rstrip() for line in written.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def as_frame(rows: Rows) -> "pl.DataFrame":
    """Results, or records, as a table: what stands within one gets a column of its own."""
    import polars as pl

    if isinstance(rows, pl.DataFrame):
        return rows
    return pl.DataFrame([flat(plain(one)) for one in rows], infer_schema_length=None, strict=False)


def flat(record: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """A record without records in it.

    >>> flat({"metric": "mrr", "interval": {"low": 0.1, "high": 0.4}})
    {'metric': 'mrr', 'interval_low': 0.1, 'interval_high': 0.4}
    """
    found: dict[str, Any] = {}
    for name, value in record.items():
        inner = isinstance(value, Mapping)
        found |= flat(value, f"{within}{name}_") if inner else {within + name: value}
    return found


STYLES: dict[Standing, str] = {
    "better": "bold green",
    "worse": "bold red",
    "no clear difference": "bold yellow",
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
        if claim.range:
            console.print(Text(f"  {printable(claim.range)}"))
        if claim.next:
            console.print(Text(f"  {printable(claim.next)}"))
        # Each command whole on a line of its own, to be pasted.
        for one in commands_in(claim.next or ""):
            console.print(Text(f"    {printable(one)}"), soft_wrap=True)


def claims_markdown(claims: Sequence[Claim]) -> str:
    """The same as a list."""
    lines = []
    for claim in claims:
        said = (claim.range, claim.next and whole_commands(claim.next))
        further = " ".join(for_markdown(one) for one in said if one)
        lines.append(f"- **{for_markdown(claim.line)}**{'. ' + further if further else ''}")
    return "\n".join(lines) + "\n" if lines else ""


def claims_html(claims: Sequence[Claim]) -> str:
    """The same as a part of a page."""
    from html import escape  # a terminal needs none of its tables

    items = []
    for claim in claims:
        further = "".join(
            f"<br>{escape(printable(one))}"
            for one in (claim.range, claim.next and whole_commands(claim.next))
            if one
        )
        sign = f'<span class="sign {claim.standing}">{claim.sign}</span>'
        items.append(
            f"<li>{sign} <strong>{escape(printable(claim.line[2:]))}</strong>{further}</li>"
        )
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""
