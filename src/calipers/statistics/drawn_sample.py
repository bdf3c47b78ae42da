"""A sample that people judge in the order in which it was drawn: how wide is the interval now?

Values stand in the order of the draw, those of one cluster together. What more labels will bring is
what they bring where the machine goes on erring as it did so far: the errors that were seen are
taken over again, in turn, for queries that nobody judged yet. A query that lacks the metric (NaN)
by people's labels is among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calipers.model.arrays import Floats, Ints
from calipers.statistics.prediction_powered import CorrectedMean, corrected_mean_of_defined
from calipers.statistics.sample_looks import looks_up_to
from calipers.statistics.score_interval import UNIT, Bounds


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """The machine's values in the order of the draw, and people's as far as they are."""

    machine: Floats
    """NaN where the metric is not defined."""
    people: Floats
    """NaN also where nobody judged yet."""
    judged: int
    """Queries that people judged, or clusters: the first ones of the draw."""
    looks: Sequence[int]
    confidence: float = 0.95
    bounds: Bounds | None = UNIT
    clusters: Ints | None = None

    @cached_property
    def _ends(self) -> Ints:
        """How many values there are up to each query, or each cluster."""
        if self.clusters is None:
            return np.arange(1, len(self.machine) + 1)
        return np.append(np.flatnonzero(np.diff(self.clusters)) + 1, len(self.clusters))

    @property
    def last_look(self) -> int | None:
        """The last look that people came to."""
        return max((one for one in self.looks if one <= self.judged), default=None)

    @property
    def next_look(self) -> int | None:
        """The look they come to next."""
        return next((one for one in self.looks if one > self.judged), None)

    def at(self, number: int) -> CorrectedMean | None:
        """The corrected mean by the first of them; None where fewer than two tell anything."""
        return self._corrected(self.people, number)

    def width(self, number: int) -> float | None:
        """How far the interval reaches to either side, on average; expected where not judged."""
        judged = int(self._ends[self.judged - 1]) if self.judged else 0
        errors = (self.people - self.machine)[:judged]
        people = self.people
        if number > self.judged:
            again = np.resize(errors if len(errors) else np.zeros(1), len(people) - judged)
            low, high = self.bounds or (-np.inf, np.inf)
            more = np.clip(self.machine[judged:] + again, low, high)
            people = np.concatenate([people[:judged], more])
        found = self._corrected(people, number)
        return None if found is None else 0.5 * (found.interval.high - found.interval.low)

    def enough(self, until: float) -> int | None:
        """The first look at which it is (or is expected to be) as narrow as asked; None: none."""
        wide = ((one, self.width(one)) for one in self.looks)
        return next((one for one, width in wide if width is not None and width <= until), None)

    def _corrected(self, people: Floats, number: int) -> CorrectedMean | None:
        judged = np.arange(len(people)) < int(self._ends[min(number, len(self._ends)) - 1])
        seen = judged & ~np.isnan(people)
        units = np.arange(len(people)) if self.clusters is None else self.clusters
        if len(np.unique(units[seen])) < 2:
            return None
        return corrected_mean_of_defined(
            self.machine, people, judged, self.confidence, self.bounds, self.clusters, self.looks
        )


def planned_looks(
    machine: Floats,
    until: float,
    most: int,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
    clusters: Ints | None = None,
) -> tuple[tuple[int, ...], float]:
    """The looks at a sample of at most so many, and the width of the last if nothing is wrong.

    The first is the earliest at which the interval can be as narrow as asked: where people find no
    error. To look before would cost width, and could end nothing.

    >>> machine = np.tile([1.0, 1.0, 0.0], 100)
    >>> planned_looks(machine, 0.1, 300)[0], planned_looks(machine, 0.07, 300)[0]
    ((45, 70, 100, 150, 225, 300), (100, 150, 225, 300))
    """
    every = looks_up_to(most)
    wide = float("inf")
    for first in every:
        looks = looks_up_to(most, first)
        sample = DrawnSample(
            machine, np.full(len(machine), np.nan), 0, looks, confidence, bounds, clusters
        )
        wide = sample.width(first) or float("inf")
        if wide <= until:
            return looks, wide
    return every[-1:], wide
