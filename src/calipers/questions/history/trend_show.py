"""A trend on a terminal and as a chart, with marks where it must not be read across."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.model.result import moment
from calipers.present import charts
from calipers.present.charts import Axis, Band, Chart, Dot, Panel, spread
from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, print_notes
from calipers.present.terminal import csv_text, print_verdict, show_with
from calipers.questions.history.result import Line, Point, Trend
from calipers.words import number, plural

_LEAST_RANGE = 0.1
_MOST_BANDS = 3
"""Lines of one panel up to which their intervals can be told apart."""
SHAPES = ("circle", "square", "up", "diamond", "down")
FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


def trend_chart(trend: Trend) -> Chart:
    """Every metric over time; lines end where something changed that they must not cross."""
    legend = []
    if trend.by is not None:
        values = list(dict.fromkeys(line.value or "" for line in trend.lines))
        legend = [(*_series(at), printable(value, 40)) for at, value in enumerate(values)]
    panels = [
        _panel(metric, [line for line in trend.lines if line.metric == metric], trend)
        for metric in trend.metrics
    ]
    name = printable(trend.name, 60)
    said = f"{name} over time, each metric with its interval."
    return Chart(f"{name} over time", panels, said, legend=legend)


def _panel(metric: str, lines: Sequence[Line], trend: Trend) -> Panel:
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
    for place, line in enumerate(lines):
        shape, colour = ("circle", "accent") if trend.by is None else _series(place)
        # What stands on the two sides of a mark was measured by different yardsticks.
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
            Dot(point.saved.timestamp(), point.mean, _said(line, point), colour, shape, 3.5)
            for point in line.points
        ]
    return Panel(x, y, marks, metric, ratio=0.3)


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
    """An axis of time, labelled by the evaluations: the last and the first one before the others.

    >>> time_axis([datetime(2026, 1, 1, 6), datetime(2026, 1, 1, 9)]).ticks[0][1]
    '2026-01-01 09:00'
    """
    known = sorted(set(moments))
    if not known:
        return Axis(0, 1)
    texts: dict[str, datetime] = {}
    for form in FORMS:
        texts = {one.strftime(form): one for one in reversed(known)}
        if len(texts) == len(known):
            break
    if len(known) == 1:
        texts = {known[0].strftime(FORMS[1]): known[0]}
    spread_out = _halving(sorted(texts.items(), key=lambda item: item[1]))
    ticks = [(when.timestamp(), text) for text, when in spread_out]
    return Axis(known[0].timestamp(), known[-1].timestamp(), ticks)


def _halving(items: list[tuple[str, datetime]]) -> list[tuple[str, datetime]]:
    """The last and the first, then those between them in ever smaller steps."""
    ends = [items[-1], items[0]] if len(items) > 1 else items
    step = len(items)
    found = dict.fromkeys(ends)
    while step > 1:
        step = (step + 1) // 2
        found |= dict.fromkeys(items[::step])
    return list(found)


def _series(place: int) -> tuple[str, str]:
    return SHAPES[place % len(SHAPES)], f"series{place % 8}"


WIDEST = 100
TALL, SHORT = 9, 5
"""Rows of a chart: one alone, or one of many."""
_MOST_CHARTS = 4
"""What fits a screen; ``--explain`` draws all."""
DOT, BAND, BREAK = "●", "░", "┊"
Cells = list[list[str]]
RowOf = Callable[[float], int]


def print_trend(trend: Trend, console: Console, *, explain: bool = False) -> None:
    """One chart per line, the marks explained, and the numbers at both ends."""
    drawable = [line for line in trend.lines if line.points]
    shown = drawable if explain else drawable[:_MOST_CHARTS]
    print_verdict(verdict(trend), console)
    height = TALL if len(drawable) <= 2 else SHORT
    for place, line in enumerate(shown):
        if place:
            console.print()
        console.print(Text(_title(line, trend), style="bold"))
        for row in chart(line, trend, min(console.width, WIDEST), height):
            console.print(Text(row), no_wrap=True, overflow="crop")
    if rest := len(drawable) - len(shown):
        console.print()
        console.print(MoreWith(plural(rest, "more line")))
    print_notes(list(_legend(trend, drawable)), console, explain=explain)


def verdict(trend: Trend) -> str:
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


def trend_rows(trend: Trend) -> Iterator[dict[str, Any]]:
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


def trend_csv(trend: Trend) -> str:
    """The same as CSV."""
    return csv_text(trend_rows(trend))


def chart(line: Line, trend: Trend, width: int, height: int) -> list[str]:
    """The rows of a chart: values up the side, evaluations along the bottom, evenly spaced."""
    points = line.points
    low, high = _range(points)
    labels = [number(high - (high - low) * row / (height - 1)) for row in range(height)]
    margin = max(map(len, labels))
    inner = max(10, width - margin - 3)
    columns = _columns(len(points), inner)
    cells = [[" "] * inner for _ in range(height)]

    def row_of(value: float) -> int:
        return round((high - value) / (high - low) * (height - 1))

    breaks = _breaks(points, trend)
    for first, (begin, after) in enumerate(pairwise(columns)):
        if first + 1 not in breaks:
            for column in range(begin, after + 1):
                share = (column - begin) / (after - begin) if after > begin else 0.0
                _draw(cells, column, points[first], points[first + 1], share, row_of)
    for index, (column, point) in enumerate(zip(columns, points, strict=True)):
        _shade(cells, column, point.low, point.high, row_of)
        if index in breaks:
            # Between two evaluations, or beside the dot where there is no room between.
            at = (columns[index - 1] + column) // 2
            for cell_row in cells:
                if cell_row[at] != DOT:
                    cell_row[at] = BREAK
        cells[row_of(point.mean)][column] = DOT
    rows = [f"{label:>{margin}} ┤{''.join(row)}" for label, row in zip(labels, cells, strict=True)]
    rows.append(f"{'':>{margin}} └{'─' * inner}")
    rows.append(f"{'':>{margin}}  {_dates(points, inner)}")
    return [row.rstrip() for row in rows]


def _draw(cells: Cells, column: int, a: Point, b: Point, share: float, row_of: RowOf) -> None:
    """One column of the way from a point to the next."""
    _shade(cells, column, _between(a.low, b.low, share), _between(a.high, b.high, share), row_of)
    cells[row_of(a.mean + (b.mean - a.mean) * share)][column] = "─"


def _between(a: float | None, b: float | None, share: float) -> float | None:
    return None if a is None or b is None else a + (b - a) * share


def _shade(cells: Cells, column: int, low: float | None, high: float | None, row_of: RowOf) -> None:
    if low is None or high is None:
        return
    for row in range(row_of(high), row_of(low) + 1):
        if cells[row][column] == " ":
            cells[row][column] = BAND


def _columns(n: int, width: int) -> list[int]:
    if n == 1:
        return [width // 2]
    return [round(i * (width - 1) / (n - 1)) for i in range(n)]


def _range(points: Sequence[Point]) -> tuple[float, float]:
    """From a little below the lowest end of an interval to a little above the highest."""
    lows = [point.mean if point.low is None else point.low for point in points]
    highs = [point.mean if point.high is None else point.high for point in points]
    low, high = min(lows), max(highs)
    if high - low < 0.02:
        middle = (high + low) / 2
        low, high = middle - 0.01, middle + 0.01
    return low, high


def _breaks(points: Sequence[Point], trend: Trend) -> set[int]:
    """The points before which something changed, seen from the point that stood before."""
    when = [mark.saved for mark in trend.marks]
    return {
        index
        for index in range(1, len(points))
        if any(points[index - 1].saved < one <= points[index].saved for one in when)
    }


def _dates(points: Sequence[Point], width: int) -> str:
    times = [points[at].saved for at in (0, len(points) // 2, -1)]
    form = "%Y-%m-%d %H:%M" if times[0].date() == times[-1].date() else "%Y-%m-%d"
    first, middle, last = (f"{when:{form}}" for when in times)
    if len(points) == 1 or width < len(first) + len(last) + 2:
        return first[:width]
    gap = width - len(first) - len(last)
    if len(points) > 2 and gap > len(middle) + 4:
        return first + middle.center(gap) + last
    return first + " " * gap + last


def _title(line: Line, trend: Trend) -> str:
    # What lies before the last mark was measured by another yardstick.
    since = max([0, *_breaks(line.points, trend)])
    first, last = line.points[since], line.points[-1]
    moved = number(last.mean) if first is last else f"{number(first.mean)} → {number(last.mean)}"
    return f"{_named(line)}  {moved}"


def _named(line: Line) -> str:
    place = f" for {printable(line.tag or '', 30)}={printable(line.value or '', 40)}"
    return f"{line.metric}{place if line.tag else ''}"


def _legend(trend: Trend, shown: Sequence[Line]) -> Iterator[Note]:
    band = any(point.low is not None for line in shown for point in line.points)
    yield Note(
        "counted",
        f"{plural(trend.evaluations, 'evaluation')} called {printable(trend.name)}, evenly spaced, "
        f"oldest to newest{f'; {BAND} interval' if band else ''}.",
    )
    for mark in reversed(trend.marks):
        yield Note(
            "marks",
            f"{BREAK} {mark.saved:%Y-%m-%d %H:%M}: the {' and the '.join(mark.what)} changed; "
            "numbers before and after are not comparable.",
        )


def _in_notebook(trend: Trend) -> str:
    """On a terminal a trend is drawn with characters, which a page has no use for."""
    from calipers.present.chart_output import in_notebook
    from calipers.present.notebook import as_html

    return as_html(trend, _print_ends) + in_notebook(trend_chart(trend))


def _print_ends(trend: Trend, console: Console) -> None:
    table = Table()
    for name in ("metric", "evaluations", "first", "last"):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for line in trend.lines:
        if line.points:
            place = f" for {line.tag}={line.value}" if line.tag else ""
            ends = (line.points[0].mean, line.points[-1].mean)
            table.add_row(Text(line.metric + place), f"{len(line.points):,}", *map(number, ends))
    console.print(Text(verdict(trend), style="bold"))
    console.print(table)


show_with(Trend, print_trend, chart=trend_chart, html=_in_notebook, rows=trend_rows)
