"""A trend as a chart: one panel per metric, one line per slice, intervals, marks of change."""

from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.write import check_place, ending_or, whole_file
from calipers.model.evaluation import moment
from calipers.model.trend import Trend
from calipers.present import draw
from calipers.present.palette import LIGHT, Palette
from calipers.present.plain import printable
from calipers.present.table import number

WIDTH, HEIGHT = 620, 190
FORMS = (".svg", ".png", ".html", ".json")


def check_chart(path: str) -> None:
    """Complain before any work about a chart that cannot be written there."""
    if ending_or(path, ".svg") not in FORMS:
        raise InvalidInput(
            f"The output {path} has the ending {Path(path).suffix or 'nothing'!r}; a chart can be "
            f"written to {', '.join(FORMS)}."
        )
    check_place(path)


def write_trend(trend: Trend, path: str) -> None:
    """The chart in the form that the ending names: SVG, PNG, a page, or its specification."""
    check_chart(path)
    spec, form = trend_chart(trend), ending_or(path, ".svg")
    content = {
        ".svg": lambda: draw.svg(spec).encode(),
        ".png": lambda: draw.png(spec),
        ".html": lambda: draw.interactive(spec).encode(),
        ".json": lambda: draw.as_json(spec).encode(),
    }[form]()
    with whole_file(path) as file:
        file.write(content)


def trend_chart(trend: Trend, *, palette: Palette = LIGHT) -> dict[str, Any]:
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
    marks = [
        {"saved": moment(mark.saved), "said": f"{' and '.join(mark.what)} changed"}
        for mark in trend.marks
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": f"{_shown(trend.name)} over time, each metric with its interval.",
        "background": palette.paper,
        "padding": 12,
        "vconcat": [
            _panel(metric, rows, marks, trend, palette) for metric in trend.metrics
        ],
        "config": {
            "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
            "axis": {"labelColor": palette.quiet, "titleColor": palette.quiet,
                     "gridColor": palette.line, "domainColor": palette.line,
                     "tickColor": palette.line},
            "title": {"color": palette.ink, "anchor": "start", "fontSize": 13},
            "legend": {"labelColor": palette.ink, "titleColor": palette.quiet,
                       "symbolOpacity": 1},
            "view": {"stroke": None},
        },
    }  # fmt: skip


def _panel(
    metric: str,
    rows: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    trend: Trend,
    palette: Palette,
) -> dict[str, Any]:
    x = {"field": "saved", "type": "temporal", "title": None,
         "scale": {"type": "utc"}, "axis": {"grid": False, "labelOverlap": True}}  # fmt: skip
    y = {"type": "quantitative", "title": None, "scale": {"zero": False, "nice": True}}
    colour: dict[str, Any] = {"value": palette.accent}
    if trend.by is not None:
        colour = {"field": "slice", "type": "nominal", "title": _shown(trend.by)}
    mine = {"values": [row for row in rows if row["metric"] == metric]}
    # Lines end at a mark: what stands on its two sides was measured by different yardsticks.
    parts = {"detail": {"field": "part"}, "color": colour}
    layers: list[dict[str, Any]] = [
        {"data": mine, "mark": {"type": "area", "opacity": 0.14},
         "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **parts}},
        {"data": mine, "mark": {"type": "line", "strokeWidth": 2},
         "encoding": {"x": x, "y": {**y, "field": "mean"}, **parts}},
        {"data": mine, "mark": {"type": "point", "filled": True, "size": 30},
         "encoding": {"x": x, "y": {**y, "field": "mean"}, "color": colour,
                      "tooltip": {"field": "said"}, "description": {"field": "said"}}},
    ]  # fmt: skip
    if marks:
        rule = {"type": "rule", "strokeDash": [4, 3], "color": palette.worse, "strokeWidth": 1.5}
        text = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "fontSize": 10,
                "color": palette.worse}  # fmt: skip
        layers += [
            {"data": {"values": marks}, "mark": rule,
             "encoding": {"x": x, "tooltip": {"field": "said"}}},
            {"data": {"values": marks}, "mark": text,
             "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "said"}}},
        ]  # fmt: skip
    return {"title": metric, "width": WIDTH, "height": HEIGHT, "layer": layers}


def _part(trend: Trend, saved: Any) -> int:
    """How many marks lie before a point."""
    return sum(mark.saved <= saved for mark in trend.marks)


def _shown(text: str) -> str:
    """Text of others on a chart; a page must not take any of it for markup."""
    return printable(text, 60).replace("<", "‹").replace(">", "›")
