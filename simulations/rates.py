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
    lowest: float = 0.0
    highest: float = math.inf

    @property
    def error(self) -> float:
        """Three standard errors of a simulated share at the edge of its band."""
        if self.value > 1.0 or self.highest > 1.0:
            return 3.0 * math.sqrt(max(self.value, 0.1) / self.draws)
        edge = self.lowest if self.value < self.lowest else min(self.highest, 0.999)
        return 3.0 * math.sqrt(max(edge * (1.0 - edge), 1e-4) / self.draws)

    @property
    def inside(self) -> bool:
        """Whether the figure as printed lies in its band, whatever simulation leaves open."""
        return self.lowest <= round(self.value, 3) <= self.highest

    @property
    def held(self) -> bool:
        """Whether the rate is in its band, but for what simulation leaves open."""
        return self.lowest - self.error <= self.value <= self.highest + self.error


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


def _cell(rate: Rate | None, digits: int) -> str:
    if rate is None:
        return ""
    shown = f"{rate.value:.{digits}f}"
    return shown if rate.inside else f"**{shown}**"
