"""Charts of two or more systems, as Vega-Lite specifications."""

from collections import Counter

import numpy as np

from calipers.present.charts import (
    LIGHT,
    NARROW,
    WIDE,
    Palette,
    Spec,
    dots_with_intervals,
    finished,
    panels_by,
)
from calipers.present.escape import printable
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.words import between
from calipers.words import number, signed


def differences(comparison: Comparison, *, width: int = WIDE, palette: Palette = LIGHT) -> Spec:
    """Each system minus the baseline, with intervals, by the signs of the sentences."""
    wide = width > NARROW
    bounded = [m.name for m in comparison.metrics if m.bounds == (0, 1)]
    rows = [
        {
            "system": f"{printable(one.system, 30)} − {printable(one.baseline, 30)}",
            "metric": one.metric,
            "difference": one.difference,
            "low": one.interval.low if one.interval else one.difference,
            "high": one.interval.high if one.interval else one.difference,
            "verdict": one.verdict,
            "said": printable(one.claim.line)
            if one.claim
            else f"{one.metric}: {signed(one.difference)} ({between(one.interval)}), not asked for",
        }
        for one in comparison.differences
        if one.difference is not None and one.metric in bounded
    ]
    y = {
        "field": "metric",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelPadding": 10, "domain": False, "labelColor": palette.ink},
    }
    x = {"type": "quantitative", "axis": {"title": "difference", "tickCount": 5}}
    colour = _by_verdict(palette)
    layers = [
        {
            "mark": {"type": "rule", "color": palette.even, "aria": False},
            "encoding": {"x": {"datum": 0, "type": "quantitative"}},
        },
        *_with_signs(dots_with_intervals(x, y, colour, "difference")),
    ]
    return finished(
        {
            "description": "Differences from the baseline, with intervals.",
            "data": {"values": rows},
            "facet": panels_by("system", palette),
            "spec": {
                "width": width - (170 if wide else 130),
                "height": {"step": 30},
                "layer": layers,
            },
        },
        palette,
    )


def head_to_head(
    comparison: Comparison, system: str, metric: str, *, width: int = WIDE, palette: Palette = LIGHT
) -> Spec:
    """Every query by its value in both systems; queries at one place make one larger dot."""
    column = [facts.name for facts in comparison.metrics].index(metric)
    lower = comparison.metrics[column].better == "lower"
    pairs = np.stack(
        [comparison.values[comparison.baseline][:, column], comparison.values[system][:, column]]
    ).T
    places = Counter(
        (round(float(x), 4), round(float(y), 4)) for x, y in pairs if not np.isnan(x + y)
    )
    name, base = printable(system, 24), printable(comparison.baseline, 24)
    rows = [
        {
            "x": x,
            "y": y,
            "count": count,
            "outcome": "equal" if x == y else "better" if (y > x) != lower else "worse",
            "said": f"{count:,} {'query' if count == 1 else 'queries'}: {base} {number(x)}, "
            f"{name} {number(y)}",
        }
        for (x, y), count in places.items()
    ]
    top = max([1.0, *(max(place) for place in places)])
    scale = {"domain": [0, top], "nice": False}
    line = {"values": [{"x": 0, "y": 0}, {"x": top, "y": top}]}
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": f"{metric} of {base}", "tickCount": 4},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": f"{metric} of {name}", "tickCount": 4},
    }
    kinds = ["better", "equal", "worse"]
    layers = [
        {
            "data": line,
            "mark": {
                "type": "line",
                "color": palette.even,
                "strokeDash": [4, 3],
                "strokeWidth": 1,
                "aria": False,
            },
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 0.8},
            "encoding": {
                "x": x,
                "y": y,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
                "size": {
                    "field": "count",
                    "type": "quantitative",
                    "legend": None,
                    "scale": {"range": [40, 500], "type": "sqrt", "domainMin": 1},
                },
                "shape": {
                    "field": "outcome",
                    "type": "nominal",
                    "scale": {"domain": kinds, "range": ["triangle-up", "circle", "triangle-down"]},
                },
                "color": {
                    "field": "outcome",
                    "type": "nominal",
                    "scale": {
                        "domain": kinds,
                        "range": [palette.accent, palette.even, palette.worse],
                    },
                    "legend": {
                        "title": None,
                        "orient": "top",
                        "symbolSize": 90,
                        "labelColor": palette.ink,
                    },
                },
            },
        },
    ]
    inner = min(width, 440) - 60
    return finished(
        {
            "description": f"Each query's {metric} in both systems.",
            "data": {"values": rows},
            "width": inner,
            "height": inner,
            "layer": layers,
        },
        palette,
    )


SHAPES = {
    "better": "triangle-up",
    "worse": "triangle-down",
    "cannot_tell": "circle",
    "supporting": "M-0.1,-1H0.1V1H-0.1Z",
}
"""The sign of each verdict: the last is a stroke across the line."""


def _by_verdict(palette: Palette) -> Spec:
    return {
        "field": "verdict",
        "type": "nominal",
        "legend": None,
        "scale": {
            "domain": list(SHAPES),
            "range": [palette.accent, palette.worse, *[palette.even] * 2],
        },
    }


def _with_signs(layers: list[Spec]) -> list[Spec]:
    """A shape for each standing, so that no colour is needed to read it."""
    *lines, dots = layers
    shape = {
        "field": "verdict",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": list(SHAPES), "range": list(SHAPES.values())},
    }
    mark = {**dots["mark"], "size": 140}
    return [*lines, {"mark": mark, "encoding": {**dots["encoding"], "shape": shape}}]
