"""What differences would look like if their mean were another: the world that a plan is made for.

A pilot knows how differences vary, but their mean is only what it happens to be. There are two
ways to give them another. Where every query moves, all of them are shifted. Where most are ties,
as with recall, a better retriever does not move each query by a little: more queries gain and
fewer lose. That is a tilt: each difference d weighs exp(s * d), with the s that gives the mean
asked for. (For normal differences shift and tilt are the same.) The more ties in the pilot, the
more of the way is gone by tilting: with half of them three quarters, with 80 % nearly all. The
rest is a shift of the queries that move.

A tilt leans on few queries of the pilot when it goes far. It ends where the weights tell no more
than a quarter of the queries would; beyond, ties begin to move as the others do. A pilot may lack
what is rare: one query more (as much of one as there are ties) moves like any of its queries, the
other way. The spread is widened for being estimated, as a variance is by n / (n - 1).
"""

import math
from dataclasses import dataclass

import numpy as np

from calipers.analyse.units import Units
from calipers.model.arrays import Floats

SLOTS = 1 << 16
"""Equally likely values that stand for a distribution: an index is 16 random bits."""
_MOST_VALUES = 1 << 11
_LEAST_WORTH = 0.25
_STEPS = 40


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
        ties = units.n - units.moving
        if ties and units.moving:
            # For what the pilot may lack by chance.
            moving = np.concatenate([moving, -moving])
            counts = np.concatenate([counts, counts * ties / (units.n * units.moving)])
            order = np.argsort(moving, kind="stable")
            moving, counts = moving[order], counts[order]
        return cls(moving, counts, ties)

    @property
    def n(self) -> float:
        """How many queries the pilot has."""
        return float(self.counts.sum()) + self.ties

    def at(self, mean: float) -> Alternative:
        """The differences that have this mean."""
        still = self.ties / self.n
        own = float(self.counts @ self.values) / self.n
        wanted = own + still * (2.0 - still) * (mean - own)
        weights = self._tilted(wanted) if self.ties else self.counts / self.n
        moving, reached = min(1.0, float(weights.sum())), float(weights @ self.values)
        weights = weights / weights.sum()
        if wanted > max(reached, own) + 1e-6 * abs(mean) and reached > 0.0:
            # What tilting does not reach: more of the ties move, as the others do.
            more = min(1.0, moving * wanted / reached)
            moving, reached = more, reached * more / moving
        moved = self.values + (mean - reached) / moving
        wider = math.sqrt(self.n / (self.n - 1.0))
        ends = np.rint(np.cumsum(weights) * SLOTS).astype(np.int64)
        ends[-1] = SLOTS
        slots = np.repeat(mean + wider * (moved - mean), np.diff(ends, prepend=0))
        return Alternative(mean, moving, slots, mean - wider * mean)

    def _tilted(self, wanted: float) -> Floats:
        """Weights of the values that have the mean wanted, or come near; ties have the rest."""
        size = float(np.abs(self.values).max())

        def weigh(slope: float) -> tuple[Floats, bool]:
            top = max(slope * self.values[-1], slope * self.values[0], 0.0)
            heavy = self.counts * np.exp(slope * self.values - top)
            still = self.ties * math.exp(-top)
            total = float(heavy.sum()) + still
            heavy, still = heavy / total, still / total
            worth = 1.0 / (float((heavy**2 / self.counts).sum()) + still**2 / self.ties)
            beyond = way * (float(heavy @ self.values) - wanted) > 0.0
            return heavy, beyond or worth < _LEAST_WORTH * self.n

        way = 1.0 if wanted > float(self.counts @ self.values) / self.n else -1.0
        near, far = 0.0, way / size
        while not weigh(far)[1] and abs(far) * size < 1e3:
            near, far = far, 2.0 * far
        for _ in range(_STEPS):
            middle = 0.5 * (near + far)
            near, far = (near, middle) if weigh(middle)[1] else (middle, far)
        return weigh(near)[0]
