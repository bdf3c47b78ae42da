"""A plot made into its specification, and written to a file."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from rich.console import Console

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place, ending_or, whole_file
from calipers.present import charts
from calipers.present.charts import LIGHT, PAGE, Palette
from calipers.present.terminal import show_with
from calipers.questions.compare.charts import differences, head_to_head
from calipers.questions.compare.result import Comparison
from calipers.questions.misses.result import Misses
from calipers.questions.misses.show import waterfall
from calipers.questions.plot.rule import Plot
from calipers.questions.slices.result import Slices
from calipers.questions.slices.show import slices_chart
from calipers.questions.sweep.charts import over_k, precision_recall
from calipers.questions.sweep.result import Sweep

NARROWEST, WIDEST = 240, 4000


def spec_of(plot: Plot, width: int | None = None, palette: Palette = LIGHT) -> dict[str, Any]:
    """The Vega-Lite specification of a plot."""
    subject = plot.subject
    looks: dict[str, Any] = {"width": width or charts.WIDE, "palette": palette}
    if isinstance(subject, Sweep):
        if plot.chart == "over-k":
            return over_k(subject, metrics=plot.metrics, **looks)
        return precision_recall(subject, **looks)
    if isinstance(subject, Misses):
        return waterfall(subject, **looks)
    if isinstance(subject, Slices):
        return slices_chart(subject, plot.metrics[0], plot.overall, **looks)
    return _of_comparison(plot, subject, looks)


def _of_comparison(plot: Plot, subject: Comparison, looks: dict[str, Any]) -> dict[str, Any]:
    if plot.chart == "differences":
        return differences(subject, **looks)
    return head_to_head(subject, subject.others[0], plot.metrics[0], **looks)


def check_plot_place(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no chart can be written."""
    check_place(Path(path))
    ending = ending_or(Path(path), ".svg")
    if ending not in FORMS:
        raise InvalidInput(
            f"The chart {path} has the ending {ending or 'nothing'!r}; a chart can be written to "
            f"{', '.join(FORMS)}."
        )


def save_plot(plot: Plot, path: str | PathLike[str], width: int | None = None) -> None:
    """Write a chart in the form that the ending of the path names."""
    check_plot_place(path)
    if width is not None and not NARROWEST <= width <= WIDEST:
        raise InvalidInput(
            f"The width of the chart is {width}; it must lie between {NARROWEST} and {WIDEST}."
        )
    ending = ending_or(Path(path), ".svg")
    drawn = _page(plot, width) if ending == ".html" else PICTURES[ending](spec_of(plot, width))
    with whole_file(Path(path)) as file:
        file.write(drawn if isinstance(drawn, bytes) else drawn.encode("utf-8", "replace"))


def _page(plot: Plot, width: int | None) -> str:
    """The chart in two widths, for a screen and for a phone."""
    wide = spec_of(plot, width, PAGE)
    narrow = spec_of(plot, charts.NARROW, PAGE)
    return charts.interactive(wide, narrow, TITLES[plot.chart])


TITLES = {
    "over-k": "Each metric against k",
    "precision-recall": "Precision against recall",
    "waterfall": "Where recall is lost",
    "slices": "Slices of the queries",
    "differences": "Differences from the baseline",
    "head-to-head": "Head to head, query by query",
}
PICTURES: dict[str, Callable[[dict[str, Any]], str | bytes]] = {
    ".svg": charts.svg,
    ".png": charts.png,
    ".json": charts.as_json,
}
FORMS = (".svg", ".png", ".html", ".json")


def _print_plot(plot: Plot, console: Console) -> None:
    console.print(f"The chart {plot.chart}; save() draws it to a file.", markup=False)


def _in_notebook(plot: Plot) -> str:
    # A prompt needs none of what makes a page.
    from calipers.present.notebook import chart_html

    return chart_html(lambda: spec_of(plot), plot.chart)


show_with(Plot, _print_plot, html=_in_notebook)
