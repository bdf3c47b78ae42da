"""A simulated rate, and the band it is held to."""

import math
from collections.abc import Callable, Iterable
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


def share_of(rate: Callable[[int], float], draws: int, edge: float) -> tuple[float, int]:
    """A share and its draws: a fifth of them where that leaves no doubt about its band."""
    for some in (max(1, draws // 5), draws):
        found = rate(some)
        if abs(found - edge) > 3.0 * math.sqrt(edge * (1.0 - edge) / some):
            break
    return found, some


def worst(rates: Iterable[Rate]) -> Rate | None:
    """The figure nearest to the edge of its band, or farthest outside."""
    promised = [rate for rate in rates if rate.promised]
    return max(promised, key=_distance, default=None)


def broken(rates: Iterable[Rate]) -> list[Rate]:
    """The figures outside their band: all of known shapes, else those beyond three errors."""
    return [rate for rate in rates if not (rate.inside if rate.known else rate.held)]


def _distance(rate: Rate) -> float:
    below = -math.inf if rate.lowest is None else rate.lowest - rate.value
    above = -math.inf if rate.highest is None else rate.value - rate.highest
    return max(below, above)
