"""An evaluation on a terminal, as CSV, and query by query as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl
from rich.console import Console
from rich.text import Text

from calipers.model.scores import MetricFacts, Scores, Summary
from calipers.present.terminal import OpenTable, csv_text, print_notes, print_verdict, show_with
from calipers.present.words import first_results, number, share
from calipers.questions.evaluate.notes import notes as notes_of
from calipers.questions.evaluate.notes import remarked
from calipers.questions.evaluate.result import Evaluation
from calipers.words import plural

WHOLE = "all"
"""The heading of the column for metrics without a cut-off."""
NOTHING = "Nothing can be said: no query has anything to find."
HEADER = ("metric", "mean", "median", "low", "high", "level", "method", "n", "undefined")
AT_ONCE = 20_000
"""Queries whose rows are in memory together."""


def print_evaluation(
    found: Evaluation, console: Console, *, notes: bool = True, explain: bool = False
) -> None:
    """The scores, and a table for whatever else was asked."""
    scores = found.scores
    if not isinstance(scores, Scores):
        from calipers.questions.levels.show import print_levels

        print_levels(scores, console, notes=notes, explain=explain)
        return
    print_verdict(verdict(scores), console)
    print_score_table(scores, console)
    said: list[str] = []
    if found.slices:
        from calipers.questions.slices.show import print_slice_tables, slices_note

        console.print()
        print_slice_tables(found.slices, console)
        said.append(slices_note(found.slices))
    if found.bounds:
        from calipers.questions.bounds.show import bounds_notes, print_bound_table

        console.print()
        print_bound_table(found.bounds, console)
        said += bounds_notes(found.bounds)
    if found.corrected:
        from calipers.questions.corrected.show import print_corrected

        console.print()
        print_corrected(found.corrected, console)
    if notes:
        first = remarked(scores)
        print_notes([*first, *said, *notes_of(scores)[len(first) :]], console, explain=explain)


def evaluation_csv(found: Evaluation) -> str:
    """The innermost of what was asked for: a CSV is one table."""
    if found.bounds:
        from calipers.questions.bounds.show import bounds_csv

        return bounds_csv(found.bounds)
    if found.slices:
        from calipers.questions.slices.show import slices_csv

        return slices_csv(found.slices)
    return summary_csv(found.result)


def evaluation_rows(found: Evaluation) -> Iterator[bytes] | None:
    """The members of ``per_query`` in pieces; None where there are several such lists."""
    return score_rows(found.scores) if isinstance(found.scores, Scores) else None


def print_scores(
    scores: Scores, console: Console, *, notes: bool = True, explain: bool = False
) -> None:
    """What the retriever finds, the table, and under it what was counted."""
    print_verdict(verdict(scores), console)
    print_score_table(scores, console)
    if notes:
        print_notes(notes_of(scores), console, explain=explain)


def verdict(scores: Scores) -> str:
    """What the most telling of the metrics says, in plain words."""
    if scores.weights:
        return _measured("score", scores["score"])
    facts = _deepest(scores, "recall") or _deepest(scores, "hit_rate") or scores.metrics[0]
    found = scores[facts.name]
    if found.mean is None:
        return NOTHING
    kind = facts.stem.partition("(")[0]
    much = share(found.mean)
    where = f"in the {first_results(facts.k)}" if facts.k else "in its results"
    behind = f" ({_between(found)}{plural(found.n, 'query', 'queries')})."
    if kind == "recall":
        return f"Finds {much} of what it should {where}{behind}"
    if kind == "hit_rate":
        return f"For {much} of the queries a target stands {where}{behind}"
    return _measured(facts.name, found)


def _deepest(scores: Scores, kind: str) -> MetricFacts | None:
    """The metric of that kind with the largest cut-off, if it was measured and is defined."""
    some = [m for m in scores.metrics if m.stem.partition("(")[0] == kind]
    defined = [m for m in some if scores[m.name].mean is not None]
    return max(defined or some, key=lambda one: one.k or 0, default=None)


def _measured(name: str, found: Summary) -> str:
    if found.mean is None:
        return NOTHING
    return (
        f"{name} is {number(found.mean)} on average ({_between(found, percent=False)}"
        f"{plural(found.n, 'query', 'queries')})."
    )


def _between(found: Summary, *, percent: bool = True) -> str:
    """The interval in the unit of the sentence, ready to stand before the count."""
    ends = found.interval
    if ends is None:
        return ""
    if percent:
        low, high = round(ends.low * 100), round(ends.high * 100)
        return f"{low}–{high}%, "
    return f"{number(ends.low)}–{number(ends.high)}, "


@dataclass(frozen=True)
class Cell:
    """One metric at one cut-off, ready to show."""

    mean: str
    interval: str


@dataclass(frozen=True)
class ScoreTable:
    """Rows of cells; None where a metric was not asked for at that cut-off."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def score_table(scores: "Scores") -> ScoreTable:
    """The table of means and intervals."""
    ks = sorted({metric.k for metric in scores.metrics if metric.k is not None})
    keys: list[int | None] = [*ks]
    if any(metric.k is None for metric in scores.metrics) or scores.weights:
        keys.append(None)
    rows: dict[str, dict[int | None, Cell]] = {}
    for metric in scores.metrics:
        rows.setdefault(metric.stem, {})[metric.k] = _shown(scores[metric.name])
    if scores.weights:
        rows["score"] = {None: _shown(scores["score"])}
    return ScoreTable(
        tuple(WHOLE if k is None else f"@{k}" for k in keys),
        tuple((stem, tuple(cells.get(k) for k in keys)) for stem, cells in rows.items()),
    )


