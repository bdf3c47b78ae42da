"""A plot made into its specification, and written to a file."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.write import check_place, ending_or, whole_file
from calipers.model.comparison import Comparison
from calipers.model.misses import Misses
from calipers.model.plot import Plot
from calipers.model.slices import Slices
from calipers.model.sweep import Sweep
from calipers.present import charts, charts_compared, draw
from calipers.present.palette import LIGHT, Palette

NARROWEST, WIDEST = 240, 4000


def spec_of(plot: Plot, width: int | None = None, palette: Palette = LIGHT) -> dict[str, Any]:
    """The Vega-Lite specification of a plot."""
    subject = plot.subject
    looks: dict[str, Any] = {"width": width or charts.WIDE, "palette": palette}
    if isinstance(subject, Sweep):
        if plot.chart == "over-k":
            return charts.over_k(subject, metrics=plot.metrics, **looks)
        return charts.precision_recall(subject, **looks)
    if isinstance(subject, Misses):
        return charts.waterfall(subject, **looks)
    if isinstance(subject, Slices):
        return charts.slices_chart(subject, plot.metrics[0], plot.overall, **looks)
    return _of_comparison(plot, subject, looks)


def _of_comparison(plot: Plot, subject: Comparison, looks: dict[str, Any]) -> dict[str, Any]:
    if plot.chart == "differences":
        return charts_compared.differences(subject, **looks)
    return charts_compared.head_to_head(subject, subject.others[0], plot.metrics[0], **looks)


def check_plot_place(path: str | PathLike[str]) -> None:
    """Complain before any work about a place where no chart can be written."""
    check_place(Path(path))
    ending = ending_or(Path(path), ".svg")
    if ending not in WRITERS:
        raise InvalidInput(
            f"The chart {path} has the ending {ending or 'nothing'!r}; a chart can be written to "
            f"{', '.join(WRITERS)}."
        )


def save_plot(plot: Plot, path: str | PathLike[str], width: int | None = None) -> None:
    """Write a chart in the form that the ending of the path names."""
    check_plot_place(path)
    if width is not None and not NARROWEST <= width <= WIDEST:
        raise InvalidInput(
            f"The width of the chart is {width}; it must lie between {NARROWEST} and {WIDEST}."
        )
    drawn = WRITERS[ending_or(Path(path), ".svg")](spec_of(plot, width))
    with whole_file(Path(path)) as file:
        file.write(drawn if isinstance(drawn, bytes) else drawn.encode("utf-8", "replace"))


WRITERS: dict[str, Callable[[dict[str, Any]], str | bytes]] = {
    ".svg": draw.svg,
    ".png": draw.png,
    ".html": draw.interactive,
    ".json": draw.as_json,
}
