"""A trend as a chart: one panel per metric, one line per slice, intervals, marks of change."""

from typing import Any

from calipers.model.result import moment
from calipers.present.charts import LIGHT, Palette
from calipers.present.escape import printable
from calipers.questions.trend.result import Trend
from calipers.words import number

WIDTH, HEIGHT = 620, 190
NARROW = 270
"""The width of a panel on a phone."""
_LEAST_RANGE = 0.1
_LETTER = 6
"""Pixels that a letter of a mark's label takes, at most."""
SAME_MINUTE, SAME_SECOND = len("2026-01-31T12:30"), len("2026-01-31T12:30:59")


def trend_chart(trend: Trend, *, width: int = WIDTH, palette: Palette = LIGHT) -> dict[str, Any]:
    """The Vega-Lite specification."""
    rows = [
        {
            "metric": line.metric,
            "slice": "all queries" if line.value is None else _shown(line.value),
            "part": _part(trend, point.saved),
            "saved": moment(point.saved),
            "mean": point.mean,
            "low": point.mean if point.low is None else point.low,
            "high": point.mean if point.high is None else point.high,
            "said": f"{line.metric} {number(point.mean)}, {point.saved:%Y-%m-%d %H:%M}, "
            f"@{point.id[:8]}" + (f", commit {point.commit[:10]}" if point.commit else ""),
        }
        for line in trend.lines
        for point in line.points
    ]
    marks = _marks(trend, width)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": f"{_shown(trend.name)} over time, each metric with its interval.",
        "background": palette.paper,
        "padding": 12,
        "vconcat": [_panel(metric, rows, marks, trend, palette, width) for metric in trend.metrics],
        "config": {
            "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
            "axis": {
                "labelColor": palette.quiet,
                "titleColor": palette.quiet,
                "gridColor": palette.line,
                "domainColor": palette.line,
                "tickColor": palette.line,
            },
            "title": {"color": palette.ink, "anchor": "start", "fontSize": 13},
            "legend": {"labelColor": palette.ink, "titleColor": palette.quiet, "symbolOpacity": 1},
            "view": {"stroke": None},
        },
    }


def _panel(
    metric: str,
    rows: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    trend: Trend,
    palette: Palette,
    width: int,
) -> dict[str, Any]:
    mine = [row for row in rows if row["metric"] == metric]
    x = {
        "field": "saved",
        "type": "temporal",
        "title": None,
        "scale": {"type": "utc"},
        "axis": _times(mine, width),
    }
    y = {
        "type": "quantitative",
        "title": None,
        "scale": {"domain": _range(mine), "nice": False, "zero": False},
        "axis": {"tickCount": 4, "format": ".3~f"},
    }
    colour: dict[str, Any] = {"value": palette.accent}
    if trend.by is not None:
        colour = {"field": "slice", "type": "nominal", "title": _shown(trend.by)}
    shown = {"values": mine}
    # Lines end at a mark: what stands on its two sides was measured by different yardsticks.
    parts = {"detail": {"field": "part"}, "color": colour}
    layers: list[dict[str, Any]] = [
        {
            "data": shown,
            "mark": {"type": "area", "opacity": 0.14},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **parts},
        },
        {
            "data": shown,
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": {**y, "field": "mean"}, **parts},
        },
        {
            "data": shown,
            "mark": {"type": "point", "filled": True, "size": 30},
            "encoding": {
                "x": x,
                "y": {**y, "field": "mean"},
                "color": colour,
                "tooltip": {"field": "said"},
                "description": {"field": "said"},
            },
        },
    ]
    if marks:
        rule = {"type": "rule", "strokeDash": [4, 3], "color": palette.worse, "strokeWidth": 1.5}
        text = {
            "type": "text",
            "align": "left",
            "baseline": "top",
            "dx": 4,
            "fontSize": 10,
            "color": palette.worse,
        }
        layers += [
            {
                "data": {"values": marks},
                "mark": rule,
                "encoding": {"x": x, "tooltip": {"field": "said"}},
            },
            {
                "data": {"values": marks},
                "mark": text,
                "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "label"}},
            },
        ]
    return {"title": metric, "width": width, "height": HEIGHT, "layer": layers}


def _marks(trend: Trend, width: int) -> list[dict[str, Any]]:
    """Where something changed; a label that would stand on the one before it is left out."""
    times = [point.saved for line in trend.lines for point in line.points]
    span = (max(times) - min(times)).total_seconds() if times else 0.0
    found: list[dict[str, Any]] = []
    free = -1.0
    for mark in trend.marks:
        said = f"{' and '.join(mark.what)} changed"
        at = width * (mark.saved - min(times)).total_seconds() / span if span else 0.0
        label = said if at > free else ""
        free = at + len(said) * _LETTER if label else free
        found.append({"saved": moment(mark.saved), "said": said, "label": label})
    return found


def _times(rows: list[dict[str, Any]], width: int) -> dict[str, Any]:
    """The axis of time; evaluations of one moment have one label, and it says when that was."""
    axis: dict[str, Any] = {"grid": False, "labelOverlap": True, "tickCount": width // 90}
    moments = sorted({row["saved"] for row in rows})
    minutes = {one[: len("2026-01-31T06:00")] for one in moments}
    if len(minutes) == 1:
        axis |= {
            "values": [{"signal": f"toDate('{moments[0]}')"}],
            "format": "%Y-%m-%d %H:%M",
            "labelOverlap": False,
        }
    elif moments and moments[0][:SAME_MINUTE] == moments[-1][:SAME_MINUTE]:
        # Parts of a second would be all that the labels say; each evaluation has its own instead.
        values = [{"signal": f"toDate('{one}')"} for one in _one_a_second(moments)]
        axis |= {"values": values, "format": "%Y-%m-%d %H:%M:%S"}
    return axis


def _one_a_second(moments: list[str]) -> list[str]:
    """The first of the moments within each second."""
    return list({one[:SAME_SECOND]: one for one in reversed(moments)}.values())[::-1]


def _range(rows: list[dict[str, Any]]) -> list[float]:
    """From below the lowest end of an interval to above the highest, at least a tenth apart.

    >>> _range([{"low": 0.5, "high": 0.5}]), _range([{"low": 0.96, "high": 1.0}])
    ([0.45, 0.55], [0.9, 1.0])
    """
    low = min((row["low"] for row in rows), default=0.0)
    high = max((row["high"] for row in rows), default=1.0)
    if (lacking := _LEAST_RANGE - (high - low)) > 0:
        # A share can be no more than one, so the room is taken below it.
        above = min(lacking / 2, 1.0 - high) if high <= 1.0 else lacking / 2
        low, high = low - (lacking - above), high + above
    return [round(low, 4), round(high, 4)]


def _part(trend: Trend, saved: Any) -> int:
    """How many marks lie before a point."""
    return sum(mark.saved <= saved for mark in trend.marks)


def _shown(text: str) -> str:
    """Text of others on a chart; a page must not take any of it for markup."""
    return printable(text, 60).replace("<", "‹").replace(">", "›")