def _shown(summary: Summary) -> Cell:
    if summary.mean is None:
        return Cell("undefined", "")
    interval = summary.interval
    shown = f"{number(interval.low)}–{number(interval.high)}" if interval else ""
    return Cell(number(summary.mean), shown)


def print_score_table(scores: Scores, console: Console) -> None:
    """The means with their intervals, in the widest layout that has room."""
    view = score_table(scores)
    layouts = (make(view) for make in (_wide, _narrow))
    fitting = (table for table in layouts if sum(table.widths) <= console.width)
    console.print(next(fitting, None) or _stacked(view))


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


def summary_csv(scores: Scores) -> str:
    """One line per metric: mean, median, interval, n, undefined; full precision."""
    return csv_text(HEADER, map(_summary, scores.summaries.values()))


def _summary(one: Summary) -> list[Any]:
    ends: tuple[Any, ...] = (None,) * 4
    if one.interval:
        ends = (one.interval.low, one.interval.high, one.interval.level, one.interval.method)
    return [one.metric, one.mean, one.median, *ends, one.n, one.undefined]


def score_rows(scores: Scores) -> Iterator[bytes]:
    """The rows of ``Scores.to_dict`` in pieces, indented as members of a list in a document."""
    names = [*(metric.name for metric in scores.metrics), *(["score"] if scores.weights else [])]
    members: dict[str, pl.Expr] = {
        name: _value(name, kind) for name, kind in scores.queries.schema.items()
    }
    members["tags"] = _object({name: _text(f"tag.{name}") for name in scores.tags}, 3)
    members["scores"] = _object({name: _number(name) for name in names}, 3)
    row = pl.concat_str(pl.lit("    "), _object(members, 2))
    for block in scores.query_blocks(AT_ONCE):
        if block.height:
            yield block.select(row.str.join(",\n")).item().encode()


def _object(members: Mapping[str, pl.Expr], depth: int) -> pl.Expr:
    """A JSON object with a line for each member; ``depth``: how far its end is indented."""
    if not members:
        return pl.lit("{}")
    parts: list[pl.Expr] = []
    for name, value in members.items():
        key = f"{'  ' * (depth + 1)}{msgspec.json.encode(name).decode()}: "
        parts += [pl.lit(f",\n{key}" if parts else f"{{\n{key}"), value]
    return pl.concat_str(*parts, pl.lit(f"\n{'  ' * depth}}}"))


def _value(name: str, kind: pl.DataType) -> pl.Expr:
    return _text(name) if kind == pl.String else _number(name)


def _number(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).fill_null("null")


def _text(name: str) -> pl.Expr:
    """A text as JSON spells it."""
    member = pl.struct(pl.col(name).alias("")).struct.json_encode()
    return member.str.strip_prefix('{"":').str.strip_suffix("}")


show_with(Scores, print_scores)
