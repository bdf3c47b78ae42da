"""A simulated rate, the band it is held to, and tables of them."""

import math
from collections.abc import Callable, Iterable, Sequence
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
    def promised(self) -> bool:
        """Whether it has a band at all."""
        return (self.lowest, self.highest) != (None, None)

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


def table(
    rates: Iterable[Rate],
    first: str = "shape",
    digits: int = 3,
    row: Callable[[str], str] | None = None,
) -> str:
    """One column per number of queries; a figure outside its band is bold.

    Shapes that break the promise have a row each, and of the others each figure is the worst one,
    or the range where nothing is promised. ``row`` names the rows in another way.
    """
    rates = list(rates)
    columns = list(dict.fromkeys(rate.n for rate in rates))
    kept = _kept(rates)
    together = f"the worst of {'the ' if len(kept) == 2 else ''}{len(kept)} others"
    if not any(rate.shape not in kept for rate in rates):
        together = f"the worst of {len(kept)}"
    if row is None:
        row = {shape: together for shape in kept if len(kept) > 1}.get
    rows: dict[str, dict[int | str, list[Rate]]] = {}
    for rate in sorted(rates, key=lambda rate: rate.shape in kept):
        rows.setdefault(row(rate.shape) or rate.shape, {}).setdefault(rate.n, []).append(rate)
    heads = [f"n = {n:,}" if isinstance(n, int) else n for n in columns]
    lines = [f"| {first} | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for name, cells in rows.items():
        shown = [_cell(cells.get(n, []), digits) for n in columns]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def worst(rates: Iterable[Rate]) -> Rate | None:
    """The figure nearest to the edge of its band, or farthest outside."""
    promised = [rate for rate in rates if rate.promised]
    return max(promised, key=_distance, default=None)


def broken(rates: Iterable[Rate]) -> list[Rate]:
    """The figures outside their band by more than the simulation leaves open."""
    return [rate for rate in rates if not rate.held]


def near(rates: Iterable[Rate]) -> str:
    """How many figures are outside their band, but by less than the simulation leaves open."""
    many = sum(rate.held and not rate.inside for rate in rates)
    figures = "1 figure is" if many == 1 else f"{many} figures are"
    return f"{figures} outside by less than three standard errors." if many else ""


def _kept(rates: Sequence[Rate]) -> list[str]:
    """The shapes for which something is promised and nothing is broken."""
    gone = {rate.shape for rate in broken(rates)}
    return list(dict.fromkeys(one.shape for one in rates if one.promised and one.shape not in gone))


def _distance(rate: Rate) -> float:
    below = -math.inf if rate.lowest is None else rate.lowest - rate.value
    above = -math.inf if rate.highest is None else rate.value - rate.highest
    return max(below, above)


def _cell(rates: Sequence[Rate], digits: int) -> str:
    if not rates:
        return ""
    rate = worst(rates)
    if rate is None:
        ends = sorted({f"{one.value:.{digits}f}" for one in rates}, key=float)
        return "–".join(dict.fromkeys((ends[0], ends[-1])))
    shown = f"{rate.value:.{digits}f}"
    return shown if rate.inside else f"**{shown}**"
