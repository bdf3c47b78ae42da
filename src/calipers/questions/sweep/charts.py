"""A sweep as charts: each metric against k, and precision against recall."""

from collections.abc import Iterable, Mapping, Sequence

from calipers.present.charts import LIGHT, NARROW, WIDE, Palette, Spec, finished
from calipers.questions.sweep.result import Sweep
from calipers.words import number

LABELLED = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def over_k(
    sweep: Sweep,
    *,
    metrics: Sequence[str] | None = None,
    width: int = WIDE,
    palette: Palette = LIGHT,
) -> Spec:
    """Every metric against k: one panel each, with its band, the best guess and the safe k."""
    drawn = [stem for stem in sweep.metrics if metrics is None or stem in metrics]
    columns = min(3 if width > NARROW else 2, len(drawn))
    rows = [
        {
            "metric": stem,
            "k": point.k,
            "mean": value.mean,
            "low": value.interval.low if value.interval else value.mean,
            "high": value.interval.high if value.interval else value.mean,
            "said": f"{stem}@{point.k}: {number(value.mean)}"
            + (
                f" ({number(value.interval.low)}–{number(value.interval.high)})"
                if value.interval
                else ""
            ),
        }
        for stem in drawn
        for point in sweep.points
        if (value := point.values[stem]).mean is not None
    ]
    x = {
        "field": "k",
        "type": "quantitative",
        "axis": {"title": "k", "tickMinStep": 1, "tickCount": 4, "grid": False},
        "scale": {"zero": False, "nice": False},
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": None, "values": [0, 0.5, 1]},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "color": palette.accent, "opacity": 0.16, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "color": palette.accent, "strokeWidth": 2, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "mean"}},
        },
        {
            "mark": {"type": "point", "filled": True, "color": palette.accent, "size": 22},
            "encoding": {
                "x": x,
                "y": {**y, "field": "mean"},
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
            },
        },
    ]
    if sweep.recall:
        # The safe k is a whole line, the best guess a dashed one; where both are one it is whole.
        for k, dash in ((sweep.recall.best_guess, [4, 3]), (sweep.recall.safe_k, [1, 0])):
            layers.insert(
                0,
                {
                    "transform": [{"filter": f"datum.k === {k}"}],
                    "mark": {
                        "type": "rule",
                        "color": palette.worse,
                        "strokeDash": dash,
                        "size": 1.5,
                        "aria": False,
                    },
                    "encoding": {"x": x},
                },
            )
    gap = 34
    panel = (width - 34 - gap * (columns - 1)) // columns
    return finished(
        {
            "description": "Each metric against k, with its interval."
            + (f" {sweep.recall.says}" if sweep.recall else ""),
            "data": {"values": rows},
            "facet": {
                "field": "metric",
                "type": "nominal",
                "sort": drawn,
                "header": {
                    "title": None,
                    "labelFontSize": 13,
                    "labelFontWeight": 600,
                    "labelColor": palette.ink,
                    "labelAnchor": "start",
                },
            },
            "columns": columns,
            "spacing": {"column": gap, "row": 24},
            "spec": {"width": panel, "height": round(min(panel * 0.62, 320)), "layer": layers},
            "resolve": {"axis": {"x": "independent"}},
        },
        palette,
    )


