"""One chart: what it shows, before it is drawn."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

from calipers.model.result import ShowsItself
from calipers.questions.compare.result import Comparison
from calipers.questions.misses.result import Misses
from calipers.questions.slices.result import Slices
from calipers.questions.sweep.result import Sweep


@dataclass(frozen=True, eq=False, repr=False)
class Plot(ShowsItself):
    """What ``calipers.plot`` makes: save it, or show it in a notebook."""

    shown_by: ClassVar[str] = "calipers.questions.plot.show"

    chart: str
    subject: Sweep | Misses | Slices | Comparison
    metrics: tuple[str, ...]
    """The metrics to draw, as the chart names them; the first where it has room for one."""
    overall: float | None = None
    """The mean over all queries, for slices."""

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, as plain values."""
        spec: dict[str, Any] = self._shown.spec_of(self)
        return spec

    def save(self, path: str | PathLike[str], *, width: int | None = None) -> None:
        """Write it as .svg, .png, .html (answers to the pointer) or .json (the specification)."""
        self._shown.save_plot(self, path, width)
