"""Slices of the queries as a chart."""

import textwrap

from calipers.present.charts import NARROW, WIDE, Spec, finished
from calipers.present.escape import printable
from calipers.present.palette import LIGHT, Palette
from calipers.present.words import number
from calipers.questions.slices.result import Slices


def slices_chart(
    slices: Slices,
    metric: str,
    overall: float | None,
    *,
    width: int = WIDE,
    palette: Palette = LIGHT,
) -> Spec:
    """One dot with its interval per slice, one panel per tag, and the mean of all queries."""
    wide = width > NARROW
    rows = [
        {
            "by": printable(row.by, 30),
            "slice": "\n".join(
                textwrap.wrap(f"{printable(row.value, 40)} ({row.queries:,})", 30 if wide else 18)
            ),
            "mean": row.mean,
            "low": row.interval.low if row.interval else row.mean,
            "high": row.interval.high if row.interval else row.mean,
            "worse": row.is_worse,
            "said": f"{printable(row.value, 40)}: {number(row.mean)}"
            + (f" ({number(row.interval.low)}–{number(row.interval.high)})" if row.interval else "")
            + f", {row.queries:,} queries"
            + (", significantly worse than the rest" if row.is_worse else ""),
            "overall": overall,
        }
        for row in slices.rows
        if row.metric == metric and row.mean is not None
    ]
    x = {
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": metric, "values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"},
    }
    y = {
        "field": "slice",
        "type": "nominal",
        "sort": None,
        "axis": {
            "title": None,
            "labelExpr": "split(datum.label, '\\n')",
            "labelLimit": 300,
            "labelPadding": 10,
            "domain": False,
            "labelColor": palette.ink,
        },
    }
    colour = {"condition": {"test": "datum.worse", "value": palette.worse}, "value": palette.accent}
    layers = [
        {
            "mark": {"type": "rule", "color": palette.even, "strokeDash": [4, 3], "aria": False},
            "encoding": {"x": {**x, "field": "overall", "aggregate": "mean"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "aria": False},
            "encoding": {
                "x": {**x, "field": "low"},
                "x2": {"field": "high"},
                "y": y,
                "color": colour,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "x": {**x, "field": "mean"},
                "y": y,
                "color": colour,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
            },
        },
    ]
    return finished(
        {
            "description": f"{metric} for each slice of the queries, with intervals.",
            "data": {"values": rows},
            "facet": {
                "row": {
                    "field": "by",
                    "type": "nominal",
                    "sort": None,
                    "header": {
                        "title": None,
                        "labelAngle": 0,
                        "labelOrient": "top",
                        "labelAnchor": "start",
                        "labelFontSize": 13,
                        "labelFontWeight": 600,
                        "labelColor": palette.ink,
                    },
                }
            },
            "spec": {
                "width": width - (240 if wide else 150),
                "height": {"step": 30 if wide else 38},
                "layer": layers,
            },
            "resolve": {"scale": {"y": "independent"}},
        },
        palette,
    )