def precision_recall(sweep: Sweep, *, width: int = WIDE, palette: Palette = LIGHT) -> Spec:
    """Precision against recall, k along the curve, and the best that can be attained."""
    called = _called(sweep)
    shown = _labelled(sweep, called)
    rows = [
        {
            "k": point.k,
            "recall": recall,
            "precision": precision,
            "label": _label(point.k, called),
            "labelled": point.k in shown,
            "advised": point.k in called,
            "said": f"k = {point.k}: recall {number(recall)}, precision {number(precision)}"
            + (f", {called[point.k]}" if point.k in called else ""),
        }
        for point in sweep.points
        if (recall := point.values["recall"].mean) is not None
        and (precision := point.values["precision"].mean) is not None
    ]
    axis = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"}
    encoding = {
        "x": {
            "field": "recall",
            "type": "quantitative",
            "scale": {"domain": [0, 1]},
            "axis": {**axis, "title": "recall"},
        },
        "y": {
            "field": "precision",
            "type": "quantitative",
            "scale": {"domain": [0, 1]},
            "axis": {**axis, "title": "precision"},
        },
    }
    best = {"values": _ceilings(sweep)}
    begins_right = any(one["recall"] > 0.4 for one in best["values"][:1])
    side = {"align": "right", "dx": -7} if begins_right else {"align": "left", "dx": 7}
    mark_advised = {"condition": {"test": "datum.advised", "value": palette.worse}}
    layers = [
        {
            "data": best,
            "mark": {
                "type": "line",
                "color": palette.even,
                "strokeDash": [4, 3],
                "strokeWidth": 1.5,
                "aria": False,
            },
            "encoding": {**encoding, "order": {"field": "k"}},
        },
        {
            "data": best,
            "mark": {"type": "point", "filled": True, "size": 18, "color": palette.even},
            "encoding": {
                **encoding,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
            },
        },
        {
            "data": {"values": best["values"][:1]},
            "mark": {
                **side,
                "type": "text",
                "dy": 12,
                "text": "best possible",
                "fontSize": 12,
                "color": palette.quiet,
                "aria": False,
            },
            "encoding": encoding,
        },
        {
            "mark": {"type": "line", "color": palette.accent, "strokeWidth": 2, "aria": False},
            "encoding": {**encoding, "order": {"field": "k"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 44, "opacity": 1},
            "encoding": {
                **encoding,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
                "color": {**mark_advised, "value": palette.accent},
            },
        },
        {
            "transform": [{"filter": "datum.labelled"}],
            "mark": {
                "type": "text",
                "dx": 7,
                "dy": -7,
                "align": "left",
                "fontSize": 12,
                "aria": False,
            },
            "encoding": {
                **encoding,
                "text": {"field": "label"},
                "color": {**mark_advised, "value": palette.ink},
            },
        },
    ]
    inner = min(width, 520) - 60
    return finished(
        {
            "description": "Precision against recall, with k along the curve.",
            "data": {"values": rows},
            "width": inner,
            "height": round(inner * 0.72),
            "layer": layers,
        },
        palette,
    )


def _ceilings(sweep: Sweep) -> list[Spec]:
    """The best recall and precision that any retriever could have at each k."""
    return [
        {
            "k": point.k,
            "recall": point.recall_ceiling,
            "precision": point.precision_ceiling,
            "said": f"at most at k = {point.k}: recall {number(point.recall_ceiling)}, "
            f"precision {number(point.precision_ceiling)}",
        }
        for point in sweep.points
        if point.recall_ceiling is not None and point.precision_ceiling is not None
    ]


def _called(sweep: Sweep) -> dict[int, str]:
    """The k that is the best guess and the one that is safe, and what they are called."""
    found = sweep.recall
    if not found:
        return {}
    return {found.best_guess: "best guess", found.safe_k: "safe"}


def _label(k: int, called: Mapping[int, str]) -> str:
    if k in called:
        return f"k = {k}, {called[k]}"
    return f"k = {k}" if k == 1 else f"{k}"


def _labelled(sweep: Sweep, called: Iterable[int]) -> set[int]:
    """The k whose numbers have room beside the curve, those that are advised before all others."""
    room: list[tuple[float, float]] = []
    found: set[int] = set()
    for k in (*called, 1, sweep.points[-1].k, *LABELLED):
        point = next((point for point in sweep.points if point.k == k), None)
        if point is None:
            continue
        place = (point.values["recall"].mean or 0.0, point.values["precision"].mean or 0.0)
        if all(abs(place[0] - x) > 0.09 or abs(place[1] - y) > 0.09 for x, y in room):
            room.append(place)
            found.add(k)
    return found
