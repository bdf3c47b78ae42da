"""Where recall is lost, as a chart."""

import textwrap

from calipers.present.charts import LIGHT, NARROW, WIDE, Palette, Spec, finished
from calipers.questions.misses.result import REASONS, Misses


def waterfall(misses: Misses, *, width: int = WIDE, palette: Palette = LIGHT) -> Spec:
    """What should be found, less what each reason lost, down to what was found."""
    wide = width > NARROW
    wrap = 40 if wide else 20
    rows = [
        {
            "name": "should be found",
            "from": 0,
            "to": misses.targets,
            "kind": "whole",
            "count": f"{misses.targets:,}",
        }
    ]
    left = misses.targets
    for reason in REASONS:
        if lost := misses.reasons.get(reason.name):
            rows.append(
                {
                    "name": reason.means,
                    "from": left - lost,
                    "to": left,
                    "kind": "lost",
                    "count": f"−{lost:,}",
                }
            )
            left -= lost
    rows.append(
        {
            "name": f"found in the first {misses.k}",
            "from": 0,
            "to": left,
            "kind": "whole",
            "count": f"{left:,}",
        }
    )
    for row in rows:
        row["said"] = f"{row['name']}: {row['count']}"
        row["name"] = "\n".join(textwrap.wrap(str(row["name"]), wrap))
    y = {
        "field": "name",
        "type": "nominal",
        "sort": [row["name"] for row in rows],
        "axis": {
            "title": None,
            "labelExpr": "split(datum.label, '\\n')",
            "labelLimit": 400,
            "labelPadding": 10,
            "domain": False,
            "labelColor": palette.ink,
        },
    }
    top = misses.targets * 1.08 or 1
    x = {"field": "from", "type": "quantitative", "axis": None, "scale": {"domain": [0, top]}}
    layers = [
        {
            "mark": {"type": "bar", "height": 16, "cornerRadius": 2},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": y,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
                "color": {
                    "condition": {"test": "datum.kind === 'lost'", "value": palette.worse},
                    "value": palette.accent,
                },
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "color": palette.ink, "aria": False},
            "encoding": {"x": {**x, "field": "to"}, "y": y, "text": {"field": "count"}},
        },
    ]
    return finished(
        {
            "description": "Where recall is lost, by reason.",
            "data": {"values": rows},
            "width": width - (290 if wide else 160),
            "height": {"step": 34 if wide else 46},
            "layer": layers,
        },
        palette,
    )
