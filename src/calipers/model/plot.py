"""One chart: what it shows, before it is drawn."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

from calipers.model.comparison import Comparison
from calipers.model.late import draw
from calipers.model.misses import Misses
from calipers.model.slices import Slices
from calipers.model.sweep import Sweep


@dataclass(frozen=True, eq=False)
class Plot:
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
        found: dict[str, Any] = draw("spec", self)
        return found

    def save(self, path: str | PathLike[str], *, width: int | None = None) -> None:
        """Write it as .svg, .png, .html (answers to the pointer) or .json (the specification)."""
        draw("plot", self, path, width)

    def _repr_html_(self) -> str:
        drawn: str = draw("html", self)
        return drawn
