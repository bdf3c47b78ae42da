"""The ways to fuse lanes: kinds, weights and constants, and those that are tried."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from calipers.frozen import dataclass

Kind = Literal["alone", "rrf", "sum", "mnz", "interleave"]
Norm = Literal["min-max", "z", "rank"]
DEFAULT_CONSTANT = 60
CONSTANTS = (5, 20, 60, 120)


@dataclass(frozen=True)
class Way:
    """One setting: how lanes are fused, with which weights."""

    kind: Kind
    weights: tuple[float, ...]
    """One per lane; 0 leaves a lane out."""
    constant: int | None = None
    """The constant of reciprocal rank fusion."""
    norm: Norm | None = None
    """How scores are made comparable."""

    def called(self, names: Sequence[str]) -> str:
        """The setting in words.

        >>> Way("rrf", (0.5, 0.5), 60).called(["bm25", "dense"])
        'RRF 60'
        >>> Way("sum", (0.3, 0.7), norm="min-max").called(["bm25", "dense"])
        'min-max sum, bm25 0.3, dense 0.7'
        """
        if self.kind == "alone":
            return f"{names[self.weights.index(1.0)]} alone"
        if self.kind == "interleave":
            return "interleaving"
        head = {
            "rrf": f"RRF {self.constant}",
            "sum": f"{self.norm} sum",
            "mnz": f"CombMNZ ({self.norm})",
        }[self.kind]
        if len(set(self.weights)) == 1:
            return head
        return ", ".join(
            [head, *(f"{n} {w:.2g}" for n, w in zip(names, self.weights, strict=True))]
        )

    def without(self, lane: int) -> "Way":
        """The same setting with one lane left out."""
        left = [0.0 if i == lane else weight for i, weight in enumerate(self.weights)]
        return replace(self, weights=tuple(left))


def alone(lane: int, lanes: int) -> Way:
    """The setting that uses one lane only."""
    return Way("alone", tuple(float(i == lane) for i in range(lanes)))


def every_way(lanes: int, scored: bool) -> list[Way]:
    """All settings to try; the first is the default of most engines, RRF with 60.

    >>> len(every_way(2, scored=True)), len(every_way(2, scored=False)), len(every_way(3, True))
    (68, 49, 55)
    """
    weights = _weights(lanes)
    equal = (1.0 / lanes,) * lanes
    ways = [
        Way("rrf", equal, DEFAULT_CONSTANT),
        *(alone(lane, lanes) for lane in range(lanes)),
    ]
    ways += [Way("rrf", each, constant) for constant in CONSTANTS for each in weights]
    ways += [Way("sum", each, norm=norm) for norm in get_args(Norm) for each in weights]
    ways += [Way("mnz", equal, norm=norm) for norm in ("min-max", "rank")]
    ways += [Way("interleave", equal)]
    return [way for way in dict.fromkeys(ways) if scored or way.norm in (None, "rank")]


def _weights(lanes: int) -> list[tuple[float, ...]]:
    """Weights that sum to 1: steps of 0.1 for two lanes; for more, one lane doubled or halved."""
    if lanes == 2:
        return [(round(i / 10, 1), round(1 - i / 10, 1)) for i in range(1, 10)]
    more = [tuple(2 if i == lane else 1 for i in range(lanes)) for lane in range(lanes)]
    less = [tuple(1 if i == lane else 2 for i in range(lanes)) for lane in range(lanes)]
    uneven = [tuple(weight / sum(step) for weight in step) for step in (*more, *less)]
    return [(1.0 / lanes,) * lanes, *uneven]
