"""What differences would look like if their mean were another: the world that a plan is made for.

A pilot knows how differences vary, but their mean is only what it happens to be. There are two
ways to give them another. Where every query moves, all of them are shifted. Where most are ties,
as with recall, a better retriever does not move each query by a little: more queries gain and
fewer lose. That is a tilt: each difference d weighs exp(s * d), with the s that gives the mean
asked for. (For normal differences shift and tilt are the same.) So the queries that move are
shifted by the share of the way that is their share of all queries, and a tilt goes the rest:
without ties it is all shift, with four of five tied nearly all tilt.

A pilot may lack what is rare: one query more (as much of one as there are ties) moves like the
others, but the other way. A tilt that goes far leans on few queries: it ends where its weights
tell no more than a quarter of them would, and ties begin to move. The spread is widened for being
estimated, as a variance is by n / (n - 1). docs/statistics.md has how often such a plan holds.
"""

import math
from dataclasses import dataclass

import numpy as np

from calipers.model.arrays import Floats
from calipers.statistics.clusters import Units
from calipers.statistics.draws import WORDS

SLOTS = WORDS
"""Equally likely values that stand for a distribution: a random word is an index."""
_MOST_VALUES = 1 << 11
_LEAST_WORTH = 0.25
_STEPS = 40
_STEEPEST = 1e3


@dataclass(frozen=True, eq=False)
class Alternative:
    """Differences of a given mean: some do not move, the others are one of many equal chances."""

    mean: float
    moving: float
    """The share of queries that move."""
    values: Floats
    """How far they move: SLOTS equally likely values."""
    still: float
    """Where the others lie."""


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The differences of a pilot, from which those of any other mean are made."""

    values: Floats
    """Those that move, in the order of size."""
    counts: Floats
    """How many queries each of them stands for."""
    ties: int

    @classmethod
    def of(cls, units: Units, sign: float = 1.0) -> "Alternatives":
        """From a pilot's units, or from those with the other sign."""
        moving = np.sort(sign * units.values[units.moves])
        counts = np.ones(len(moving))
        if len(moving) > _MOST_VALUES:
            # So many tell of the distribution what a few thousand of their means tell.
            edges = np.linspace(0, len(moving), _MOST_VALUES + 1).astype(np.int64)
            counts = np.diff(edges).astype(np.float64)
            moving = np.add.reduceat(moving, edges[:-1]) / counts
        return cls(moving, counts, units.n - units.moving)

    @property
    def n(self) -> float:
        """How many queries the pilot has."""
        return float(self.counts.sum()) + self.ties

    def at(self, mean: float) -> Alternative:
        """The differences that have this mean."""
        n, still = self.n, self.ties / self.n
        own = float(self.counts @ self.values) / n
        values = self.values + (1.0 - still) * (mean - own)
        weights, counts = self.counts / n, self.counts
        if self.ties:
            # For what the pilot may lack by chance: one more, that moves the other way.
            values = np.concatenate([values, -values])
            counts = np.concatenate([counts, counts * still / float(counts.sum())])
            order = np.argsort(values, kind="stable")
            values, counts = values[order], counts[order]
            weights = _tilted(values, counts, self.ties, mean)
        moving, reached = min(1.0, float(weights.sum())), float(weights @ values)
        if self.ties and mean > reached:
            # What tilting does not reach: ties begin to move, as the others do.
            typical = float(counts @ np.abs(values)) / float(counts.sum())
            more = moving + (1.0 - moving) * min(1.0, (mean - reached) / typical)
            moving, reached = more, reached * more / moving
        moved = values + (mean - reached) / moving
        wider = math.sqrt(n / (n - 1.0))
        ends = np.rint(np.cumsum(weights) / float(weights.sum()) * SLOTS).astype(np.int64)
        ends[-1] = SLOTS
        slots = np.repeat(mean + wider * (moved - mean), np.diff(ends, prepend=0))
        return Alternative(mean, moving, slots, mean - wider * mean)


def _tilted(values: Floats, counts: Floats, ties: int, wanted: float) -> Floats:
    """Weights of the values that have the mean wanted, or come near; ties have the rest."""
    n, size = float(counts.sum()) + ties, float(np.abs(values).max())
    way = 1.0 if wanted > float(counts @ values) / n else -1.0

    def weigh(slope: float) -> tuple[Floats, bool]:
        top = max(slope * values[-1], slope * values[0], 0.0)
        heavy = counts * np.exp(slope * values - top)
        still = ties * math.exp(-top)
        total = float(heavy.sum()) + still
        heavy, still = heavy / total, still / total
        worth = 1.0 / (float((heavy**2 / counts).sum()) + still**2 / ties)
        beyond = way * (float(heavy @ values) - wanted) > 0.0
        return heavy, beyond or worth < _LEAST_WORTH * n

    near, far = 0.0, way / size
    while not weigh(far)[1] and abs(far) * size < _STEEPEST:
        near, far = far, 2.0 * far
    for _ in range(_STEPS):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if weigh(middle)[1] else (middle, far)
    return weigh(near)[0]
