"""Documents of a history, of one saved evaluation, and of its lines over time, with their chart."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, pairwise

from calipers.model.claim import PRINTED_AS_ONE, p_text
from calipers.model.document import (
    Answers,
    Cell,
    Column,
    Document,
    Note,
    Picture,
    Table,
    as_sentence,
)
from calipers.model.evaluation import Evaluation
from calipers.model.fact import Fact, facts_of, joined, named, sentence
from calipers.model.result import moment
from calipers.present import charts
from calipers.present.charts import Axis, Band, Chart, Dot, Panel, spread
from calipers.present.escape import printable, query_name
from calipers.present.scores import document as scores_document
from calipers.present.scores import summary_rows
from calipers.questions.compare.paired_claim import counts_of, decided
from calipers.questions.history.result import (
    Alarm,
    AlarmCheck,
    History,
    Line,
    Mark,
    Point,
    Shown,
)
from calipers.words import number

MARKS = {"ground truth": "◆", "corpus": "◇"}
BREAK = "┊"
"""Marks a change of ground truth or corpus in a sparkline."""
SENTENCES = 3
"""The most queries to name."""
_BARS = "▁▂▃▄▅▆▇█"
_LONGEST_SPARK = 20
"""The length that fits beside the numbers of a line."""
_LEAST_RANGE = 0.1


def history(listed: History) -> Document:
    """The latest result, the table, and what the marks mean."""
    if not listed.evaluations:
        return Document(_nothing(listed), rows=lambda: _history_rows(listed))
    return Document(
        _latest(listed),
        blocks=[_table(listed)],
        notes=list(_history_notes(listed)),
        rows=lambda: _history_rows(listed),
    )


def _nothing(history: History) -> str:
    """That nothing is saved, or that nothing fits."""
    place = named(history.place)
    if not history.total:
        return sentence(
            "Nothing is saved in {place.text} yet: `calipers eval … --save NAME`.",
            place=place,
        )
    return sentence(
        "{it.count:evaluation is|evaluations are} saved in {place.text}, and none fits.",
        it=Fact(about="count", count=history.total),
        place=place,
    )


def _table(history: History) -> Table:
    """One row per evaluation, without the columns that would be empty."""
    every = history.evaluations
    cells = {
        Column("name", words=True): [row.name for row in every],
        Column("id", words=True, spare=True): [row.short for row in every],
        Column("saved (UTC)", words=True): [
            f"{row.saved:%Y-%m-%d %H:%M}" for row in every
        ],
        Column("commit", words=True, spare=True): [
            (row.commit or "")[:7] + ("*" if row.dirty else "") for row in every
        ],
        Column("branch", words=True, spare=True): [row.branch or "" for row in every],
        Column("queries", spare=True): [f"{row.queries:,}" for row in every],
    }
    for name in history.metrics:
        cells[Column(name)] = [mean_text(row, name) for row in every]
    cells[Column("", words=True)] = [
        "".join(map(MARKS.__getitem__, row.changed)) for row in every
    ]
    cells[Column("tags", words=True, spare=True)] = [_tags(row) for row in every]
    used = {column: texts for column, texts in cells.items() if any(texts)}
    return Table([*used], [*zip(*used.values(), strict=True)])


def _history_notes(history: History) -> Iterator[Note]:
    """How many are listed, and what the marks mean."""
    count = Fact(about="count", count=len(history.evaluations), of=history.total)
    yield Note(
        "counted",
        sentence(
            "{it.count} of {it.of:evaluation|evaluations} in {place.text}, newest first.",
            it=count,
            place=named(history.place),
        ),
    )
    changed = {what for row in history.evaluations for what in row.changed}
    for what, mark in MARKS.items():
        if what in changed:
            yield Note(
                "doubt",
                f"{mark} the {what} changed: not comparable with earlier evaluations.",
            )
    if any(row.dirty for row in history.evaluations):
        yield Note("marks", "* measured with changes that were not committed.")


def _latest(listed: History) -> str:
    """The latest evaluation compared with the one before it, as a sentence."""
    latest, *others = listed.evaluations
    name = named(latest.name)
    metric = next(
        (metric for metric in listed.metrics if mean_text(latest, metric)), None
    )
    if metric is None:
        return sentence(
            "The latest evaluation is {name.text}, of {when.text} UTC.",
            name=name,
            when=named(f"{latest.saved:%Y-%m-%d %H:%M}"),
        )
    now = Fact(
        about="mean", system=latest.name, metric=metric, value=_mean(latest, metric)
    )
    earlier = (_mean(other, metric) for other in others if other.name == latest.name)
    before = next((value for value in earlier if value is not None), None)
    if before is None or latest.changed:
        return sentence(
            "{it.system} is at {it.metric} {it.value}; there is no earlier evaluation to "
            "compare it with.",
            it=now,
        )
    alike = number(before) == number(now.value or 0.0)
    was = ", as the time before." if alike else "; it was {it.before} the time before."
    return sentence(
        "{it.system} is at {it.metric} {it.value}" + was, it=replace(now, before=before)
    )


def _history_rows(listed: History) -> Iterator[dict[str, object]]:
    """One row per evaluation at full precision: its metadata and the mean of each metric."""
    names = dict.fromkeys(
        name for entry in listed.evaluations for name in entry.summaries
    )
    for evaluation in listed.evaluations:
        means = {name: evaluation.summaries.get(name) for name in names}
        yield {
            "id": evaluation.id,
            "name": evaluation.name,
            "saved": moment(evaluation.saved),
            "commit": evaluation.commit,
            "branch": evaluation.branch,
            "dirty": None if evaluation.dirty is None else str(evaluation.dirty).lower(),
            "queries": evaluation.queries,
            "tags": ";".join(
                f"{name}={value}" for name, value in evaluation.tags.items()
            ),
            "changed": ";".join(evaluation.changed),
            **{name: mean and mean.mean for name, mean in means.items()},
        }


def sparkline(values: Sequence[float]) -> str:
    """Draw values as bars, scaled from the lowest to the highest.

    >>> sparkline([0.1, 0.2, 0.4, 0.3])
    '▁▃█▆'
    >>> sparkline([0.5, 0.5])
    '▄▄'
    """
    low = min(values)
    high = max(values)
    if high == low:
        return _BARS[3] * len(values)
    top = len(_BARS) - 1
    return "".join(_BARS[round((value - low) / (high - low) * top)] for value in values)


def _mean(evaluation: Evaluation, metric: str) -> float | None:
    """The mean of a metric; None where it was not measured."""
    summary = evaluation.summaries.get(metric)
    return None if summary is None else summary.mean


def mean_text(evaluation: Evaluation, metric: str) -> str:
    """The mean of a metric as it is printed; empty where it was not measured."""
    mean = _mean(evaluation, metric)
    return "" if mean is None else number(mean)


def _tags(evaluation: Evaluation) -> str:
    return ", ".join(f"{name}={value}" for name, value in evaluation.tags.items())


def _bars(points: Sequence[Point], marks: Sequence[Mark]) -> str:
    """A sparkline of the last points, broken where the ground truth or the corpus changed."""
    points = points[-_LONGEST_SPARK:]
    bars = sparkline([point.mean for point in points])
    line = bars[0]
    for bar, (before, after) in zip(bars[1:], pairwise(points), strict=True):
        broken = any(before.saved < mark.saved <= after.saved for mark in marks)
        line += f"{BREAK if broken else ''}{bar}"
    return line


def shown(saved: Shown) -> Document:
    """A saved evaluation: its result, its scores, and its metadata."""
    scores = scores_document(saved.scores)
    about = [Note("input", line) for line in _about(saved.evaluation)]
    return replace(scores, notes=[*about, *scores.notes])


def evaluation(saved: Evaluation) -> Document:
    """The metadata of a saved evaluation."""
    first, *notes = _about(saved)
    return Document(first, notes=notes, rows=lambda: summary_rows(saved))


def _about(saved: Evaluation) -> list[str]:
    """The metadata of an evaluation in a line or two."""
    branch = f" ({saved.branch})" if saved.branch else ""
    changed = ", with changes that were not committed" if saved.dirty else ""
    where = f" on commit {saved.commit[:10]}{branch}{changed}" if saved.commit else ""
    what = named(f"{saved.name} ({saved.id})")
    when = named(f"{saved.saved:%Y-%m-%d %H:%M:%S} UTC{where}")
    lines: list[str] = [sentence("{it.text}, saved {when.text}.", it=what, when=when)]
    if saved.tags:
        lines.append(sentence("Tags: {it.text}.", it=named(_tags(saved))))
    return lines


def _moved(check: AlarmCheck) -> bool:
    """Whether a query changed in a metric."""
    change = check.change
    return change is not None and bool(change.wins + change.losses)


def alarm(watched: Alarm) -> Document:
    """The verdict, a line over time for each metric, and the queries behind a loss."""
    first, *others = watched.claims
    check = (
        watched.checks[0] if watched.checks and watched.checks[0].claim is first else None
    )
    sentences: list[str] = []
    if check is not None and (change := check.change):
        adjusted = change.p_adjusted
        # A p of 1 says nothing that the counts do not say.
        moved = adjusted is not None and adjusted < PRINTED_AS_ONE
        p = f" ({p_text(adjusted or 0.0)})" if moved else ""
        fact = Fact(
            about="count",
            better=change.wins,
            worse=change.losses,
            queries=change.n,
            metric=change.metric,
            text=p.strip() or None,
        )
        counted = sentence("{counts}{p}", counts=counts_of(fact), p=p)
        moves = (one for one in facts_of(first.fact) if one.about == "difference")
        decides = [decided(one, change) for one in moves]
        counted = joined(counted, *decides, by="; ")
        same = not change.wins + change.losses
        if same and any(_moved(one) for one in watched.checks[1:]):
            counted = sentence("No query changed in {it.metric}.", it=fact)
        sentences.append(as_sentence(counted))
    if check is not None and check.lost:
        names = ", ".join(
            query_name(query.query, query.text) for query in check.lost[:SENTENCES]
        )
        end = "" if names.endswith(("?", "!", ".", "…")) else "."
        sentences.append(sentence("Lost most: {it.text}{end}", it=named(names), end=end))
    notes = [
        Note("doubt", text) for text in (*sentences, first.next, first.range) if text
    ]
    notes += [
        Note(
            "doubt",
            sentence(
                BREAK
                + " {when.text}: the {what} changed; means before and after are not "
                "comparable{but}.",
                when=named(f"{mark.saved:%Y-%m-%d %H:%M}"),
                what=" and the ".join(mark.what),
                but=", and the verdict is of queries that stayed the same"
                if "ground truth" in mark.what
                else "",
            ),
        )
        for mark in reversed(watched.marks)
    ]
    notes += [Note("counted", line) for line in watched.notes]
    # The other metrics are in the table.
    beside = others[:1] if watched.missing is not None else []
    return Document(
        first.fact,
        first.standing,
        blocks=[
            *([Answers(beside)] if beside else []),
            _line_table(watched),
            Picture(lambda: trend_chart(watched)),
        ],
        notes=notes,
        rows=lambda: _point_rows(watched),
    )


def _line_table(watched: Alarm) -> Table:
    """Each line with its reference, the latest value, and the change."""
    checks = {check.metric: check for check in watched.checks}
    rows = []
    for line in filter(lambda line: line.points, watched.lines):
        check = checks.get(line.metric)
        row: list[Cell | str] = ["", number(line.points[-1].mean), "", ""]
        if check is not None and (change := check.change):
            now = Cell(number(change.now or 0.0), "worse" if check.rings else None)
            row = [
                number(change.before or 0.0),
                now,
                f"{change.losses:,}",
                f"{change.wins:,}",
            ]
        rows.append((line.metric, *row, _bars(line.points, watched.marks)))
    numbers = ("reference", "latest", "worse", "better")
    return Table(
        (Column("metric", words=True), *numbers, Column("over time", words=True)), rows
    )


def _point_rows(watched: Alarm) -> Iterator[dict[str, object]]:
    """One row per point, at full precision."""
    changed = {mark.id: ";".join(mark.what) for mark in watched.marks}
    for line in watched.lines:
        for point in line.points:
            yield {
                "metric": line.metric,
                **vars(point),
                "saved": moment(point.saved),
                "changed": changed.get(point.id),
            }


def trend_chart(watched: Alarm, link: str = "") -> Chart:
    """Every metric over time with its reference; lines break where something changed.

    ``link`` is the address of an evaluation's page, with {} for its id; every point links
    there.
    """
    changes = dict.fromkeys(_changed(mark) for mark in watched.marks)
    legend = [("dashed", "worse", change) for change in changes]
    panels = [_panel(line, watched, link) for line in watched.lines]
    title = printable(watched.claims[0].fact, 120).rstrip(".")
    return Chart(title, panels, f"{title}. Each metric with its interval.", legend=legend)


def _panel(line: Line, trend: Alarm, link: str) -> Panel:
    points = line.points
    heights = [end for point in points for end in (point.mean, point.low, point.high)]
    x = time_axis([point.saved for point in points])
    y = spread(heights, least=_LEAST_RANGE)
    marks: list[charts.Mark] = []
    changed = [mark.saved for mark in trend.marks]
    for mark in trend.marks:
        at = mark.saved.timestamp()
        marks.append(
            charts.Stroke([(at, y.low), (at, y.high)], "worse", True, 1.5, _changed(mark))
        )
    marks += _reference(line.metric, trend, x)
    # Values on the two sides of a mark are not comparable.
    for _, group in groupby(
        points, lambda point: sum(at <= point.saved for at in changed)
    ):
        part = list(group)
        between = [
            (point.saved.timestamp(), point.low, point.high)
            for point in part
            if point.low is not None and point.high is not None
        ]
        marks.append(Band(between))
        marks.append(charts.Stroke([(p.saved.timestamp(), p.mean) for p in part]))
    for point in points:
        at = point.saved.timestamp()
        label = _said(line, point)
        marks.append(Dot(at, point.mean, label, radius=3.5, link=link.format(point.id)))
    return Panel(x, y, marks, line.metric, ratio=0.3)


def _changed(mark: Mark) -> str:
    return f"{' and '.join(mark.what)} changed"


def _reference(metric: str, watched: Alarm, x: Axis) -> Iterator[charts.Mark]:
    """The level that the latest is compared with, drawn from the start of the reference."""
    for check in watched.checks:
        if check.metric == metric and check.reference and check.change:
            level = check.change.before or 0.0
            first = max(x.low, check.reference.oldest.timestamp())
            label = f"reference {number(level)}"
            yield charts.Stroke(
                [(first, level), (x.high, level)], "even", True, 1.5, label
            )


def _said(line: Line, point: Point) -> str:
    between = ""
    if point.low is not None and point.high is not None:
        between = f" ({number(point.low)}–{number(point.high)})"
    parts = [
        f"{line.metric} {number(point.mean)}{between}",
        f"{point.saved:%Y-%m-%d %H:%M}",
    ]
    parts.append(f"@{point.id[:8]}")
    parts += [f"commit {point.commit[:10]}"] if point.commit else []
    return ", ".join(parts)


def time_axis(moments: Sequence[datetime]) -> Axis:
    """A time axis with one label per evaluation; the last and the first take precedence.

    >>> time_axis([datetime(2026, 1, 1, 6), datetime(2026, 1, 1, 9)]).ticks[0][1]
    '2026-01-01 09:00'
    """
    known = sorted(set(moments))
    if not known:
        return Axis(0, 1)
    form = (
        "%Y-%m-%d"
        if len({moment.date() for moment in known}) == len(known) > 1
        else "%Y-%m-%d %H:%M"
    )
    ticks = [
        (moment.timestamp(), moment.strftime(form)) for moment in [known[-1], *known[:-1]]
    ]
    return Axis(known[0].timestamp(), known[-1].timestamp(), ticks)
