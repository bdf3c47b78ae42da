"""Chart specifications made into pictures, without a browser and without the network."""

import json
import re
from typing import Any

from calipers.errors import MissingExtra

VEGA_LITE = "5.21"
_STYLE = re.compile(r'\sstyle="[^"]*"')
_PLACE = "the chart of Calipers"
_EMPTY = re.compile(r"\{[^{}]*the chart of Calipers[^{}]*\}")
_SIZE = re.compile(r' width="([\d.]+)" height="[\d.]+"')


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


def interactive(spec: dict[str, Any]) -> str:
    """The chart as a page of its own that answers to the pointer; its script is in it."""
    # The library writes a specification into a script as it is; a tag in it could end the script.
    # So it is given an empty one, and ours is put in its place without any sign of markup.
    empty = {"$schema": spec["$schema"], "description": _PLACE}
    drawn: str = _library().vegalite_to_html(
        empty, vl_version=VEGA_LITE, bundle=True, renderer="svg"
    )
    harmless = json.dumps(spec).replace("<", "\\u003c").replace(">", "\\u003e")
    page, count = _EMPTY.subn(lambda _: harmless, drawn)
    if count != 1:
        raise MissingExtra(
            "This version of vl-convert-python writes pages in another form than is known here; "
            "run pip install --upgrade 'calipers[report]', or write an .svg instead."
        )
    return page


def as_json(spec: dict[str, Any]) -> str:
    """The specification itself, for other tools."""
    return json.dumps(spec, indent=1, ensure_ascii=False) + "\n"


def _library() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra(
            "Charts need vl-convert-python, which is not installed; "
            "run pip install 'calipers[report]'."
        ) from error
    return vl_convert
