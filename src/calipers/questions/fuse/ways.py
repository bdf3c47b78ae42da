"""Ways to fuse rankings: each gives every candidate a score, higher is better."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from calipers.model.arrays import Bools, Floats, Ints
from calipers.questions.fuse.lanes import CandidateBlock

Kind = Literal["alone", "rrf", "sum", "mnz", "interleave"]
Norm = Literal["min-max", "z", "rank"]
DEFAULT_CONSTANT = 60
CONSTANTS = (5, 20, 60, 120)
_SMALLEST = 1e-9
"""The smallest spread, for lists whose scores are all equal."""


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
    weights, equal = _weights(lanes), (1.0 / lanes,) * lanes
    found = [Way("rrf", equal, DEFAULT_CONSTANT), *(alone(lane, lanes) for lane in range(lanes))]
    found += [Way("rrf", each, constant) for constant in CONSTANTS for each in weights]
    found += [Way("sum", each, norm=norm) for norm in get_args(Norm) for each in weights]
    found += [Way("mnz", equal, norm=norm) for norm in ("min-max", "rank")]
    found += [Way("interleave", equal)]
    return [way for way in dict.fromkeys(found) if scored or way.norm in (None, "rank")]


def _weights(lanes: int) -> list[tuple[float, ...]]:
    """Weights that sum to 1: steps of 0.1 for two lanes; for more, one lane doubled or halved."""
    if lanes == 2:
        return [(round(i / 10, 1), round(1 - i / 10, 1)) for i in range(1, 10)]
    more = [tuple(2 if i == lane else 1 for i in range(lanes)) for lane in range(lanes)]
    less = [tuple(1 if i == lane else 2 for i in range(lanes)) for lane in range(lanes)]
    found = [tuple(one / sum(step) for one in step) for step in (*more, *less)]
    return [(1.0 / lanes,) * lanes, *found]


class Fuser:
    """Fuses one block by any setting; what settings share is computed once."""

    def __init__(self, block: CandidateBlock, depths: Sequence[int | None] = ()) -> None:
        self._score = block.score
        limit = np.array([_FAR if depth is None else depth for depth in depths] or [_FAR])
        self._rank = np.where(block.rank > limit[:, None, None], 0, block.rank)
        self._parts: dict[tuple[object, ...], Floats] = {}

    def __call__(self, way: Way) -> Floats:
        """One score per candidate; minus infinity if no lane with a weight returned it."""
        lanes = [lane for lane, weight in enumerate(way.weights) if weight]
        here = self._rank[lanes] > 0
        if way.kind in ("alone", "interleave"):
            # By best rank, then by lane, which is the order of the candidates.
            fused = -np.where(here, self._rank[lanes], _FAR).min(axis=0, initial=_FAR) * 1.0
        else:
            fused = np.zeros(here.shape[1:])
            for lane in lanes:
                fused += way.weights[lane] * self._part(lane, way)
        if way.kind == "mnz":
            fused *= here.sum(axis=0)
        return np.where(here.any(axis=0), fused, -np.inf)

    def _part(self, lane: int, way: Way) -> Floats:
        """The contribution of one lane to each candidate; 0 if it did not return it."""
        key = (lane, way.constant, way.norm)
        if key not in self._parts:
            rank = self._rank[lane]
            here: Bools = rank > 0
            if way.constant is not None:
                value: Floats = 1.0 / (way.constant + np.maximum(rank, 1))
            elif way.norm == "rank":
                value = 1.0 - (rank - 1) / np.maximum(here.sum(axis=1, keepdims=True), 1)
            else:
                value = _normed(self._score[lane], here, way.norm)
            self._parts[key] = np.where(here, value, 0.0)
        return self._parts[key]


_FAR = np.iinfo(np.int64).max


def _normed(score: Floats, here: Bools, norm: Norm | None) -> Floats:
    """Normalise the scores of each query to 0 to 1, or by mean and spread."""
    if norm == "min-max":
        centre = np.where(here, score, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        high = np.where(here, score, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        spread = high - centre
    else:
        count = np.maximum(here.sum(axis=1, keepdims=True), 1)
        centre = np.where(here, score, 0.0).sum(axis=1, keepdims=True) / count
        away = np.where(here, (score - centre) ** 2, 0.0)
        spread = np.sqrt(away.sum(axis=1, keepdims=True) / count)
    with np.errstate(invalid="ignore"):
        found: Floats = (score - centre) / np.maximum(spread, _SMALLEST)
    return found


def ranks_of(fused: Floats, row: Ints, column: Ints) -> Ints:
    """The rank of some candidates in a block, 0 if not returned; ties keep their order."""
    own = fused[row, column][:, None]
    others = fused[row]
    before = (others > own) | ((others == own) & (np.arange(others.shape[1]) < column[:, None]))
    return np.where(np.isneginf(own[:, 0]), 0, 1 + before.sum(axis=1))


def first_of(fused: Floats, k: int | None) -> list[Ints]:
    """The candidates of each query in order, at most k."""
    order = np.argsort(-fused, axis=1, kind="stable")
    counts = (~np.isneginf(fused)).sum(axis=1)
    return [
        one[: count if k is None else min(k, count)]
        for one, count in zip(order, counts, strict=True)
    ]
