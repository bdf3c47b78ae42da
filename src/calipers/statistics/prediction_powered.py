"""Prediction-powered means: a model (the machine) judged everything, humans (people) a sample.

For the mean of a metric: the model's mean over everything, with as much weight as it deserves,
plus the mean difference of the human values from it on the sample:

    w * mean(machine, everything) + mean(people - w * machine, in the sample)

with the slope w of human values on the model's, shrunk towards 1 by half a query on which both
agree; for hits and misses that is the mean stratified by the model's label. A useless model gets a
weight near 0, and the answer is that of the human sample alone.

Two things are uncertain, and their distances from the mean add up like the sides of a right angle:

- What the sample says about all these queries. A model that is rarely wrong, and then always in one
  direction, gives residuals that are nearly all 0; their spread says nothing about unobserved
  errors. So the limits are Gaffke's (bounded_mean), with one more query that the sample lacks. At
  worst humans say the end of the range where the model's values are lowest (highest), for as many
  queries as a sample of n may miss by chance. Its error is the mean of the j observed errors and
  the worst one, or the largest observed. All times the root of the share that was not judged.
- What these queries say about others like them: the ordinary interval of as many values that spread
  like the human ones. Where humans judged everything, nothing else is left.

A sample whose size was not fixed before has looks (sample_looks), and limits that hold at all of
them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.statistics.bounded_mean import largest_bounded_mean
from calipers.statistics.clusters import Units, as_units, exact_mean
from calipers.statistics.sample_looks import SampleLooks
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
    clusters: ArrayLike | None = None,
    looks: Sequence[int] = (),
) -> CorrectedMean:
    """The mean from one model value per query, and a human value, or NaN where there is none.

    The human sample must be drawn at random; where queries are taken in clusters, by clusters.
    Where its size was not fixed before, ``looks`` are the sizes at which it may end. The interval
    is one for the mean over queries like these. Simulations call it like this:

    >>> machine = [0.9, 0.4, 0.7, 0.2, 1.0, 0.6, 0.8, 0.3] * 10
    >>> people = [value - 0.1 for value in machine[:24]] + [float("nan")] * 56
    >>> found = corrected_mean(machine, people)
    >>> round(found.value, 3), round(found.people, 3), round(found.machine, 3)
    (0.513, 0.513, 0.613)
    >>> [round(end, 3) for end in found.interval]
    [0.449, 0.576]
    """
    check_confidence(confidence)
    found = PeopleSample.of(machine, people, bounds, clusters, looks=looks)
    alpha = found.level(0.5 - 0.5 * confidence)
    confidence = 1.0 - 2.0 * alpha
    spread = as_units(found.mine, found.named_sample)
    n = as_units(found.everything, found.named).n
    low, high = bounds or (-math.inf, math.inf)
    value = min(max(found.value, low), high)
    if bounds is None:
        margin = quantile(confidence, n) * math.sqrt(spread.variance / n)
        beyond = Ends(margin, margin)
    else:
        width = high - low
        share, variance = np.array([(value - low) / width]), np.array([spread.variance / width**2])
        left, right = score_ends(share, variance, n, confidence)
        beyond = Ends(value - low - width * float(left[0]), low + width * float(right[0]) - value)
    interval = Ends(
        max(low, value - math.hypot(found.down(alpha), beyond.low)),
        min(high, value + math.hypot(found.up(alpha), beyond.high)),
    )
    return CorrectedMean(
        value,
        interval,
        found.weight,
        exact_mean(found.mine),
        exact_mean(found.everything),
        len(found.mine),
        len(found.everything),
    )


def corrected_mean_of_defined(
    machine: ArrayLike,
    people: ArrayLike,
    judged: ArrayLike,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
    clusters: ArrayLike | None = None,
    looks: Sequence[int] = (),
) -> CorrectedMean:
    """The same for a metric that is undefined (NaN) for some queries, by either's labels.

    The mean is over all queries that have it by human labels, sampled or not: a ratio. A query
    that humans judged (``judged``) and that lacks it counts as the mean itself, and the interval
    widens with their number. The model's labels do not count where it lacks the metric.

    >>> machine = [1.0, 0.0, 1.0, 0.0] * 10
    >>> people = [1.0, float("nan")] * 10 + [float("nan")] * 20
    >>> judged = [True] * 20 + [False] * 20
    >>> found = corrected_mean_of_defined(machine, people, judged)
    >>> found.value, found.people, found.sampled
    (1.0, 1.0, 20)
    """
    mine, theirs = np.asarray(machine, dtype=np.float64), np.asarray(people, dtype=np.float64)
    told = np.asarray(judged, dtype=np.bool_)
    known = ~np.isnan(mine)
    alone = exact_mean(mine[known]) if known.any() else 0.0
    filled = np.where(known, mine, alone)
    lacking = told & np.isnan(theirs)
    theirs = np.where(told, theirs, np.nan)
    if not lacking.any():
        return replace(
            corrected_mean(filled, theirs, confidence, bounds, clusters, looks), machine=alone
        )
    by_people = exact_mean(theirs[~np.isnan(theirs)])
    value = by_people
    for _ in range(_STEPS):
        before = value
        imputed = np.where(lacking, before, theirs)
        value = PeopleSample.of(filled, imputed, bounds, clusters).value
        if abs(value - before) < _ROUNDING:
            break
    found = corrected_mean(
        filled, np.where(lacking, value, theirs), confidence, bounds, clusters, looks
    )
    share = 1.0 - int(lacking.sum()) / int(told.sum())
    low, high = bounds or (-math.inf, math.inf)
    ends = Ends(
        max(low, found.value - (found.value - found.interval.low) / share),
        min(high, found.value + (found.interval.high - found.value) / share),
    )
    return replace(found, interval=ends, people=by_people, machine=alone)


@dataclass(frozen=True, eq=False)
class PeopleSample:
    """Human values on a sample beside the model's on everything."""

    mine: Floats
    """Human values, in the sample."""
    everything: Floats
    """The model's values, sorted."""
    named: Ints | None
    named_sample: Ints | None
    weight: float
    residuals: Units
    """Human values minus the weighted ones of the model."""
    errors: Floats
    """Human values minus the model's."""
    bounds: Bounds
    stretch: float
    """The size of the sample's largest cluster over that of an average unit."""
    looks: SampleLooks | None = None
    """The sizes at which the sample may have been looked at before."""

    @classmethod
    def of(
        cls,
        machine: ArrayLike,
        people: ArrayLike,
        bounds: Bounds | None,
        clusters: ArrayLike | None,
        *,
        looks: Sequence[int] = (),
    ) -> "PeopleSample":
        """Check and align both."""
        everything = np.asarray(machine, dtype=np.float64)
        truth = np.asarray(people, dtype=np.float64)
        if everything.shape != truth.shape or everything.ndim != 1:
            raise InvalidInput(
                f"The values do not fit: found {everything.size} of the machine and {truth.size} "
                "of people; give one for each query, NaN where people did not judge."
            )
        if np.isnan(everything).any():
            raise InvalidInput(
                "The machine must have judged every query; found one without a value."
            )
        chosen = ~np.isnan(truth)
        if chosen.sum() < 2:
            raise InvalidInput(
                f"Too few judged by people: found {chosen.sum()} queries, at least 2 are needed."
            )
        mine, theirs = truth[chosen], everything[chosen]
        named = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
        named_sample = None if named is None else named[chosen]
        seen = np.concatenate([mine, everything])
        low, high = bounds or (float(seen.min()), float(seen.max()))
        weight = 0.0 if chosen.all() else _weight(mine, theirs, high - low)
        residuals = as_units(mine - weight * theirs, named_sample)
        if residuals.n < 2:
            raise InvalidInput("People judged queries of one cluster only; at least 2 are needed.")
        sizes = (
            np.ones(1) if named_sample is None else np.unique(named_sample, return_counts=True)[1]
        )
        stretch = float(sizes.max() / sizes.mean())
        seen_looks = None
        if len(looks) > 1:
            # One unobserved error is part of the variance, as in the limits.
            unseen = (residuals.n * residuals.variance + 0.25 * (high - low) ** 2) / (
                residuals.n + 1
            )
            total = len(everything) if named is None else len(np.unique(named))
            spread = as_units(mine, named_sample).variance
            seen_looks = SampleLooks(tuple(looks), total, unseen, spread)
        return cls(
            mine,
            np.sort(everything),
            named,
            named_sample,
            weight,
            residuals,
            mine - theirs,
            (low, high),
            stretch,
            seen_looks,
        )

    def level(self, alpha: float) -> float:
        """The error rate of one look, so that the limits of all looks hold at alpha."""
        return alpha if self.looks is None else self.looks.level(alpha)

    @property
    def value(self) -> float:
        """The corrected mean."""
        if not self.weight:
            return self.residuals.mean
        return self.weight * exact_mean(self.everything) + self.residuals.mean

    def up(self, alpha: float) -> float:
        """How far the mean of all these queries may lie above the corrected mean, at alpha."""
        return self._reach(1.0, self.bounds[1], self._worst(self.everything, alpha), alpha)

    def down(self, alpha: float) -> float:
        """How far below it."""
        return self._reach(-1.0, self.bounds[0], self._worst(self.everything[::-1], alpha), alpha)

    def _worst(self, values: Floats, alpha: float) -> float:
        """The model's mean over the queries where humans may say the opposite end of the range."""
        lacking = 1.0 - math.pow(alpha, 1.0 / self.residuals.n)
        return _mean_of_first(values, lacking)

    def _reach(self, sign: float, end: float, machine: float, alpha: float) -> float:
        """The distance, where at worst humans say ``end`` and the model said ``machine``."""
        unjudged = 1.0 - len(self.mine) / len(self.everything)
        if unjudged <= 0.0:
            return 0.0
        mean, worst = sign * self.residuals.mean, sign * (end - machine)
        # Errors in the other direction are as informative about the size of errors.
        seen = np.abs(self.errors[np.abs(self.errors) > _ROUNDING])
        usual = max((math.fsum(seen) + worst) / (len(seen) + 1), float(seen.max(initial=0.0)))
        share = min(usual / worst, 1.0) if worst > 0.0 else 1.0
        away = max(sign * (end - self.weight * machine) - mean, 0.0)
        limit = largest_bounded_mean(
            sign * self.residuals.values, mean + self.stretch * share * away, alpha
        )
        return math.sqrt(unjudged) * max(limit - mean, 0.0)


def _mean_of_first(values: Floats, share: float) -> float:
    """The mean of the first values, up to this share of them."""
    count = max(share * len(values), 1.0)
    whole = int(count)
    part = math.fsum(values[:whole]) + (count - whole) * float(values[min(whole, len(values) - 1)])
    return part / count


def _weight(mine: Floats, theirs: Floats, width: float) -> float:
    """The slope of human values on the model's, shrunk towards 1 and clipped to 0 … 1."""
    one, two = as_units(mine), as_units(theirs)
    together = as_units((mine - one.mean) * (theirs - two.mean))
    prior = _AGREEING * width**2
    whole = together.mean * together.n + prior
    weight = whole / (two.central(2) + prior) if prior else 0.0
    return round(min(max(weight, 0.0), 1.0), 12)
