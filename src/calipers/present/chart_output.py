"""Charts for a page, a notebook or an SVG file."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, whole_file
from calipers.present.charts import Chart
from calipers.present.drawing import draw
from calipers.present.escape import printable

WIDE, NOTEBOOK_WIDE = 900, 680
"""The width of a chart on a page or in a file, and in a notebook cell."""
WIDTHS = {"wide": WIDE, "middle": 560, "narrow": 330}
"""The widths on a page: for a screen, a small window and a phone."""
LIGHT: Mapping[str, str] = {
    "ink": "#1c2430",
    "quiet": "#5b6675",
    "line": "#dfe3e8",
    "accent": "#1f5fa8",
    "worse": "#b3480a",
    "even": "#7d8794",
    "paper": "#ffffff",
    "ground": "#ffffff",
}
"""Colours of an SVG file; accent and worse differ for every kind of colour vision."""
PAGE: Mapping[str, str] = {name: f"var(--{name})" for name in LIGHT if name != "ground"}
"""The colours of the page as CSS variables, so that a chart follows its dark mode."""
NOTEBOOK: Mapping[str, str] = {
    "ink": "currentColor",
    "quiet": "currentColor",
    "line": "color-mix(in srgb, currentColor 18%, transparent)",
    "accent": "#3a7fc8",
    "worse": "#c8661d",
    "even": "#7d8794",
}
"""The text's own colour, and others that are visible on white and on dark."""


def on_page(chart: Chart) -> str:
    """Draw the chart once per screen size; the style sheet shows one of them."""
    if not chart.panels:
        return ""
    return "".join(
        f'<div class="chart {name}">{draw(chart, PAGE, width, "rem")}</div>'
        for name, width in WIDTHS.items()
    )


def in_notebook(chart: Chart) -> str:
    """Draw the chart for a light or dark notebook."""
    return draw(chart, NOTEBOOK, NOTEBOOK_WIDE) if chart.panels else ""


def check_chart(path: str | PathLike[str]) -> None:
    """Refuse, before any work, a path to which no chart can be written."""
    ending = ending_or(Path(path), ".svg")
    if ending != ".svg":
        raise InvalidInput(
            f"The chart {path} has the ending {ending or 'nothing'!r}; a chart is written as .svg, "
            "which every browser shows and converts."
        )
    check_place(Path(path))


def write_chart(chart: Chart, path: str | PathLike[str]) -> None:
    """Write the chart as an SVG file."""
    check_chart(path)
    drawn = draw(chart, LIGHT, WIDE, titled=True)
    with whole_file(Path(path)) as file:
        file.write(f"{drawn}\n".encode("utf-8", "replace"))


@dataclass(frozen=True, repr=False)
class Plot:
    """A chart, as returned by ``result.plot()``."""

    chart: Chart

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to an .svg file."""
        write_chart(self.chart, path)

    def _repr_html_(self) -> str:
        return draw(self.chart, NOTEBOOK, NOTEBOOK_WIDE, titled=True)

    def __repr__(self) -> str:
        """The chart's title, for the Python prompt."""
        return f"<Plot: {printable(self.chart.title)}>"
