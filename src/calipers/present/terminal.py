"""Results on a terminal, with rich."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from calipers.model.scores import Scores
from calipers.present.answer import print_notes, print_verdict, verdict
from calipers.present.notes import notes as notes_of
from calipers.present.table import WHOLE, Cell, ScoreTable, score_table


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


class OpenTable(Table):
    """A table without lines in which nothing is wrapped or cut.

    It looks as rich would show it, and is there in a fifth of the time.
    """

    def __init__(self) -> None:
        super().__init__(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")

    @property
    def widths(self) -> list[int]:
        """The cells that each column takes, with the room behind it."""
        cells = [[Text(str(column.header)), *self._texts(column)] for column in self.columns]
        widest = [
            max(cell_len(line.plain) for one in some for line in _lines(one)) for some in cells
        ]
        return [width + 2 for width in widest[:-1]] + widest[-1:]

    @staticmethod
    def _texts(column: Column) -> list[Text]:
        return [Text(one) if isinstance(one, str) else cast(Text, one) for one in column.cells]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Line by line, where there is room for it."""
        widths = self.widths
        if sum(widths) > options.max_width:
            yield from super().__rich_console__(console, options)
            return
        heads = [Text(str(column.header), "bold") for column in self.columns]
        for row in (heads, *zip(*map(self._texts, self.columns), strict=True)):
            for cells in zip_longest(*map(_lines, row), fillvalue=Text()):
                line = Text(no_wrap=True)
                for cell, column, width in zip(cells, self.columns, widths, strict=True):
                    behind = 2 if column is not self.columns[-1] else 0
                    room = " " * (width - behind - cell_len(cell.plain))
                    parts = (room, cell) if column.justify == "right" else (cell, room)
                    for part in (*parts, " " * behind):
                        line.append(part)
                yield line


def _lines(text: Text) -> list[Text]:
    return list(text.split("\n", allow_blank=True)) if "\n" in text.plain else [text]


def _wide(view: ScoreTable) -> OpenTable:
    table = OpenTable()
    table.add_column("metric", no_wrap=True)
    for column in view.columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in view.rows:
        table.add_row(Text(name, style="bold"), *map(_cell, cells))
    return table


def _cell(cell: Cell | None) -> Text:
    """The mean, and under it the interval where there is one."""
    if cell is None or not cell.interval:
        return Text("" if cell is None else cell.mean)
    return Text.assemble(cell.mean, "\n", (cell.interval, "dim"))


def _narrow(view: ScoreTable) -> OpenTable:
    """One line per metric and cut-off, for narrow terminals and long lists of cut-offs."""
    table = OpenTable()
    table.add_column("metric", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    for label, cell in _labelled(view):
        table.add_row(Text(label), cell.mean, Text(cell.interval, style="dim"))
    return table


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
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(mark, text)
    return Padding(line, (0, 0, 0, indent))
