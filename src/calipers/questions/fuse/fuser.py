"""The number that a way gives each candidate, and the order that follows from it."""

from collections.abc import Sequence

import numpy as np

from calipers.model.arrays import Bools, Floats, Ints
from calipers.questions.fuse.lanes import CandidateBlock
from calipers.questions.fuse.ways import Norm, Way

_SMALLEST = 1e-9
"""The smallest spread, for lists whose scores are all equal."""


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
            fused = (
                -np.where(here, self._rank[lanes], _FAR).min(axis=0, initial=_FAR) * 1.0
            )
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


_SAME = 1e-13
"""Sums that differ by less than this share of the largest are equal: only rounding differs."""


def _rounding(fused: Floats) -> Floats:
    """By how much equal sums may differ, for each query."""
    size = np.where(np.isneginf(fused), 0.0, np.abs(fused))
    rounding: Floats = _SAME * size.max(axis=1, initial=0.0)
    return rounding


def ranks_of(fused: Floats, row: Ints, column: Ints) -> Ints:
    """The rank of some candidates in a block, 0 if not returned; ties keep their order."""
    own = fused[row, column][:, None]
    others = fused[row]
    same = _rounding(fused)[row][:, None]
    earlier = np.arange(others.shape[1]) < column[:, None]
    with np.errstate(
        invalid="ignore"
    ):  # minus infinity twice, which the last line takes out
        ahead = others - own
    before = (ahead > same) | ((np.abs(ahead) <= same) & earlier)
    return np.where(np.isneginf(own[:, 0]), 0, 1 + before.sum(axis=1))


def first_of(fused: Floats, k: int | None) -> list[Ints]:
    """The candidates of each query in order, at most k; ties keep their order."""
    order = np.argsort(-fused, axis=1, kind="stable")
    with np.errstate(invalid="ignore"):
        falls = -np.diff(np.take_along_axis(fused, order, axis=1), axis=1)
    # Candidates of one group are equal, and stand in the order of the lanes.
    group = np.zeros(order.shape, dtype=np.int64)
    group[:, 1:] = np.cumsum(falls > _rounding(fused)[:, None], axis=1)
    order = np.take_along_axis(order, np.lexsort((order, group), axis=1), axis=1)
    counts = (~np.isneginf(fused)).sum(axis=1)
    return [
        candidates[: count if k is None else min(k, count)]
        for candidates, count in zip(order, counts, strict=True)
    ]
