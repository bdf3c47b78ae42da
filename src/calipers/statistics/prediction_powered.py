"""Prediction-powered means: a model (the machine) judged everything, humans (people) a sample.

For the mean of a metric: the model's mean over everything, with as much weight as it
deserves, plus the mean difference of the human values from it on the sample:

    w * mean(machine, everything) + mean(people - w * machine, in the sample)

with the slope w of human values on the model's, shrunk towards 1 by half a query on which
both agree; for hits and misses that is the mean stratified by the model's label. A
useless model gets a weight near 0, and the answer is that of the human sample alone.

Two things are uncertain, and their distances from the mean add up like the sides of a
right angle:

- What the sample says about all these queries. A model that is rarely wrong, and then always in one
  direction, gives residuals that are nearly all 0; their spread says nothing about unobserved
  errors. So the limits are Gaffke's (bounded_mean), with one more query that the sample lacks. At
  worst humans say the end of the range where the model's values are lowest (highest), for as many
  queries as a sample of n may miss by chance. Its error is the mean of the j observed errors and
  the worst one, or the largest observed. All times the root of the share that was not judged.
- What these queries say about others like them: the ordinary interval of as many values that spread
  like the human ones. Where humans judged everything, nothing else is left.

A metric may be undefined (NaN) for some queries. The mean is over all queries that have
it by human labels, sampled or not: a ratio. A query that humans judged and that lacks it
counts as the mean itself, and the interval widens with their number. The model has no say
where it lacks the metric.

A sample whose size was not fixed before has looks (sample_looks), and limits that hold at
all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.bounded_mean import largest_bounded_mean
from calipers.statistics.clusters import Units, as_units, exact_mean
from calipers.statistics.sample_looks import SampleLooks, looks_up_to
from calipers.statistics.score_interval import (
    UNIT,
    Bounds,
    Ends,
    check_confidence,
    quantile,
    score_ends,
)

_ROUNDING = 1e-12
_STEPS = 200
_AGREEING = 0.5
"""Queries on which model and humans agree, added when the weight is estimated."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The estimated mean by human labels, with its interval."""

    value: float
    interval: Ends
    weight: float
    """The weight of the model's labels: 0 none, 1 full."""
    people: float
    """The mean of the human sample alone."""
    machine: float
    """The model's mean over everything."""
    sampled: int
    n: int


