"""Calls on a terminal, and as CSV."""

from dataclasses import astuple, fields

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.calls import Call, CallTable
from calipers.present.delimited import csv_text
from calipers.present.table import number

COLUMNS = ("call", "queries", "recall@calls", "added", "useless", "results", "tokens")


def print_calls(found: CallTable, console: Console) -> None:
    """One row per call: recall after it, what it added, what it cost."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for one in found.calls:
        values = (one.recall, one.added, one.useless, one.results, one.tokens)
        table.add_row(
            str(one.call), f"{one.queries:,}",
            *("–" if value is None else number(value) for value in values),
        )  # fmt: skip
    console.print(table)
    console.print()
    for line in notes(found):
        console.print(Text(line, style="dim"))


def notes(found: CallTable) -> list[str]:
    """What the columns are over."""
    shown = "all results" if found.k is None else f"the first {found.k} results"
    lines = [
        f"Recall after each call and all before it, over {found.queries:,} queries with an answer, "
        f"with {shown} of each call. Useless: the share of these calls that found nothing new."
    ]
    if found.tokens_from == "estimate":
        lines.append("The tokens are estimated from the texts, four characters each.")
    elif found.tokens_from is None:
        lines.append("Tokens are not known: not every result has 'tokens' or a text.")
    return lines


def calls_csv(found: CallTable) -> str:
    """One line per call, full precision."""
    return csv_text([field.name for field in fields(Call)], map(astuple, found.calls))
