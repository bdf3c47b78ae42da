"""Chart of metrics over time, with the reference and breaks where numbers are not comparable."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from calipers.present import charts
from calipers.present.charts import Axis, Band, Chart, Dot, Panel, spread
from calipers.present.escape import printable
from calipers.questions.history.result import Alarm, Line, Point
from calipers.words import number

_LEAST_RANGE = 0.1
_MOST_BANDS = 3
"""The most lines of one panel whose interval bands stay readable."""
SHAPES = ("circle", "square", "up", "diamond", "down")
FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


def trend_chart(found: Alarm, link: str = "") -> Chart:
    """Every metric over time with its reference; lines break where something changed.

    ``link`` is the address of an evaluation's page, with {} for its id; every point links there.
    """
    legend = []
    sliced = [line for line in found.lines if line.tag is not None]
    drawn = sliced or list(found.lines)
    if sliced:
        values = dict.fromkeys(f"{line.tag}={line.value}" for line in sliced)
        legend = [(*_series(at), printable(value, 40)) for at, value in enumerate(values)]
    panels = [
        _panel(metric, [line for line in drawn if line.metric == metric], found, link)
        for metric in found.metrics
    ]
    said = printable(found.claims[0].fact, 120).rstrip(".")
    return Chart(said, panels, f"{said}. Each metric with its interval.", legend=legend)


def _panel(metric: str, lines: Sequence[Line], trend: Alarm, link: str) -> Panel:
    points = [point for line in lines for point in line.points]
    ends = [end for point in points for end in (point.mean, point.low, point.high)]
    x, y = time_axis([point.saved for point in points]), spread(ends, least=_LEAST_RANGE)
    marks: list[charts.Mark] = []
    changed = [mark.saved for mark in trend.marks]
    for mark in trend.marks:
        said = f"{' and '.join(mark.what)} changed"
        at = mark.saved.timestamp()
        marks.append(
            charts.Stroke([(at, y.low), (at, y.high)], "worse", True, 1.5, said, label=said)
        )
    marks += _references(metric, lines, trend, x)
    for place, line in enumerate(lines):
        shape, colour = ("circle", "accent") if line.tag is None else _series(place)
        # Values on the two sides of a mark are not comparable.
        for _, group in groupby(line.points, lambda one: sum(at <= one.saved for at in changed)):
            part = list(group)
            between = [
                (point.saved.timestamp(), point.low, point.high)
                for point in part
                if point.low is not None and point.high is not None
            ]
            marks += [Band(between, colour)] * (len(lines) <= _MOST_BANDS)
            marks.append(charts.Stroke([(p.saved.timestamp(), p.mean) for p in part], colour))
        marks += [
            Dot(
                point.saved.timestamp(),
                point.mean,
                _said(line, point),
                colour,
                shape,
                3.5,
                link=link.format(point.id),
            )
            for point in line.points
        ]
    return Panel(x, y, marks, metric, ratio=0.3)


def _references(metric: str, lines: Sequence[Line], found: Alarm, x: Axis) -> Iterator[charts.Mark]:
    """The level that the latest is compared with, drawn from the start of the reference."""
    parts = {None if line.tag is None else f"{line.tag}={line.value}" for line in lines}
    for check in found.checks:
        if check.metric == metric and check.slice in parts and check.reference is not None:
            level = check.before or 0.0
            first = max(x.low, check.reference.oldest.timestamp())
            said = f"reference {number(level)}"
            yield charts.Stroke([(first, level), (x.high, level)], "even", True, 1.5, said)


def _said(line: Line, point: Point) -> str:
    between = ""
    if point.low is not None and point.high is not None:
        between = f" ({number(point.low)}–{number(point.high)})"
    parts = [f"{line.metric} {number(point.mean)}{between}", f"{point.saved:%Y-%m-%d %H:%M}"]
    parts += [printable(line.value, 40)] if line.value else []
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
    # The shortest form in which all differ; then the ends first, and ever smaller steps between.
    form = next(
        (f for f in FORMS if len({one.strftime(f) for one in known}) == len(known)), FORMS[2]
    )
    form = FORMS[1] if len(known) == 1 else form
    order, step = dict.fromkeys([known[-1], known[0]]), len(known)
    while step > 1:
        step = (step + 1) // 2
        order |= dict.fromkeys(known[::step])
    ticks = [(one.timestamp(), one.strftime(form)) for one in order]
    return Axis(known[0].timestamp(), known[-1].timestamp(), ticks)


def _series(place: int) -> tuple[str, str]:
    return SHAPES[place % len(SHAPES)], f"series{place % 8}"
