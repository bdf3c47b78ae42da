"""What each query keeps under a floor, and how little of it others may keep."""

import math
from dataclasses import dataclass

import numpy as np

from calipers.model.arrays import Floats, Ints
from calipers.questions.floor.evidence import EVERYTHING, FloorEvidence
from calipers.questions.floor.result import Goal
from calipers.statistics.clusters import as_shares

MOST_TIMES = 1000.0
"""More than so many times as many queries are no advice."""


@dataclass(frozen=True, eq=False)
class KeptResults:
    """What each query keeps under a floor, of those for which that is defined."""

    values: Floats
    clusters: Ints | None

    @classmethod
    def of(cls, evidence: FloorEvidence, floor: float, goal: Goal) -> "KeptResults":
        """Under one floor for all queries."""
        values = kept_values(evidence, np.full(evidence.n_queries, floor), goal)
        known = ~np.isnan(values)
        named = None if evidence.clusters is None else evidence.clusters[known]
        return cls(values[known], named)

    @property
    def mean(self) -> float:
        """What these queries keep."""
        return float(self.values.mean()) if self.values.size else 0.0

    def lowest(self, confidence: float, times: float = 1.0) -> float:
        """What others like them may keep at least."""
        return lowest_mean(self.values, confidence, self.clusters, times)

    def more_for(self, least: float, confidence: float) -> int | None:
        """How many more queries like these would show that so much is kept."""
        if self.mean <= least:
            return None
        low, high = 1.0, 2.0
        while self.lowest(confidence, high) < least:
            low, high = high, 2.0 * high
            if high > MOST_TIMES:
                return None
        n = self.values.size
        while (high - low) * n > 0.5:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.lowest(confidence, middle) < least else (low, middle)
        return max(1, math.ceil(high * n - 1e-6) - n)


def kept_values(evidence: FloorEvidence, floor: Floats, goal: Goal) -> Floats:
    """Per query its recall, or the share of what it finds without a floor; NaN: undefined."""
    of = evidence.wanted.astype(np.float64)
    if goal == "keep":
        of = evidence.found(np.full(evidence.n_queries, EVERYTHING))
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = np.where(of > 0, evidence.found(floor) / of, np.nan)
    return values


def lowest_mean(
    values: Floats, confidence: float, clusters: Ints | None = None, times: float = 1.0
) -> float:
    """The lowest mean that values between 0 and 1 leave possible, by Chernoff's bound.

    `times` asks as if there were so many times as many values, each as often as now.

    >>> round(lowest_mean(np.ones(59), 0.95), 3)
    0.95
    """
    if clusters is not None:
        shares, scale = as_shares(1.0 - values, clusters)
        return max(0.0, 1.0 - scale * (1.0 - lowest_mean(1.0 - shares, confidence, None, times)))
    mean = float(values.mean())
    budget = math.log(1 / (1 - confidence)) / (values.size * times)
    low, high = 0.0, mean
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) > budget else (low, middle)
    return high


def _divergence(p: float, q: float) -> float:
    """How unlike two shares are: Kullback and Leibler's measure."""
    if q <= 0:
        return math.inf if p > 0 else 0.0
    first = p * math.log(p / q) if p > 0 else 0.0
    if p >= 1:
        return first
    return math.inf if q >= 1 else first + (1 - p) * math.log((1 - p) / (1 - q))
