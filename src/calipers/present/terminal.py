"""Render a document on a terminal, and as plain text in Python."""

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from calipers.model.claim import SIGNS, Standing
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Column,
    Document,
    Lines,
    Table,
    in_order,
    short_notes,
)
from calipers.present.escape import ASCII, printable
from calipers.words import plural, whole_commands

if TYPE_CHECKING:
    from calipers.model.claim import Claim

STYLES: dict[Standing, str] = {
    "better": "bold green",
    "worse": "bold red",
    "no clear difference": "bold yellow",
    "passed": "bold green",
    "failed": "bold red",
}
"""Colours only repeat what the sign and the words say."""
WIDTH = 80
"""The width of plain text, whatever the terminal, as it may go to a file."""
COMMAND = "`calipers "
"""How a command begins in a sentence."""
_WORDS = re.compile(r"`calipers [^`]*`\S*|\S+")
GAP = 2
"""Spaces between two columns."""
NARROWEST = 12
"""The least width of a text column."""


class PythonConsole(Console):
    """A console that captures its output, for results in Python.

    Never the console of a notebook: there rich would display each piece at once.
    """

    def __init__(self, width: int) -> None:
        # No colour and no emoji: this text may go to a file, and names may look like emoji codes.
        super().__init__(
            file=io.StringIO(),
            width=width,
            color_system=None,
            highlight=False,
            emoji=False,
            force_jupyter=False,
            legacy_windows=False,
        )


def as_text(document: Document, *, explain: bool = False) -> str:
    """The output of the command, as plain text."""
    from calipers.present.retold import with_keywords  # only Python needs it

    console = PythonConsole(WIDTH)
    print_document(with_keywords(document), console, explain=explain)
    written = cast(io.StringIO, console.file).getvalue()
    return "\n".join(line.rstrip() for line in written.split("\n")).rstrip("\n")


def first_line(document: Document) -> str:
    """The sign and the sentence that begin every output."""
    sign = f"{SIGNS[document.standing]} " if document.standing else ""
    return sign + printable(whole_commands(document.sentence))


def first_line_in_python(document: Document) -> str:
    """The same with keywords in place of options."""
    from calipers.present.retold import with_keywords  # only Python needs it

    return first_line(with_keywords(document))


def print_document(
    document: Document, console: Console, *, explain: bool = False
) -> None:
    """Print the sentence, the table and the notes; with ``explain`` everything."""
    _Page(console).show(document, explain=explain)


