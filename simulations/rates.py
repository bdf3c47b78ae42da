"""A simulated rate, the band it is held to, and tables of them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """How often something happened, for one shape and one number of queries."""

    shape: str
    n: int | str
    value: float
    draws: int
    lowest: float | None = None
    highest: float | None = None
    known: bool = False
    """Whether the shape is known to break the promise, with a reason that the page gives."""

    @property
    def inside(self) -> bool:
        """Whether the figure as printed lies in its band, whatever simulation leaves open."""
        value = round(self.value, 3)
        return (self.lowest is None or value >= self.lowest) and (
            self.highest is None or value <= self.highest
        )

    @property
    def held(self) -> bool:
        """Whether the rate is in its band, but for three standard errors of the simulation."""
        return (self.lowest is None or self.value >= self.lowest - self._error(self.lowest)) and (
            self.highest is None or self.value <= self.highest + self._error(self.highest)
        )

    def _error(self, edge: float) -> float:
        """Three standard errors of a share, or else of a count, at the edge of its band."""
        varies = edge * (1.0 - edge) if edge <= 1.0 else edge
        return 3.0 * math.sqrt(max(varies, 1e-4) / self.draws)


def table(rates: Iterable[Rate], first: str = "shape", digits: int = 3) -> str:
    """One row per shape and one column per number of queries; a figure outside its band is bold."""
    rates = list(rates)
    columns = list(dict.fromkeys(rate.n for rate in rates))
    shapes = list(dict.fromkeys(rate.shape for rate in rates))
    known = {(rate.shape, rate.n): rate for rate in rates}
    heads = [f"n = {n:,}" if isinstance(n, int) else n for n in columns]
    lines = [f"| {first} | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for shape in shapes:
        cells = [_cell(known.get((shape, n)), digits) for n in columns]
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(rates: Iterable[Rate], digits: int = 3) -> str:
    """In words: whether the promise holds, and which shapes break it."""
    rates = list(rates)
    promised = [rate for rate in rates if (rate.lowest, rate.highest) != (None, None)]
    if not promised:
        return ""
    broken = [rate for rate in promised if not rate.held]
    near = [rate for rate in promised if rate.held and not rate.inside]
    said = []
    if broken:
        shapes = {rate.shape: rate for rate in sorted(broken, key=_distance)}
        worst = "; ".join(
            f"{name} ({rate.value:.{digits}f}, {_column(rate)})" for name, rate in shapes.items()
        )
        said.append(f"**These shapes break this promise**, at worst: {worst}.")
    elif near:
        said.append("No shape breaks this promise by more than the simulation leaves open.")
    else:
        said.append("Every shape keeps this promise.")
    if near:
        said.append(
            f"{len(near)} of {len(promised)} figures {'is' if len(near) == 1 else 'are'} outside "
            "by less than three standard errors of the simulation."
        )
    return " ".join(said)


def _distance(rate: Rate) -> float:
    below = 0.0 if rate.lowest is None else rate.lowest - rate.value
    above = 0.0 if rate.highest is None else rate.value - rate.highest
    return max(below, above)


def _column(rate: Rate) -> str:
    return f"n = {rate.n:,}" if isinstance(rate.n, int) else rate.n


def _cell(rate: Rate | None, digits: int) -> str:
    if rate is None:
        return ""
    shown = f"{rate.value:.{digits}f}"
    return shown if rate.inside else f"**{shown}**"
