"""One chart: what it shows, before it is drawn."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

from calipers.model.showing import ShownInNotebook
from calipers.questions.compare.result import Comparison
from calipers.questions.misses.result import Misses
from calipers.questions.slices.result import Slices
from calipers.questions.sweep.result import Sweep


@dataclass(frozen=True, eq=False, repr=False)
class Plot(ShownInNotebook):
    """What ``calipers.plot`` makes: save it, or show it in a notebook."""

    chart: str
    subject: Sweep | Misses | Slices | Comparison
    metrics: tuple[str, ...]
    """The metrics to draw, as the chart names them; the first where it has room for one."""
    overall: float | None = None
    """The mean over all queries, for slices."""

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, as plain values."""
        from calipers.questions.plot.show import spec_of

        return spec_of(self)

    def save(self, path: str | PathLike[str], *, width: int | None = None) -> None:
        """Write it as .svg, .png, .html (answers to the pointer) or .json (the specification)."""
        from calipers.questions.plot.show import save_plot

        save_plot(self, path, width)
