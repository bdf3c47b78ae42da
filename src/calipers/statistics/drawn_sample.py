"""A sample judged by humans in the order of the draw: how wide is the interval now?

Values are in the order of the draw, those of one cluster together. The effect of more labels is
estimated as if the model keeps making the errors it made so far: the observed errors are repeated,
in turn, for queries that are not judged yet. Queries whose metric is undefined (NaN) by human
labels are among them.
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
    """The model's values in the order of the draw, and the human values so far."""

    machine: Floats
    """NaN where the metric is not defined."""
    people: Floats
    """NaN also where no human judged yet."""
    judged: int
    """Queries (or clusters) judged by humans: the first ones of the draw."""
    looks: Sequence[int]
    confidence: float = 0.95
    bounds: Bounds | None = UNIT
    clusters: Ints | None = None

    @cached_property
    def _ends(self) -> Ints:
        """The cumulative number of values up to each query or cluster."""
        if self.clusters is None:
            return np.arange(1, len(self.machine) + 1)
        return np.append(np.flatnonzero(np.diff(self.clusters)) + 1, len(self.clusters))

    @property
    def last_look(self) -> int | None:
        """The last look that was reached."""
        return max((one for one in self.looks if one <= self.judged), default=None)

    @property
    def next_look(self) -> int | None:
        """The next look."""
        return next((one for one in self.looks if one > self.judged), None)

    def at(self, number: int) -> CorrectedMean | None:
        """The corrected mean from the first units; None where fewer than two have a value."""
        return self._corrected(self.people, number)

    def width(self, number: int) -> float | None:
        """The mean half-width of the interval; an estimate beyond the judged units."""
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
        """The first look with an actual or expected half-width of at most ``until``; else None."""
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
    """The looks at a sample of at most this size, and the last half-width if there are no errors.

    The first is the earliest at which the interval can be narrow enough, if humans find no error.
    An earlier look would cost width and could not end the sampling.

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
