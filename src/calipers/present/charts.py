"""What all charts share: their looks, and how a specification becomes a picture.

Without a browser and without the network.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, MissingExtra
from calipers.io.files.write import check_place, ending_or, whole_file
from calipers.model.result import CHARTS, ShowsItself


@dataclass(frozen=True)
class Palette:
    """The few colours that a chart may use."""

    ink: str
    quiet: str
    """Axis labels."""
    line: str
    """Grid and rules."""
    accent: str
    worse: str
    """Set against the accent; the two differ for every kind of colour vision, and in lightness."""
    even: str
    paper: str


LIGHT = Palette(
    ink="#1c2430",
    quiet="#5b6675",
    line="#dfe3e8",
    accent="#1f5fa8",
    worse="#c0500c",
    even="#8a94a1",
    paper="#ffffff",
)
PAGE = Palette(
    ink="var(--ink)",
    quiet="var(--quiet)",
    line="var(--line)",
    accent="var(--accent)",
    worse="var(--worse)",
    even="var(--even)",
    paper="var(--paper)",
)
"""The names of the page's own colours, so that a chart turns dark with it."""

LIGHT_PAGE = {
    "paper": "#ffffff",
    "raised": "#f6f8fa",
    "ink": "#1c2430",
    "quiet": "#57616f",
    "line": "#dfe3e8",
    "accent": "#1f5fa8",
    "worse": "#b3480a",
    "even": "#7d8794",
}
DARK_PAGE = {
    "paper": "#12161c",
    "raised": "#1a2028",
    "ink": "#e6eaf0",
    "quiet": "#a3afbe",
    "line": "#2d3641",
    "accent": "#7db3f0",
    "worse": "#f29b5e",
    "even": "#8b96a4",
}
"""What those names mean on a page that is a chart alone; the report's sheet has the same."""


Spec = dict[str, Any]

WIDE = 680
NARROW = 330
"""Below this a chart is laid out for a phone."""
FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
"""A font that is equally wide everywhere: room for labels is measured when a chart is drawn."""

VEGA_LITE = "5.21"
_STYLE = re.compile(r'\sstyle="[^"]*"')
_SIZE = re.compile(r' width="([\d.]+)" height="[\d.]+"')