def corrected_mean(
    machine: ArrayLike,
    people: ArrayLike,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
    looks: Sequence[int] = (),
    judged: ArrayLike | None = None,
) -> CorrectedMean:
    """The mean from one model value per query, and a human value, or NaN where there is none.

    The human sample must be drawn at random. ``judged`` says which queries humans judged
    (default: those with a human value), and ``looks`` at which sizes the sample may end.
    The interval is one for the mean over queries like these.

    >>> machine = [0.9, 0.4, 0.7, 0.2, 1.0, 0.6, 0.8, 0.3] * 10
    >>> people = [value - 0.1 for value in machine[:24]] + [float("nan")] * 56
    >>> found = corrected_mean(machine, people)
    >>> round(found.value, 3), round(found.people, 3), round(found.machine, 3)
    (0.513, 0.513, 0.613)
    >>> [round(end, 3) for end in found.interval]
    [0.449, 0.576]
    """
    check_confidence(confidence)
    mine = np.asarray(machine, dtype=np.float64)
    theirs = np.asarray(people, dtype=np.float64)
    told = ~np.isnan(theirs) if judged is None else np.asarray(judged, dtype=np.bool_)
    theirs = np.where(told, theirs, np.nan)
    by_people = theirs[~np.isnan(theirs)]
    if len(by_people) < 2:
        raise InvalidInput(
            f"Too few judged by people: found {len(by_people)} queries, at least 2 are "
            "needed."
        )
    known = ~np.isnan(mine)
    value = exact_mean(by_people)
    alone = exact_mean(mine[known]) if known.any() else 0.0
    mine = np.where(known, mine, alone)
    lacking = told & np.isnan(theirs)
    for _ in range(_STEPS if lacking.any() else 0):
        before = value
        value = _Sample.of(mine, np.where(lacking, before, theirs), bounds).value
        if abs(value - before) < _ROUNDING:
            break
    sample = _Sample.of(mine, np.where(lacking, value, theirs), bounds)
    low, high = bounds or (-math.inf, math.inf)
    value = min(max(sample.value, low), high)
    down, up = sample.reach(value, 0.5 - 0.5 * confidence, looks, bounds)
    ends = Ends(max(low, value - down), min(high, value + up))
    if lacking.any():
        share = 1.0 - int(lacking.sum()) / int(told.sum())
        ends = Ends(
            max(low, value - (value - ends.low) / share),
            min(high, value + (ends.high - value) / share),
        )
    sampled = len(sample.mine)
    n = len(sample.everything)
    return CorrectedMean(
        value, ends, sample.weight, exact_mean(by_people), alone, sampled, n
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Human values on a sample beside the model's on everything."""

    mine: Floats
    """Human values, in the sample."""
    everything: Floats
    """The model's values, ascending."""
    weight: float
    """The weight of the model's labels."""
    residuals: Units
    """Human values minus the weighted model values."""
    errors: Floats
    """Human minus model values, per query."""
    bounds: Bounds

    @classmethod
    def of(cls, machine: Floats, people: Floats, bounds: Bounds | None) -> "_Sample":
        chosen = ~np.isnan(people)
        mine = people[chosen]
        theirs = machine[chosen]
        seen = np.concatenate([mine, machine])
        low, high = bounds or (float(seen.min()), float(seen.max()))
        weight = 0.0 if chosen.all() else _weight(mine, theirs, high - low)
        residuals = as_units(mine - weight * theirs)
        return cls(mine, np.sort(machine), weight, residuals, mine - theirs, (low, high))

    @property
    def value(self) -> float:
        """The corrected mean."""
        if not self.weight:
            return self.residuals.mean
        return self.weight * exact_mean(self.everything) + self.residuals.mean

    def reach(
        self, value: float, alpha: float, looks: Sequence[int], bounds: Bounds | None
    ) -> tuple[float, float]:
        """How far the mean over queries like these may lie below and above the value."""
        spread = as_units(self.mine).variance
        units = len(self.everything)
        width = self.bounds[1] - self.bounds[0]
        if len(looks) > 1:
            # One unobserved error is part of the variance, as in the limits.
            n = self.residuals.n
            variance = self.residuals.variance
            unseen = (n * variance + 0.25 * width**2) / (n + 1)
            alpha = SampleLooks(tuple(looks), units, unseen, spread).level(alpha)
        confidence = 1.0 - 2.0 * alpha
        if bounds is None:
            below = above = quantile(confidence, units) * math.sqrt(spread / units)
        else:
            low = self.bounds[0]
            share = np.array([(value - low) / width])
            variances = np.array([spread / width**2])
            left, right = score_ends(share, variances, units, confidence)
            below = value - low - width * float(left[0])
            above = low + width * float(right[0]) - value
        down, up = (self._beyond(sign, alpha) for sign in (-1.0, 1.0))
        return math.hypot(down, below), math.hypot(up, above)

    def _beyond(self, sign: float, alpha: float) -> float:
        """How far the mean of all these queries may lie above (1) or below (-1) the value."""
        unjudged = 1.0 - len(self.mine) / len(self.everything)
        if unjudged <= 0.0:
            return 0.0
        # At worst humans say the end of the range where the model says the opposite.
        end = self.bounds[int(sign > 0.0)]
        ordered = self.everything[:: int(sign)]
        machine = _mean_of_first(ordered, 1.0 - math.pow(alpha, 1.0 / self.residuals.n))
        mean = sign * self.residuals.mean
        worst = sign * (end - machine)
        # Errors in the other direction are as informative about the size of errors.
        seen = np.abs(self.errors[np.abs(self.errors) > _ROUNDING])
        usual = max(
            (math.fsum(seen) + worst) / (len(seen) + 1), float(seen.max(initial=0.0))
        )
        share = min(usual / worst, 1.0) if worst > 0.0 else 1.0
        away = max(sign * (end - self.weight * machine) - mean, 0.0)
        limit = largest_bounded_mean(
            sign * self.residuals.values, mean + share * away, alpha
        )
        return math.sqrt(unjudged) * max(limit - mean, 0.0)


def _mean_of_first(values: Floats, share: float) -> float:
    """The mean of the first values, up to this share of them."""
    count = max(share * len(values), 1.0)
    whole = int(count)
    part = math.fsum(values[:whole]) + (count - whole) * float(
        values[min(whole, len(values) - 1)]
    )
    return part / count


def _weight(mine: Floats, theirs: Floats, width: float) -> float:
    """The slope of human values on the model's, shrunk towards 1 and clipped to 0 … 1."""
    units = as_units(mine)
    two = as_units(theirs)
    together = as_units((mine - units.mean) * (theirs - two.mean))
    prior = _AGREEING * width**2
    whole = together.mean * together.n + prior
    weight = whole / (two.central(2) + prior) if prior else 0.0
    return round(min(max(weight, 0.0), 1.0), 12)


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """The model's values in the order of the draw, and the human values so far.

    The effect of more labels is estimated as if the model keeps making the errors it made
    so far: the observed errors are repeated, in turn, for queries that are not judged
    yet.
    """

    machine: Floats
    """NaN where the metric is not defined."""
    people: Floats
    """NaN also where no human judged yet."""
    judged: int
    """Queries judged by humans: the first ones of the draw."""
    looks: Sequence[int]
    confidence: float = 0.95
    bounds: Bounds | None = UNIT

    @property
    def last_look(self) -> int | None:
        """The last look that was reached."""
        return max((look for look in self.looks if look <= self.judged), default=None)

    @property
    def next_look(self) -> int | None:
        """The next look."""
        return next((look for look in self.looks if look > self.judged), None)

    def at(self, number: int) -> CorrectedMean | None:
        """The corrected mean from the first queries; None where fewer than two have a value."""
        judged = np.arange(len(self.people)) < number
        if np.count_nonzero(judged & ~np.isnan(self.people)) < 2:
            return None
        told = (self.confidence, self.bounds, self.looks, judged)
        return corrected_mean(self.machine, self.people, *told)

    def width(self, number: int) -> float | None:
        """The mean half-width of the interval; an estimate beyond the judged queries."""
        judged = self.judged
        errors = (self.people - self.machine)[:judged]
        people = self.people
        if number > self.judged:
            again = np.resize(
                errors if len(errors) else np.zeros(1), len(people) - judged
            )
            low, high = self.bounds or (-np.inf, np.inf)
            more = np.clip(self.machine[judged:] + again, low, high)
            people = np.concatenate([people[:judged], more])
        estimate = replace(self, people=people).at(number)
        return (
            None
            if estimate is None
            else 0.5 * (estimate.interval.high - estimate.interval.low)
        )

    def enough(self, until: float) -> int | None:
        """The first look with an actual or expected half-width of at most ``until``; else None."""
        wide = ((look, self.width(look)) for look in self.looks)
        return next(
            (labels for labels, width in wide if width is not None and width <= until),
            None,
        )


def planned_looks(
    machine: Floats,
    until: float,
    most: int,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
) -> tuple[tuple[int, ...], float]:
    """The looks at a sample of at most this size, and the last half-width if there are no errors.

    The first is the earliest at which the interval can be narrow enough, if humans find
    no error. An earlier look would cost width and could not end the sampling.

    >>> machine = np.tile([1.0, 1.0, 0.0], 100)
    >>> planned_looks(machine, 0.1, 300)[0], planned_looks(machine, 0.07, 300)[0]
    ((45, 70, 100, 150, 225, 300), (100, 150, 225, 300))
    """
    every = looks_up_to(most)
    wide = float("inf")
    for first in every:
        looks = looks_up_to(most, first)
        sample = DrawnSample(
            machine, np.full(len(machine), np.nan), 0, looks, confidence, bounds
        )
        wide = sample.width(first) or float("inf")
        if wide <= until:
            return looks, wide
    return every[-1:], wide
