"""Results on a terminal, with rich."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from calipers.model.scores import Scores
from calipers.present.answer import print_notes, print_verdict, verdict
from calipers.present.table import WHOLE, Cell, ScoreTable, score_table
from calipers.questions.evaluate.notes import notes as notes_of

if TYPE_CHECKING:
    from rich.table import Table

ROOM = 2
"""Blanks between two columns."""


def print_scores(
    scores: Scores, console: Console, *, notes: bool = True, explain: bool = False
) -> None:
    """What the retriever finds, the table, and under it what was counted."""
    print_verdict(verdict(scores), console)
    print_score_table(scores, console)
    if notes:
        print_notes(notes_of(scores), console, explain=explain)


def print_score_table(scores: Scores, console: Console) -> None:
    """The means with their intervals, in the widest layout that has room."""
    view = score_table(scores)
    layouts = (make(view) for make in (_wide, _narrow))
    fitting = (table for table in layouts if sum(table.widths) <= console.width)
    console.print(next(fitting, None) or _stacked(view))


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


def _wide(view: ScoreTable) -> OpenTable:
    rows = [[Text(name, style="bold"), *map(_cell, cells)] for name, cells in view.rows]
    return OpenTable(("metric", *view.columns), rows)


def _cell(cell: Cell | None) -> Text:
    """The mean, and under it the interval where there is one."""
    if cell is None or not cell.interval:
        return Text("" if cell is None else cell.mean)
    return Text.assemble(cell.mean, "\n", (cell.interval, "dim"))


def _narrow(view: ScoreTable) -> OpenTable:
    """One line per metric and cut-off, for narrow terminals and long lists of cut-offs."""
    rows = [
        [Text(label), Text(cell.mean), Text(cell.interval, style="dim")]
        for label, cell in _labelled(view)
    ]
    return OpenTable(("metric", "mean", "interval"), rows)


def _stacked(view: ScoreTable) -> Text:
    """Name, mean and interval below one another, where nothing else has room."""
    text = Text(overflow="fold")
    for label, cell in _labelled(view):
        text.append(f"{label}\n", "bold")
        text.append(f" {cell.mean}\n")
        if cell.interval:
            text.append(f" {cell.interval}\n", "dim")
    text.rstrip()
    return text


def _labelled(view: ScoreTable) -> Iterator[tuple[str, Cell]]:
    for name, cells in view.rows:
        for column, cell in zip(view.columns, cells, strict=True):
            if cell is not None:
                yield (name if column == WHOLE else f"{name} {column}"), cell


def print_metrics(
    listing: list[dict[str, Any]], console: Console, *, explain: bool = False
) -> None:
    """One line per metric; one alone, or with ``explain`` each, with all that is known of it."""
    if len(listing) > 1 and not explain:
        _print_formulas(listing, console)
        return
    for metric in listing:
        title = Text(metric["grammar"], style="bold")
        better = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
        low, high = metric["bounds"]
        bounds = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
        title.append(f"   {', '.join(filter(None, (bounds, better[metric['better']])))}", "dim")
        console.print(title)
        for paragraph in filter(None, (metric["formula"], metric["notes"])):
            console.print(Padding(Text(paragraph), (0, 0, 0, 4), expand=False))
        if metric["parameters"]:
            words = "; ".join(
                f"{name}: {one['allowed']}"
                + ("" if one["default"] is None else f" ({one['default']} unless given)")
                for name, one in metric["parameters"].items()
            )
            console.print(
                Padding(Text(f"Parameters: {words}.", style="dim"), (0, 0, 0, 4), expand=False)
            )
        if metric["also_called"]:
            names = ", ".join(metric["also_called"])
            console.print(
                Padding(Text(f"Also called {names}.", style="dim"), (0, 0, 0, 4), expand=False)
            )
        console.print()


def _print_formulas(listing: list[dict[str, Any]], console: Console) -> None:
    print_verdict(f"{len(listing)} metrics, each with its formula in words.", console)
    names = [f"{one['name']}{'@k' if '@k' in one['grammar'] else ''}" for one in listing]
    width = max(map(len, names))
    for name, metric in zip(names, listing, strict=True):
        line = Text.assemble((f"{name:<{width}}  ", "bold"), metric["formula"])
        console.print(line, no_wrap=True, overflow="ellipsis")
    print_notes(
        ["`calipers metrics NAME` tells all about one, and --explain about every one."], console
    )


def bullet(mark: Text, text: Text, *, indent: int) -> Padding:
    """The mark, a blank, and the text beside it, moved in."""
    from rich.table import Table

    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(mark, text)
    return Padding(line, (0, 0, 0, indent))