def check_chart(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no chart can be written."""
    ending = ending_or(Path(path), ".svg")
    if ending != ".svg":
        raise InvalidInput(
            f"The chart {path} has the ending {ending or 'nothing'!r}; a chart is written as .svg, "
            "which every browser shows and converts."
        )
    check_place(Path(path))


def write_chart(result: ShowsItself, path: str | PathLike[str]) -> None:
    """The chart of a result (scores, comparison, sweep, trend, …) as an SVG file."""
    check_chart(path)
    drawn = svg(_chart_of(result))
    with whole_file(Path(path)) as file:
        file.write(drawn.encode("utf-8", "replace"))


def _chart_of(result: ShowsItself) -> Spec:
    _ = result._shown
    found = next((CHARTS[kind] for kind in type(result).__mro__ if kind in CHARTS), None)
    if found is None:
        raise InvalidInput(f"There is no chart of a {type(result).__name__}.")
    return found[0](result)


def dots_with_intervals(x: Spec, y: Spec, colour: Spec, value: str) -> list[Spec]:
    """One row for each datum: a line from its ``low`` to its ``high``, a dot at its value."""
    return [
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
                "x": {**x, "field": value},
                "y": y,
                "color": colour,
                "description": {"field": "said"},
                "tooltip": {"field": "said"},
            },
        },
    ]


def panels_by(field: str, palette: Palette) -> Spec:
    """One panel under the other, each headed by its value of the field."""
    return {
        "row": {
            "field": field,
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
    }


def finished(spec: Spec, palette: Palette) -> Spec:
    """The specification with the looks that all charts share."""
    text = {
        "labelColor": palette.quiet,
        "titleColor": palette.quiet,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelFont": FONT,
        "titleFont": FONT,
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": None if palette.paper.startswith("var") else palette.paper,
        "padding": {"left": 14, "right": 8, "top": 4, "bottom": 4},
        **spec,
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "axis": {
                **text,
                "gridColor": palette.line,
                "domainColor": palette.line,
                "tickColor": palette.line,
                "titleFontWeight": 500,
                "titlePadding": 8,
            },
            "header": {"labelFont": FONT},
            "legend": text,
            "text": {"font": FONT, "fontSize": 12},
        },
    }


def svg(spec: dict[str, Any]) -> str:
    """The chart as SVG."""
    drawn: str = _library().vegalite_to_svg(spec, vl_version=VEGA_LITE)
    return drawn


def inline_svg(spec: dict[str, Any], label: str) -> str:
    """The chart as SVG that may stand inside a page: no style attributes, with a name."""
    # The page's policy forbids inline styles; Vega uses them for nothing that is seen.
    drawn = _STYLE.sub("", svg(spec))
    # The size in the page's own unit, so that a chart grows with the text around it.
    drawn = _SIZE.sub(lambda found: f' width="{float(found[1]) / 14.6:.2f}rem"', drawn, count=1)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def png(spec: dict[str, Any], scale: float = 2) -> bytes:
    """The chart as PNG."""
    drawn: bytes = _library().vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale)
    return drawn


def interactive(wide: dict[str, Any], narrow: dict[str, Any], title: str) -> str:
    """The chart as a page of its own that answers to the pointer; its script is in it.

    Of the two specifications the one that fits the window is drawn; their colours are names that
    the page gives a meaning to, in the light and in the dark.
    """
    # A tag in a specification could end the script it stands in; so no sign of markup is left.
    specs = json.dumps({"wide": _compiled(wide), "narrow": _compiled(narrow)})
    specs = specs.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    shown = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{shown}</title>\n<style>{_sheet()}</style>\n</head>\n"
        f'<body>\n<main>\n<h1>{shown}</h1>\n<div id="chart"></div>\n</main>\n'
        f'<script type="application/json" id="specs">{specs}</script>\n'
        f'<script type="module">{_script()}</script>\n</body>\n</html>\n'
    )


@cache
def _script() -> str:
    """The libraries that draw, in one piece; made once, because it takes longer than a chart."""
    bundle: str = _library().javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)
    return bundle.replace("</script", "<\\/script")


def _compiled(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification as Vega takes it; without its version, which the script would doubt."""
    made: dict[str, Any] = _library().vegalite_to_vega(spec, vl_version=VEGA_LITE)
    return {name: value for name, value in made.items() if name != "$schema"}


_SNIPPET = """
const specs = JSON.parse(document.getElementById("specs").textContent);
const small = window.matchMedia("(max-width: 46rem)");
const options = { actions: false, renderer: "svg", mode: "vega" };
const show = () => vegaEmbed("#chart", small.matches ? specs.narrow : specs.wide, options);
small.addEventListener("change", show);
show();
"""


def _sheet() -> str:
    """The colours of the report, and room for a chart on any screen."""
    return "\n".join((_rules("", LIGHT_PAGE), _rules(DARK, DARK_PAGE), _LAYOUT))


def _rules(media: str, colours: Mapping[str, str]) -> str:
    inner = ":root { " + " ".join(f"--{name}: {one};" for name, one in colours.items()) + " }"
    return f"@media {media} {{ {inner} }}" if media else inner


DARK = "(prefers-color-scheme: dark)"
_LAYOUT = """body { margin: 0; background: var(--paper); color: var(--ink);
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 60rem; margin-inline: auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.15rem; font-weight: 600; margin: 0 0 1rem; }
#chart, #chart svg { max-width: 100%; }
#chart svg { height: auto; overflow: visible; }
#vg-tooltip-element { max-width: 18rem; }"""


def as_json(spec: dict[str, Any]) -> str:
    """The specification itself, for other tools."""
    return json.dumps(spec, indent=1, ensure_ascii=False) + "\n"


def why_no_charts() -> str | None:
    """What is missing to draw, and how to get it; None where nothing is."""
    try:
        _library()
    except MissingExtra as error:
        return str(error)
    return None


def _library() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra(
            "Charts need vl-convert-python, which is not installed; "
            "run pip install vl-convert-python."
        ) from error
    return vl_convert