class _Page:
    """Prints a document on one console, with the characters that it supports."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.in_python = isinstance(console, PythonConsole)  # Python has no options
        try:
            "▲▼✓✗−–…".encode(console.encoding or "utf-8")
            self.is_plain = False
        except (UnicodeError, LookupError):
            self.is_plain = True

    def show(self, document: Document, *, explain: bool) -> None:
        self.sentence(document.standing, document.sentence)
        for block in document.blocks:
            if explain or not getattr(block, "detail", False):
                self.block(block)
        self.notes(document, explain=explain)

    def text(self, text: str) -> str:
        """A text that this console can print, without control characters."""
        text = printable(text)
        return text.translate(ASCII) if self.is_plain else text

    def print(self, line: Text | str, *, whole: bool = False) -> None:
        """Print one line; ``whole`` lines are never broken, so that a command can be pasted."""
        self.console.print(line, soft_wrap=whole)

    def sentence(self, standing: Standing | None, sentence: str) -> None:
        line = Text()
        if standing:
            line.append(f"{self.text(SIGNS[standing])} ", STYLES[standing])
        self.print(line.append(self.pasted(sentence), "bold"), whole=COMMAND in sentence)

    def block(self, block: Block) -> None:
        if isinstance(block, Answers):
            for claim in block.claims:
                self.claim(claim)
        elif isinstance(block, Lines):
            self.head(block.title)
            for one in block.lines:
                self.line(one, folded=block.prose)
        elif isinstance(block, Table):
            self.head(block.title)
            for line in self.table(block):
                if line.no_wrap:
                    self.print(line, whole=True)
                else:
                    self.console.print(
                        line, no_wrap=True, overflow="ellipsis", crop=False
                    )
            if block.more:
                self.print(Text(self.text(block.more), "dim"))

    def line(self, text: str, *, folded: bool) -> None:
        """Print one line of a list, cut at the edge or wrapped with an indent."""
        if not folded:
            if COMMAND in text:
                self.print(self.pasted(text), whole=True)
            else:
                self.console.print(
                    Text(self.text(text)), no_wrap=True, overflow="ellipsis"
                )
            return
        inner = text.lstrip(" →·")
        before = self.text(text[: len(text) - len(inner)])
        room = max(self.console.width - len(before), NARROWEST)
        for at, part in enumerate(
            self.folded(Text(self.text(whole_commands(inner))), room)
        ):
            line = Text(before if not at else " " * len(before)).append(part)
            self.print(line, whole=part.no_wrap or False)

    def folded(self, text: Text, room: int) -> list[Text]:
        """Wrap a sentence; a command in it stays on one line."""
        if COMMAND not in text.plain:
            return list(text.wrap(self.console, room))
        lines = [Text(style=text.style)]
        for word in _WORDS.findall(text.plain):
            is_command = word.startswith(COMMAND)
            shown = word if self.in_python or not is_command else word.replace("`", "")
            for part in (
                [Text(shown)] if is_command else Text(shown).wrap(self.console, room)
            ):
                if lines[-1] and cell_len(f"{lines[-1]} {part}") > room:
                    lines.append(Text(style=text.style))
                lines[-1].append(f" {part}" if lines[-1] else part.plain)
                lines[-1].no_wrap = lines[-1].no_wrap or is_command
        return lines

    def head(self, title: str) -> None:
        self.print("")
        if title:
            self.print(Text(self.text(title), "bold"))

    def claim(self, claim: "Claim") -> None:
        self.sentence(claim.standing, claim.fact)
        for further in (claim.range, claim.next):
            if further:
                self.advice(f"  {further}")

    def advice(self, text: str) -> None:
        """Print a sentence with its command complete and unbroken, ready to paste."""
        self.print(Text(self.pasted(text)), whole=COMMAND in text)

    def pasted(self, text: str) -> str:
        """A text for this console with every command in it ready to paste."""
        shown = whole_commands(text)
        if COMMAND in text and not self.in_python:
            shown = shown.replace("`", "")
        return self.text(shown)

    def notes(self, document: Document, *, explain: bool) -> None:
        shown, left = (
            (in_order(document.notes), 0) if explain else short_notes(document.notes)
        )
        if shown or left:
            self.print("")
        for one in shown:
            self.advice(one.text)
        if left:
            how = ".explain()" if self.in_python else "--explain"
            self.print(Text(self.text(f"{plural(left, 'more note')}: {how}"), "dim"))

    def table(self, table: Table) -> Iterator[Text]:
        """The lines of a table; one that is too wide is split into groups of columns."""
        columns = [
            Column(column) if isinstance(column, str) else column
            for column in table.columns
        ]
        cells = [[self.cell(one) for one in row] for row in table.rows]
        heads = [Text(self.text(column.head), "bold") for column in columns]
        grid = [heads, *cells] if any(column.head for column in columns) else cells
        for at, group in enumerate(self.groups(columns, grid)):
            if at:
                yield Text()
            yield from self.rows(columns, grid, group)

    def cell(self, cell: Cell | str) -> Text:
        if isinstance(cell, str):
            return Text(self.text(whole_commands(cell)))
        text = Text(self.text(whole_commands(cell.text)), "bold" if cell.strong else "")
        if cell.standing:
            text.append(" " * bool(cell.text))
            text.append(self.text(SIGNS[cell.standing]), STYLES[cell.standing])
        return text

    def groups(
        self, columns: Sequence[Column], grid: Sequence[Sequence[Text]]
    ) -> list[dict[int, int]]:
        """The groups of columns that fit side by side, with their widths."""
        room = self.console.width
        widths = {
            at: max((cell_len(row[at].plain) for row in grid), default=0)
            for at in range(len(columns))
        }

        def total(kept: dict[int, int]) -> int:
            return sum(kept.values()) + GAP * (len(kept) - 1)

        for at in reversed(range(len(columns))):
            if total(widths) > room and columns[at].spare:
                del widths[at]
        flexible = [at for at in widths if columns[at].words or columns[at].prose]
        for at in reversed(flexible):
            over = total(widths) - room
            if over > 0:
                widths[at] = max(min(widths[at], NARROWEST), widths[at] - over)
        if total(widths) <= room:
            return [widths]
        first, *rest = widths
        groups = [{first: widths[first]}]
        for at in rest:
            if len(groups[-1]) > 1 and total({**groups[-1], at: widths[at]}) > room:
                groups.append({first: widths[first]})
            groups[-1][at] = widths[at]
        return groups

    def rows(
        self,
        columns: Sequence[Column],
        grid: Sequence[Sequence[Text]],
        widths: dict[int, int],
    ) -> Iterator[Text]:
        for row in grid:
            folded = {
                at: self.folded(row[at], width)
                if columns[at].prose
                and (COMMAND in row[at].plain or cell_len(row[at].plain) > width)
                else [row[at]]
                for at, width in widths.items()
            }
            for number in range(max(map(len, folded.values()))):
                line = Text()
                for place, (at, width) in enumerate(widths.items()):
                    part = folded[at][number] if number < len(folded[at]) else Text()
                    line.append(" " * GAP * bool(place))
                    line.append(
                        _padded(part, width, right=not _is_words(columns[at], place))
                    )
                    line.no_wrap = line.no_wrap or part.no_wrap
                line.rstrip()
                yield line


def _is_words(column: Column, place: int) -> bool:
    """Whether a column is left-aligned: text, and always the first column."""
    return column.words or column.prose or not place


def _padded(text: Text, width: int, *, right: bool) -> Text:
    """Pad a text to a width, or cut it unless it is a command."""
    wide = cell_len(text.plain)
    if wide > width and not text.no_wrap:
        return Text(
            set_cell_size(text.plain, max(width - 1, 0)).rstrip() + "…", text.style
        )
    padding = " " * (width - wide)
    return Text.assemble(padding, text) if right else Text.assemble(text, padding)
