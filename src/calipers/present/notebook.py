"""Results as a notebook shows them: the answer as tables, and a chart where one helps."""

import io
from collections.abc import Callable
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from calipers.errors import MissingExtra
from calipers.present import charts, draw
from calipers.present.printers import print_result
from calipers.present.table import number
from calipers.present.texts import clean
from calipers.questions.compare import charts as charts_compared
from calipers.questions.compare.result import Comparison
from calipers.questions.evaluate.show import OpenTable
from calipers.questions.grid.result import Grid
from calipers.questions.misses.result import Misses
from calipers.questions.plot.result import Plot
from calipers.questions.plot.show import spec_of
from calipers.questions.slices.result import Slices
from calipers.questions.sweep.result import Sweep
from calipers.questions.trend.charts import trend_chart
from calipers.questions.trend.result import Trend
from calipers.questions.trend.show import verdict as trend_verdict

WIDTH = 160
"""Characters that a table may take beside itself: a notebook is wider than a terminal."""
TAGS = {"bold": "strong", "dim": "small"}


def as_html(value: Any) -> str:
    """What a notebook shows of a result."""
    if isinstance(value, Plot):
        return _drawn(lambda: spec_of(value), value.chart)
    if isinstance(value, Trend):
        # On a terminal a trend is drawn with characters, which a page has no use for.
        return _trend(value) + _chart(value)
    paper = PaperConsole()
    print_result(value, paper)
    return paper.html + _chart(value)


class PaperConsole(Console):
    """A console on which the tables and sentences of a terminal become those of a page."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=WIDTH, color_system=None)
        self._parts: list[str] = []

    @property
    def html(self) -> str:
        """Everything that was printed."""
        return "".join(self._parts)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ARG002 - as rich has it
        """Keep what would be printed, as markup."""
        self._parts += map(_block, objects)


def _block(value: Any) -> str:
    if isinstance(value, Padding):
        return _block(value.renderable)
    if isinstance(value, OpenTable):
        return _table(value.as_table())
    if isinstance(value, Table):
        return _table(value)
    inner = _inline(value)
    return f"<p>{inner}</p>" if inner else ""


def _table(table: Table) -> str:
    columns = list(table.columns)
    if not table.show_header:
        lines = zip(*(map(_inline, column.cells) for column in columns), strict=True)
        return "".join(f"<p>{' '.join(cells)}</p>" for cells in lines)
    heads = "".join(f"<th>{_inline(column.header)}</th>" for column in columns)
    rows = zip(*(column.cells for column in columns), strict=True)
    body = "".join(f"<tr>{''.join(map(_cell, columns, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _cell(column: Any, value: Any) -> str:
    side = "right" if column.justify == "right" else "left"
    return f'<td style="text-align: {side}">{_inline(value)}</td>'


def _inline(value: Any) -> str:
    """A text of the terminal with what is bold or dim in it; all of it escaped."""
    if not isinstance(value, Text):
        return _escaped(str(value))
    whole = str(value.style)
    ends = sorted({0, len(value.plain), *(at for s in value.spans for at in (s.start, s.end))})
    parts = []
    for start, end in pairwise(ends):
        styles = [str(s.style) for s in value.spans if s.start <= start and end <= s.end]
        parts.append(_styled(value.plain[start:end], " ".join([whole, *styles])))
    return "".join(parts)


def _styled(text: str, style: str) -> str:
    inner = _escaped(text)
    for word, tag in TAGS.items():
        if word in style.split() and text.strip():
            inner = f"<{tag}>{inner}</{tag}>"
    return inner


def _escaped(text: str) -> str:
    return escape(clean(text)).replace("\n", "<br>")


def _trend(trend: Trend) -> str:
    table = Table()
    for name in ("metric", "evaluations", "first", "last"):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for line in trend.lines:
        if line.points:
            place = f" for {line.tag}={line.value}" if line.tag else ""
            ends = (line.points[0].mean, line.points[-1].mean)
            table.add_row(Text(line.metric + place), f"{len(line.points):,}", *map(number, ends))
    return _block(Text(trend_verdict(trend), style="bold")) + _table(table)


def _chart(value: Any) -> str:
    """The chart of a result that has one."""
    if isinstance(value, Grid):
        return _chart(value.comparison)
    for kind, (make, label) in _CHARTS.items():
        if isinstance(value, kind):
            return _drawn(partial(make, value), label)
    return ""


def _drawn(make: Callable[[], dict[str, Any]], label: str) -> str:
    """The chart, or why there is none: a table without a chart is still a table."""
    try:
        return draw.inline_svg(make(), escape(label))
    except MissingExtra as error:
        return f"<p>{escape(str(error))}</p>"


_CHARTS: dict[type, tuple[Callable[[Any], dict[str, Any]], str]] = {
    Comparison: (charts_compared.differences, "Differences from the baseline"),
    Misses: (charts.waterfall, "Where recall is lost"),
    Slices: (lambda one: charts.slices_chart(one, one.metrics[0], None), "Slices"),
    Sweep: (charts.over_k, "Each metric against k"),
    Trend: (trend_chart, "Each metric over time"),
}
