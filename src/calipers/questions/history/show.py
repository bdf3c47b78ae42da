"""Saved evaluations on a terminal: all in a table with sparklines, or one of them whole."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.evaluation import Evaluation
from calipers.model.result import moment
from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, print_notes
from calipers.present.scores import notes_of, print_score_table, summary_rows
from calipers.present.scores import verdict as verdict_of
from calipers.present.terminal import csv_text, open_table, print_verdict, show_lines, show_with
from calipers.questions.history.result import History, Shown
from calipers.words import number, plural

KNOWN = ("id", "name", "saved", "commit", "branch", "dirty", "queries", "tags", "changed")
"""What a list has of each evaluation beside its metrics."""
_BARS = "▁▂▃▄▅▆▇█"
MARKS = {"ground truth": "◆", "corpus": "◇"}
_LONGEST_SPARK = 40
_MOST_SPARKS = 8
"""What fits a screen below the table; ``--explain`` shows all."""
BREAK = "┊"
"""In a sparkline, where ground truth or corpus changed."""
_GIVEN_UP_FIRST = ("tags", "branch", "queries", "commit", "id")
"""Columns that a narrow terminal does without, in this order."""


def print_history(found: History, console: Console, *, explain: bool = False) -> None:
    """How the latest does, the table, the sparklines, and what the marks mean."""
    if not found.evaluations:
        said = f"No evaluation of the {found.total:,} in {printable(found.place)} fits."
        if not found.total:
            said = f"Nothing is saved in {printable(found.place)} yet: calipers eval … --save NAME."
        console.print(Text(said))
        return
    print_verdict(verdict(found), console)
    console.print(_fitting(found, console))
    sparks = list(_sparks(found))
    shown = sparks if explain else sparks[:_MOST_SPARKS]
    if shown:
        console.print()
    for line in shown:
        console.print(Text(line), no_wrap=True, overflow="ellipsis")
    if rest := len(sparks) - len(shown):
        console.print(MoreWith(plural(rest, "more line")))
    print_notes(list(_legend(found)), console, explain=explain)


def verdict(found: History) -> str:
    """How the latest evaluation does, and how the one before it did."""
    latest = found.evaluations[0]
    name = printable(latest.name, 30)
    metric = next((one for one in found.metrics if _value(latest, one) is not None), None)
    if metric is None:
        return f"The latest evaluation is {name}, of {latest.saved:%Y-%m-%d %H:%M} UTC."
    now = _value(latest, metric) or 0.0
    said = f"{name} is at {metric} {number(now)}"
    earlier = (one for one in found.evaluations[1:] if one.name == latest.name)
    before = next((value for one in earlier if (value := _value(one, metric)) is not None), None)
    if before is None:
        return f"{said}; no earlier evaluation is listed."
    if latest.changed:
        return f"{said}; the {' and the '.join(latest.changed)} changed since the one before."
    if number(now) == number(before):
        return f"{said}, as the time before."
    return f"{said}, {'up' if now > before else 'down'} from {number(before)} the time before."


def history_rows(found: History) -> Iterator[dict[str, Any]]:
    """One row per evaluation, full precision: what is known of it and the mean of each metric."""
    names = dict.fromkeys(name for one in found.evaluations for name in one.summaries)
    for one in found.evaluations:
        yield {
            "id": one.id,
            "name": one.name,
            "saved": moment(one.saved),
            "commit": one.commit,
            "branch": one.branch,
            "dirty": None if one.dirty is None else str(one.dirty).lower(),
            "queries": one.queries,
            "tags": ";".join(f"{name}={value}" for name, value in one.tags.items()),
            "changed": ";".join(one.changed),
            **{name: _value(one, name) for name in names},
        }


def history_csv(found: History) -> str:
    """The same as CSV."""
    return csv_text(history_rows(found), KNOWN)


def sparkline(values: Sequence[float]) -> str:
    """Bars from the lowest to the highest of the values.

    >>> sparkline([0.1, 0.2, 0.4, 0.3])
    '▁▃█▆'
    >>> sparkline([0.5, 0.5])
    '▄▄'
    """
    low, high = min(values), max(values)
    if high == low:
        return _BARS[3] * len(values)
    top = len(_BARS) - 1
    return "".join(_BARS[round((value - low) / (high - low) * top)] for value in values)


def _fitting(found: History, console: Console) -> Table | Text:
    """The widest table that the terminal has room for, or a list."""
    left_out: set[str] = set()
    if not any(one.tags for one in found.evaluations):
        left_out.add("tags")
    if not any(one.commit for one in found.evaluations):
        left_out |= {"commit", "branch"}
    unlimited = console.options.update(width=10_000)
    for given_up in ("", *_GIVEN_UP_FIRST):
        left_out.add(given_up)
        table = _table(found, left_out)
        if console.measure(table, options=unlimited).maximum <= console.width:
            return table
    return _stacked(found)


def _stacked(found: History) -> Text:
    """One evaluation under the other, where no table has room."""
    text = Text(overflow="fold")
    for one in found.evaluations:
        text.append(f"{printable(one.name, 30)} {_marks(one)}".rstrip() + "\n", "bold")
        text.append(f" {one.saved:%Y-%m-%d %H:%M}\n", "dim")
        for metric in found.metrics:
            text.append(f" {metric} {_mean(one, metric)}".rstrip() + "\n")
    text.rstrip()
    return text


def _table(found: History, left_out: set[str]) -> Table:
    table = open_table()
    words = [name for name in ("id", "name", "saved", "commit", "branch") if name not in left_out]
    numbers = [name for name in ("queries",) if name not in left_out]
    for name in words:
        table.add_column("saved (UTC)" if name == "saved" else name, no_wrap=True)
    for name in (*numbers, *found.metrics):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    if "tags" not in left_out:
        table.add_column("tags", overflow="fold")
    for one in found.evaluations:
        cells = {
            "id": one.short,
            "name": printable(one.name, 30),
            "saved": f"{one.saved:%Y-%m-%d %H:%M}",
            "commit": (one.commit or "")[:7] + ("*" if one.dirty else ""),
            "branch": printable(one.branch or "", 24),
            "queries": f"{one.queries:,}",
        }
        means = [_mean(one, metric) for metric in found.metrics]
        row = [*(cells[name] for name in (*words, *numbers)), *means, _marks(one)]
        table.add_row(*map(Text, row), *([] if "tags" in left_out else [Text(_tags_shown(one))]))
    return table


def _value(one: Evaluation, metric: str) -> float | None:
    summary = one.summaries.get(metric)
    return None if summary is None else summary.mean


def _mean(one: Evaluation, metric: str) -> str:
    value = _value(one, metric)
    return "" if value is None else number(value)


def _marks(one: Evaluation) -> str:
    return "".join(MARKS[what] for what in one.changed)


def _tags_shown(one: Evaluation) -> str:
    """The tags of an evaluation in a line."""
    return ", ".join(f"{name}={printable(value, 30)}" for name, value in one.tags.items())


def _sparks(found: History) -> Iterator[str]:
    """One line per name and metric that was measured at least twice, oldest to newest."""
    names = list(dict.fromkeys(one.name for one in found.evaluations))
    width = max(len(metric) for metric in found.metrics) if found.metrics else 0
    for name in names:
        for metric in found.metrics:
            measured = [
                (mean, bool(one.changed))
                for one in reversed(found.evaluations)
                if one.name == name and (mean := _value(one, metric)) is not None
            ][-_LONGEST_SPARK:]
            values = [mean for mean, _ in measured]
            if len(values) < 2:
                continue
            prefix = f"{printable(name, 30)}  " if len(names) > 1 else ""
            low, high = number(min(values)), number(max(values))
            bars = zip(sparkline(values), measured, strict=True)
            line = "".join(f"{BREAK if changed else ''}{bar}" for bar, (_, changed) in bars)
            yield f"{prefix}{metric:<{width}}  {line.lstrip(BREAK)}  {low} to {high}"


def _legend(found: History) -> Iterator[Note]:
    shown, total = len(found.evaluations), found.total
    evaluations = "evaluation" if total == 1 else "evaluations"
    place = printable(found.place)
    yield Note("counted", f"{shown:,} of {total:,} {evaluations} in {place}, newest first.")
    changed = {what for one in found.evaluations for what in one.changed}
    for what, mark in MARKS.items():
        if what in changed:
            yield Note(
                "marks",
                f"{mark} the {what} changed: not comparable with earlier evaluations of that name.",
            )
    if any(one.dirty for one in found.evaluations):
        yield Note("marks", "* measured with changes that were not committed.")


def print_shown(shown: Shown, console: Console, *, explain: bool = False) -> None:
    """A saved evaluation: what it found, its scores as they were then, and what it is."""
    print_verdict(verdict_of(shown.scores), console)
    print_score_table(shown.scores, console)
    first = (Note("input", line) for line in about(shown.evaluation))
    print_notes([*first, *notes_of(shown.scores)], console, explain=explain)


def about(one: Evaluation) -> list[str]:
    """What is known of an evaluation, in a line or two."""
    where = ""
    if one.commit:
        branch = f" ({printable(one.branch, 40)})" if one.branch else ""
        changed = ", with changes that were not committed" if one.dirty else ""
        where = f" on commit {one.commit[:10]}{branch}{changed}"
    lines = [f"{printable(one.name)} ({one.id}), saved {one.saved:%Y-%m-%d %H:%M:%S} UTC{where}."]
    if one.tags:
        lines.append(f"Tags: {_tags_shown(one)}.")
    return lines


show_with(History, print_history, rows=history_rows)
show_lines(Evaluation, about, rows=summary_rows)
show_with(Shown, print_shown, rows=lambda shown: summary_rows(shown.scores))
