"""Misses on a terminal and as a file."""

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.misses import REASONS, Misses
from calipers.present.comparison import query_name
from calipers.present.plain import printable

BAR = 20
"""Characters of the longest bar."""
SHOWN = 60


def print_misses(misses: Misses, console: Console, *, examples: int = 5) -> None:
    """The reasons, the waterfall, some misses, the false positives, and what was not known."""
    console.print(Text(_headline(misses), style="bold"))
    if misses.table.height:
        console.print()
        console.print(_reasons(misses))
    console.print()
    console.print(_waterfall(misses))
    if examples and misses.table.height:
        console.print()
        console.print(Text("Some of the misses", style="bold"))
        for row in misses.table.head(examples).iter_rows(named=True):
            _print_miss(row, console)
    if examples and misses.false_positives.height:
        console.print()
        console.print(_false_positives(misses, examples))
    console.print()
    for line in misses.notes:
        console.print(Text(printable(line), style="dim"))


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with lists as texts, for files that hold no lists."""
    return table.with_columns(
        pl.col(name).list.eval(pl.element().fill_null("")).list.join(" | ")
        for name, dtype in table.schema.items()
        if isinstance(dtype, pl.List)
    )


def _headline(misses: Misses) -> str:
    missed = misses.table.height
    queries = misses.table["query"].n_unique() if missed else 0
    return (
        f"{missed:,} of {misses.targets:,} pieces of ground truth are not in the first "
        f"{misses.k} results ({_share(missed, misses.targets)}; {queries:,} "
        f"{'query' if queries == 1 else 'queries'})."
    )


def _reasons(misses: Misses) -> Table:
    table = _plain_table()
    table.add_column("misses", justify="right", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("reason", overflow="fold", ratio=1)
    table.add_column("what to do", overflow="fold", ratio=1, style="dim")
    for reason in REASONS:
        if count := misses.reasons.get(reason.name):
            share = _share(count, misses.table.height)
            table.add_row(f"{count:,}", share, reason.means, misses.remedy(reason))
    return table


def _waterfall(misses: Misses) -> Table:
    table = _plain_table()
    table.add_column("of the ground truth", no_wrap=True)
    table.add_column("left", justify="right", no_wrap=True)
    table.add_column("lost", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_row("all", f"{misses.targets:,}", "", _bar(misses.targets, misses.targets))
    for step in misses.waterfall:
        lost = f"{step.lost:,} ({_share(step.lost, misses.targets)})" if step.lost else "0"
        table.add_row(step.means, f"{step.left:,}", lost, _bar(step.left, misses.targets))
    return table


def _print_miss(row: dict[str, object], console: Console) -> None:
    means = next(reason.means for reason in REASONS if reason.name == row["reason"])
    place = f" (rank {row['rank']})" if row["rank"] is not None else ""
    question = None if row["question"] is None else str(row["question"])
    lines = [
        Text(query_name(str(row["query"]), question)),
        Text(f"  expected {_expected(row)}"),
        Text(f"  {means}{place}", style="dim"),
    ]
    if row["instead"]:
        lines.append(Text(f"  came instead: {_instead(row)}", style="dim"))
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis")


def _expected(row: dict[str, object]) -> str:
    if row["item"] is not None:
        return printable(str(row["item"]), SHOWN)
    if row["quote"] is not None:
        return f"“{printable(str(row['quote']), SHOWN)}”"
    return f"{printable(str(row['document']), SHOWN)}, characters {row['start']} to {row['end']}"


def _instead(row: dict[str, object]) -> str:
    items, texts = row["instead"], row["instead_text"]
    pairs = (
        zip(items, texts, strict=True)
        if isinstance(items, list) and isinstance(texts, list)
        else ()
    )
    return ", ".join(printable(item or text or "?", 30) for item, text in pairs)


def _false_positives(misses: Misses, examples: int) -> Table:
    table = _plain_table()
    table.add_column("most often returned for nothing", overflow="ellipsis", no_wrap=True)
    table.add_column("queries", justify="right", no_wrap=True)
    table.add_column("mean rank", justify="right", no_wrap=True)
    table.add_column("never judged", justify="right", no_wrap=True)
    for row in misses.false_positives.head(examples).iter_rows(named=True):
        name = row["item"] or row["text"] or row["document"] or "?"
        table.add_row(
            Text(printable(name, SHOWN)), f"{row['queries']:,} ({row['share']:.0%})",
            f"{row['mean_rank']:.1f}", f"{row['unjudged']:,}",
        )  # fmt: skip
    return table


def _plain_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def _bar(count: int, whole: int) -> Text:
    return Text("█" * round(BAR * count / whole) if whole else "", style="dim")


def _share(count: int, whole: int) -> str:
    return f"{count / whole:.0%}" if whole else "0%"
