"""Misses on a terminal, as a file and as a chart."""

from functools import partial

import polars as pl
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from calipers.present.charts import Axis, Bar, Chart, Panel, rows
from calipers.present.escape import printable, query_name
from calipers.present.notes import MoreWith, print_notes, where_read
from calipers.present.terminal import open_table, show_with
from calipers.questions.misses.result import REASONS, Misses
from calipers.words import first_results, listed, plural

BAR = 20
"""Characters of the longest bar."""
SHOWN = 60
INSTEAD = ("instead   ", "          ", "          ")
"""What stands before each of the results that came instead."""


def print_misses(
    misses: Misses, console: Console, *, examples: int = 3, explain: bool = False
) -> None:
    """What was not found and why, some misses with their texts, and what was not known.

    With ``explain`` also the waterfall and the false positives.
    """
    rows = misses.table.head(examples).iter_rows(named=True)
    left = misses.missed - examples
    blocks: list[RenderableType] = [_reasons(misses, console)] if misses.missed else []
    if explain:
        blocks.append(_waterfall(misses))
    blocks += map(_miss, rows)
    if left > 0 and examples:
        blocks.append(MoreWith(f"… and {left:,} more", "-o FILE", ".to_polars()"))
    if explain and examples and misses.false_positives.height:
        blocks.append(_false_positives(misses, examples))
    # What follows brings its blank line along: there may be nothing but notes.
    console.print(Text(verdict(misses), style="bold"))
    for block in blocks:
        console.print()
        console.print(block)
    print_notes([printable(line) for line in misses.notes], console, explain=explain)


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with lists as texts, for files that hold no lists."""
    return table.with_columns(
        pl.col(name).list.eval(pl.element().cast(pl.String).fill_null("")).list.join(" | ")
        for name, dtype in table.schema.items()
        if isinstance(dtype, pl.List)
    )


def verdict(misses: Misses) -> str:
    """How much was not found, and the reason that explains most of it."""
    missed = misses.missed
    if not misses.targets:
        return "Nothing can be missed: no query has anything to find."
    if not missed:
        return f"Nothing was missed: every target is in the {first_results(misses.k)}."
    most = max(misses.reasons, key=lambda name: misses.reasons[name])
    reason = next(one.means for one in REASONS if one.name == most)
    return (
        f"{missed:,} of {plural(misses.targets, 'target')} "
        f"({_share(missed, misses.targets)}) {'is' if missed == 1 else 'are'} not in the "
        f"{first_results(misses.k)}; "
        f"most often: {reason}."
    )


def _reasons(misses: Misses, console: Console) -> Table:
    table = open_table()
    table.add_column("misses", justify="right", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("reason", overflow="fold", ratio=1)
    table.add_column("what to do", overflow="fold", ratio=1, style="dim")
    for reason in REASONS:
        if count := misses.reasons.get(reason.name):
            share = _share(count, misses.missed)
            remedy = where_read(misses.remedy(reason.name), console)
            table.add_row(f"{count:,}", share, reason.means, remedy)
    return table


def _waterfall(misses: Misses) -> Table:
    table = open_table()
    table.add_column("of the ground truth", no_wrap=True)
    table.add_column("left", justify="right", no_wrap=True)
    table.add_column("lost", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_row("all", f"{misses.targets:,}", "", _bar(misses.targets, misses.targets))
    for step in misses.waterfall:
        lost = f"{step.lost:,} ({_share(step.lost, misses.targets)})" if step.lost else "0"
        table.add_row(step.means, f"{step.left:,}", lost, _bar(step.left, misses.targets))
    return table


def _miss(row: dict[str, object]) -> Group:
    means = next(reason.means for reason in REASONS if reason.name == row["reason"])
    place = f" (rank {row['rank']})" if row["rank"] is not None else ""
    question = None if row["question"] is None else str(row["question"])
    line = partial(Text, no_wrap=True, overflow="ellipsis")
    return Group(
        line(query_name(str(row["query"]), question), style="bold"),
        line(f"  expected  {_expected(row)}"),
        line(f"            {means}{place}", style="dim"),
        *(line(f"  calls     {said}") for said in _calls(row)),
        *(line(f"  {head}{one}") for head, one in zip(INSTEAD, _instead(row), strict=False)),
    )


def _expected(row: dict[str, object]) -> str:
    if row["item"] is None and row["quote"] is None:
        place = f"characters {row['start']} to {row['end']}"
        return f"{printable(str(row['document']), SHOWN)}, {place}"
    return _with_text(row["item"], row["expected_text"])


def _calls(row: dict[str, object]) -> list[str]:
    """Which searches of an agent returned the target, and which lost it."""
    returned, lost = row.get("returned_in_calls"), row.get("lost_in_calls")
    if not isinstance(returned, list) or not isinstance(lost, list) or not (returned or lost):
        return []
    if not returned:
        return [f"lost in {_numbers(lost)}: none returned it"]
    return [f"returned in {_numbers(returned)}" + (f", lost in {_numbers(lost)}" if lost else "")]


def _numbers(calls: list[int]) -> str:
    """Some calls by their numbers.

    >>> _numbers([2]), _numbers([1, 2, 4])
    ('call 2', 'calls 1, 2 and 4')
    """
    return f"{'call' if len(calls) == 1 else 'calls'} {listed([str(one) for one in calls])}"


def _instead(row: dict[str, object]) -> list[str]:
    items, texts = row["instead"], row["instead_text"]
    if not isinstance(items, list) or not isinstance(texts, list):
        return []
    return [_with_text(item, text) for item, text in zip(items, texts, strict=True)]


def _with_text(item: object, text: object) -> str:
    """An id and what it says, as far as each is known."""
    said = "" if text is None else f"“{printable(' '.join(str(text).split()), SHOWN)}”"
    name = "" if item is None else printable(str(item), SHOWN if text is None else 24)
    return "  ".join(filter(None, (name, said))) or "?"


def _false_positives(misses: Misses, examples: int) -> Table:
    table = open_table()
    table.add_column("most often returned for nothing", overflow="ellipsis", no_wrap=True)
    table.add_column("queries", justify="right", no_wrap=True)
    table.add_column("mean rank", justify="right", no_wrap=True)
    table.add_column("never judged", justify="right", no_wrap=True)
    for row in misses.false_positives.head(examples).iter_rows(named=True):
        name = row["item"] or row["text"] or row["document"] or "?"
        table.add_row(
            Text(printable(name, SHOWN)),
            f"{row['queries']:,} ({row['share']:.0%})",
            f"{row['mean_rank']:.1f}",
            f"{row['unjudged']:,}",
        )
    return table


def _bar(count: int, whole: int) -> Text:
    return Text("█" * round(BAR * count / whole) if whole else "", style="dim")


def _share(count: int, whole: int) -> str:
    return f"{count / whole:.0%}" if whole else "0%"


def waterfall(misses: Misses) -> Chart:
    """What should be found, less what each reason lost, down to what was found."""
    steps = [("should be found", 0, misses.targets, "accent", f"{misses.targets:,}")]
    left = misses.targets
    for reason in REASONS:
        if lost := misses.reasons.get(reason.name):
            steps.append((reason.means, left - lost, left, "worse", f"−{lost:,}"))
            left -= lost
    steps.append((f"found in the first {misses.k}", 0, left, "accent", f"{left:,}"))
    bars = [
        Bar(-at, low, high, f"{name}: {count}", colour, label=count)
        for at, (name, low, high, colour, count) in enumerate(steps)
    ]
    # Room for the numbers beside the bars.
    x = Axis(0, misses.targets * 1.1 or 1)
    panel = Panel(x, rows([name for name, *_ in steps]), bars, rows=len(steps))
    said = "; ".join(bar.said for bar in bars)
    return Chart("Where recall is lost", [panel], said)


show_with(Misses, print_misses, chart=waterfall, rows=lambda found: found.table)
