"""Saved evaluations, their trend and the alarm, each as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from calipers.model.claim import p_text
from calipers.model.document import (
    Answers,
    Block,
    Cell,
    Column,
    Document,
    Lines,
    Note,
    Picture,
    Table,
)
from calipers.model.evaluation import Evaluation
from calipers.model.result import moment
from calipers.present.escape import query_name
from calipers.present.scores import document as scores_document
from calipers.present.scores import summary_rows
from calipers.questions.history.result import (
    Alarm,
    AlarmCheck,
    AlarmReference,
    History,
    Line,
    Point,
    Shown,
    Trend,
)
from calipers.questions.history.trend_chart import trend_chart
from calipers.words import number, plural, signed

MARKS = {"ground truth": "◆", "corpus": "◇"}
BREAK = "┊"
"""In a sparkline, where ground truth or corpus changed."""
SENTENCES = 3
"""For how many metrics something is spelled out; the table has all."""
_BARS = "▁▂▃▄▅▆▇█"
_LONGEST_SPARK = 40
_MOST_SPARKS = 8
"""What fits a screen below the table; ``--explain`` shows all."""
_NOTICEABLE = 0.0005
"""A move that would print as 0.001 at least."""


def history(found: History) -> Document:
    """How the latest does, the table, the sparklines, and what the marks mean."""
    if not found.evaluations:
        said = f"No evaluation of the {found.total:,} in {found.place} fits."
        if not found.total:
            said = f"Nothing is saved in {found.place} yet: `calipers eval … --save NAME`."
        return Document(said, rows=lambda: _history_rows(found))
    columns = [
        Column("name", words=True),
        Column("id", words=True, spare=True),
        Column("saved (UTC)", words=True),
        Column("commit", words=True, spare=True),
        Column("branch", words=True, spare=True),
        Column("queries", spare=True),
        *map(Column, found.metrics),
        Column("", words=True),
        Column("tags", words=True, spare=True),
    ]
    rows = [
        (
            one.name,
            one.short,
            f"{one.saved:%Y-%m-%d %H:%M}",
            (one.commit or "")[:7] + ("*" if one.dirty else ""),
            one.branch or "",
            f"{one.queries:,}",
            *(_mean(one, metric) for metric in found.metrics),
            "".join(MARKS[what] for what in one.changed),
            _tags(one),
        )
        for one in found.evaluations
    ]
    # A column without a value in it says nothing.
    used = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    blocks: list[Block] = [
        Table([columns[at] for at in used], [[row[at] for at in used] for row in rows])
    ]
    sparks = list(_sparks(found))
    for some, detail in ((sparks[:_MOST_SPARKS], False), (sparks[_MOST_SPARKS:], True)):
        blocks += [Lines(some, detail=detail)] if some else []
    return Document(
        _latest(found), blocks=blocks, notes=[*_legend(found)], rows=lambda: _history_rows(found)
    )


def _latest(found: History) -> str:
    """How the latest evaluation does, and how the one before it did."""
    latest = found.evaluations[0]
    name = latest.name
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


def _history_rows(found: History) -> Iterator[dict[str, Any]]:
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


def _value(one: Evaluation, metric: str) -> float | None:
    summary = one.summaries.get(metric)
    return None if summary is None else summary.mean


def _mean(one: Evaluation, metric: str) -> str:
    value = _value(one, metric)
    return "" if value is None else number(value)


def _tags(one: Evaluation) -> str:
    return ", ".join(f"{name}={value}" for name, value in one.tags.items())


def _sparks(found: History) -> Iterator[str]:
    """One line per name and metric that was measured at least twice, oldest to newest."""
    names = list(dict.fromkeys(one.name for one in found.evaluations))
    width = max((len(metric) for metric in found.metrics), default=0)
    for name in names:
        for metric in found.metrics:
            measured = [
                (mean, bool(one.changed))
                for one in reversed(found.evaluations)
                if one.name == name and (mean := _value(one, metric)) is not None
            ]
            if len(measured) > 1:
                prefix = f"{name}  " if len(names) > 1 else ""
                yield f"{prefix}{metric:<{width}}  {_broken(measured)}"


def _broken(measured: Sequence[tuple[float, bool]]) -> str:
    """A sparkline with a break before each value that is marked, and the range of its values."""
    measured = measured[-_LONGEST_SPARK:]
    values = [mean for mean, _ in measured]
    bars = zip(sparkline(values), measured, strict=True)
    line = "".join(f"{BREAK if changed else ''}{bar}" for bar, (_, changed) in bars)
    return f"{line.lstrip(BREAK)}  {number(min(values))} to {number(max(values))}"


def _legend(found: History) -> Iterator[Note]:
    shown = f"{len(found.evaluations):,} of {plural(found.total, 'evaluation')}"
    yield Note("counted", f"{shown} in {found.place}, newest first.")
    changed = {what for one in found.evaluations for what in one.changed}
    for what, mark in MARKS.items():
        if what in changed:
            yield Note(
                "doubt",
                f"{mark} the {what} changed: not comparable with earlier evaluations of that name.",
            )
    if any(one.dirty for one in found.evaluations):
        yield Note("marks", "* measured with changes that were not committed.")


def shown(found: Shown) -> Document:
    """A saved evaluation: what it found, its scores as they were then, and what it is."""
    scores = scores_document(found.scores)
    about = [Note("input", line) for line in _about(found.evaluation)]
    return replace(scores, notes=[*about, *scores.notes])


def evaluation(found: Evaluation) -> Document:
    """What is known of a saved evaluation."""
    first, *notes = _about(found)
    return Document(first, notes=notes, rows=lambda: summary_rows(found))


def _about(one: Evaluation) -> list[str]:
    """What is known of an evaluation, in a line or two."""
    where = ""
    if one.commit:
        branch = f" ({one.branch})" if one.branch else ""
        changed = ", with changes that were not committed" if one.dirty else ""
        where = f" on commit {one.commit[:10]}{branch}{changed}"
    lines = [f"{one.name} ({one.id}), saved {one.saved:%Y-%m-%d %H:%M:%S} UTC{where}."]
    if one.tags:
        lines.append(f"Tags: {_tags(one)}.")
    return lines


def trend(found: Trend) -> Document:
    """How each line moved, the chart, and where lines must not be read across."""
    columns = (Column("metric", words=True), "evaluations", "first", "last", Column("", words=True))
    rows = []
    for line in found.lines:
        if line.points:
            breaks = _breaks(line.points, found)
            ends = (line.points[at].mean for at in (max([0, *breaks]), -1))
            values = [(point.mean, at in breaks) for at, point in enumerate(line.points)]
            counted = f"{len(values):,}"
            rows.append((_named(line), counted, *map(number, ends), _broken(values)))
    called = f"{plural(found.evaluations, 'evaluation')} called {found.name}"
    return Document(
        _moved(found),
        blocks=[Table(columns, rows), Picture(lambda: trend_chart(found))],
        notes=[
            Note("counted", f"{called}, oldest to newest."),
            *(
                Note(
                    "doubt",
                    f"{BREAK} {mark.saved:%Y-%m-%d %H:%M}: the {' and the '.join(mark.what)} "
                    "changed; numbers before and after are not comparable.",
                )
                for mark in reversed(found.marks)
            ),
        ],
        rows=lambda: _trend_rows(found),
    )


def _moved(trend: Trend) -> str:
    """How the first line moved since it can be compared with itself."""
    line = next((one for one in trend.lines if one.points), None)
    if line is None:
        return "There is nothing to draw: none of the evaluations has a value."
    since = max([0, *_breaks(line.points, trend)])
    first, last = line.points[since], line.points[-1]
    name, n = _named(line), len(line.points) - since
    if n == 1:
        return f"{name} is {number(last.mean)}; there is no earlier evaluation to compare it with."
    if number(last.mean) == number(first.mean):
        return f"{name} stayed at {number(last.mean)} over {n} evaluations."
    way = "rose" if last.mean > first.mean else "fell"
    return f"{name} {way} from {number(first.mean)} to {number(last.mean)} over {n} evaluations."


def _trend_rows(trend: Trend) -> Iterator[dict[str, Any]]:
    """One row per point, full precision."""
    changed = {mark.id: ";".join(mark.what) for mark in trend.marks}
    for line in trend.lines:
        for point in line.points:
            yield {
                "metric": line.metric,
                "tag": line.tag,
                "value": line.value,
                "id": point.id,
                "saved": moment(point.saved),
                "commit": point.commit,
                "mean": point.mean,
                "low": point.low,
                "high": point.high,
                "n": point.n,
                "changed": changed.get(point.id),
            }


def _breaks(points: Sequence[Point], trend: Trend) -> set[int]:
    """The points before which something changed, seen from the point that stood before."""
    when = [mark.saved for mark in trend.marks]
    return {
        index
        for index in range(1, len(points))
        if any(points[index - 1].saved < one <= points[index].saved for one in when)
    }


def _named(line: Line) -> str:
    return line.metric + (f" for {line.tag}={line.value}" if line.tag else "")


def alarm(found: Alarm) -> Document:
    """What was seen and whether it rings, what it was compared with, the queries behind a loss."""
    first, *others = found.claims[:SENTENCES]
    blocks: list[Block] = [Answers(others)] if others else []
    notes = [Note("missing", line) for line in found.warnings]
    notes += [Note("doubt", one) for one in (first.range, first.next) if one]
    if found.reference is not None:
        if len(found.checks) > 1:
            blocks.append(_check_table(found.checks))
        lost = [one for one in found.checks if one.standing != "passed" and one.worst]
        blocks += [Lines(_worst(one), _heading(one)) for one in lost[:SENTENCES]]
        notes.append(Note("input", _compared(found, found.reference)))
        notes += [Note("missing", line) for line in _by_ground_truth(found)]
        notes += [Note("counted", line) for line in found.notes]
        together = f", over all {len(found.checks)} checks together" * (len(found.checks) > 1)
        notes.append(
            Note(
                "method",
                f"It rings where a loss of more than {found.allow:g} is shown (--allow); a "
                f"retriever that does not change rings at most {found.false_alarms:g} time"
                f"{'' if found.false_alarms == 1 else 's'} in 365 evaluations{together}.",
            )
        )
    return Document(
        f"{first.line[2:]}.", first.standing, blocks=blocks, notes=notes, rows=lambda: found.checks
    )


def _by_ground_truth(alarm: Alarm) -> Iterator[str]:
    """How far the ground truth moved the means, where it changed."""
    if alarm.reference is None or not alarm.reference.truth_changed:
        return
    for check in alarm.checks:
        part = check.by_ground_truth
        if part is not None and abs(part) >= _NOTICEABLE:
            yield (
                f"{check.metric} over all queries went {_shown(check.whole_before)} → "
                f"{_shown(check.whole_now)}; {signed(part)} of that comes with the changed ground "
                f"truth, {signed(check.difference or 0.0)} with the retriever."
            )


def _compared(alarm: Alarm, reference: AlarmReference) -> str:
    counts = (
        (reference.new, "new"),
        (reference.gone, "gone"),
        (reference.rejudged, "with another question or ground truth"),
    )
    rest = ", ".join(f"{n:,} {words}" for n, words in counts if n)
    count = len(reference.evaluations)
    first, last = f"{reference.oldest:%Y-%m-%d}", f"{reference.newest:%Y-%m-%d}"
    period = first if count == 1 or first == last else f"{first} to {last}"
    if reference.left_out:
        period += f"; without {reference.left_out} that clearly lost"
    return (
        f"{alarm.name} (@{alarm.id[:8]}, {alarm.saved:%Y-%m-%d %H:%M} UTC) against "
        f"the first {plural(count, 'evaluation') if count > 1 else 'evaluation'} ({period}), on "
        f"{plural(reference.shared, 'shared query', 'shared queries')}"
        f"{f' ({rest})' if rest else ''}."
    )


def _check_table(checks: Sequence[AlarmCheck]) -> Table:
    columns = (
        Column("metric", words=True),
        *("before → now", "difference", "lost", "gained", "of", "p"),
        Column("rings at p ≤", spare=True),
    )
    return Table(columns, [_cells(check) for check in checks])


def _cells(check: AlarmCheck) -> tuple[Cell | str, ...]:
    where = Cell(check.where, check.standing)
    if check.before is None or check.recent is None:
        return where, "no query can be compared", "", "", "", "", "", ""
    return (
        where,
        f"{number(check.before)} → {number(check.recent)}",
        signed(check.recent - check.before),
        f"{check.lost:,}",
        f"{check.gained:,}",
        f"{check.n:,}",
        "" if check.p is None else p_text(check.p).removeprefix("p ").removeprefix("= "),
        "" if check.level is None else f"{check.level:.1g}",
    )


def _heading(check: AlarmCheck) -> str:
    since = f", below the reference since {check.since:%Y-%m-%d}" if check.since else ""
    return f"What lost most in {check.where}{since}:"


def _worst(check: AlarmCheck) -> list[str]:
    return [
        f"{number(one.baseline or 0.0)} → {number(one.value)}  {query_name(one.query, one.text)}"
        for one in check.worst
    ]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else number(value)
