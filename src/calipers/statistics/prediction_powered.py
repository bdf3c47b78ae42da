"""A machine judged everything, people a sample: what would people have said of everything?

For the mean of a metric: prediction-powered inference. The machine's mean over everything, with
as much weight as it deserves, plus the mean of what the people's values differ from it on the
sample:

    w * mean(machine, not in the sample) + mean(people - w * machine, in the sample)

with the weight w that makes the result least uncertain, from a closed form; a machine that is of
no use gets a weight near 0, and the answer is the people's alone.

For a share of things that are relevant, where the people's sample was drawn separately from
relevant and irrelevant things: Rogan and Gladen's correction by sensitivity and specificity, with
Lang and Reiczigel's interval.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.clusters import as_units
from calipers.statistics.score_interval import (
    UNIT,
    Bounds,
    Ends,
    check_confidence,
    normal_quantile,
    score_ends,
    t_quantile,
)

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean as people would have found it, with its interval."""

    value: float
    interval: Ends
    weight: float
    """How much of the machine's word was used: 0 nothing, 1 all."""
    people: float
    """The mean of the people's sample alone."""
    machine: float
    """The mean of the machine over everything."""
    sampled: int
    n: int


def corrected_mean(
    machine: ArrayLike,
    people: ArrayLike,
    confidence: float = 0.95,
    bounds: Bounds | None = UNIT,
    clusters: ArrayLike | None = None,
) -> CorrectedMean:
    """The mean from one machine value per query, and a people's value where there is one (NaN).

    The people's sample must be drawn at random; where queries are taken in clusters, by clusters.

    >>> machine = [0.9, 0.4, 0.7, 0.2, 1.0, 0.6, 0.8, 0.3] * 10
    >>> people = [value - 0.1 for value in machine[:24]] + [float("nan")] * 56
    >>> found = corrected_mean(machine, people)
    >>> round(found.value, 3), round(found.people, 3), round(found.machine, 3)
    (0.512, 0.513, 0.613)
    """
    check_confidence(confidence)
    all_of_it = np.asarray(machine, dtype=np.float64)
    truth = np.asarray(people, dtype=np.float64)
    if all_of_it.shape != truth.shape or all_of_it.ndim != 1:
        raise InvalidInput(
            f"The values do not fit: found {all_of_it.size} of the machine and {truth.size} of "
            "people; give one for each query, NaN where people did not judge."
        )
    if np.isnan(all_of_it).any():
        raise InvalidInput("The machine must have judged every query; found one without a value.")
    chosen = ~np.isnan(truth)
    n, rest = int(chosen.sum()), int((~chosen).sum())
    if n < 2:
        raise InvalidInput(f"Too few judged by people: found {n} queries, at least 2 are needed.")
    mine, theirs, others = truth[chosen], all_of_it[chosen], all_of_it[~chosen]
    weight = _weight(mine, theirs, others) if rest >= 2 else 0.0
    named = None if clusters is None else np.asarray(clusters)
    rectified = as_units(mine - weight * theirs, None if named is None else named[chosen])
    units = rectified.n
    if units < 2:
        raise InvalidInput("People judged queries of one cluster only; at least 2 are needed.")
    spread = rectified.variance / units
    value = rectified.mean
    if weight:
        unseen = as_units(others, None if named is None else named[~chosen])
        value += weight * unseen.mean
        spread += weight**2 * unseen.variance / unseen.n
    if bounds is None:
        margin = round(t_quantile(0.5 + 0.5 * confidence, units - 1), _DIGITS) * math.sqrt(spread)
        interval = Ends(value - margin, value + margin)
    else:
        value = min(max(value, bounds[0]), bounds[1])
        interval = _within_bounds(value, spread, units, confidence, bounds)
    return CorrectedMean(
        value, interval, weight, as_units(mine).mean, as_units(all_of_it).mean, n, len(all_of_it)
    )


def _weight(mine: Floats, theirs: Floats, others: Floats) -> float:
    """The weight of least variance: cov(people, machine) over (1 + n / N) var(machine)."""
    one, two = as_units(mine), as_units(theirs)
    variance = as_units(np.concatenate([theirs, others])).variance
    if variance == 0.0:
        return 0.0
    together = as_units((mine - one.mean) * (theirs - two.mean))
    covariance = together.mean * together.n / (together.n - 1)
    weight = covariance / ((1.0 + len(mine) / len(others)) * variance)
    return round(min(max(weight, 0.0), 1.0), 12)


def _within_bounds(value: float, spread: float, n: int, confidence: float, bounds: Bounds) -> Ends:
    """The score interval of a mean whose variance is known from elsewhere."""
    low, width = bounds[0], bounds[1] - bounds[0]
    share = np.array([(value - low) / width])
    ends = score_ends(share, np.array([spread * n / width**2]), n, confidence)
    return Ends(low + width * float(ends[0][0]), low + width * float(ends[1][0]))


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """The machine's labels against the people's, as counts: relevant or not."""

    both: int
    """Relevant to people and machine."""
    missed: int
    """Relevant to people alone."""
    invented: int
    """Relevant to the machine alone."""
    neither: int

    def sensitivity(self) -> float | None:
        """The share of what people found relevant that the machine did too."""
        return _share(self.both, self.both + self.missed)

    def specificity(self) -> float | None:
        """The share of what people found irrelevant that the machine did too."""
        return _share(self.neither, self.neither + self.invented)

    def sensitivity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the sensitivity."""
        return wilson(self.both, self.both + self.missed, confidence)

    def specificity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the specificity."""
        return wilson(self.neither, self.neither + self.invented, confidence)


def against_people(machine: ArrayLike, people: ArrayLike) -> AgainstPeople:
    """Count labels (True for relevant), one of each for everything that both judged.

    >>> found = against_people([1, 1, 0, 0, 1], [1, 0, 0, 1, 1])
    >>> found.sensitivity(), found.specificity()
    (0.6666666666666666, 0.5)
    """
    told, true = (np.asarray(side, dtype=np.bool_) for side in (machine, people))
    if told.shape != true.shape:
        raise InvalidInput(
            f"The labels do not fit: found {told.size} of the machine and {true.size} of people; "
            "give one of each for everything."
        )
    pairs = ((told & true), (~told & true), (told & ~true), (~told & ~true))
    return AgainstPeople(*(int(np.count_nonzero(pair)) for pair in pairs))


def wilson(count: int, n: int, confidence: float = 0.95) -> Ends | None:
    """Wilson's interval of a share; None where nothing was counted.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    check_confidence(confidence)
    if not n:
        return None
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    share, pull = count / n, z * z / n
    margin = math.sqrt(pull * share * (1.0 - share) + 0.25 * pull * pull)
    low, high = (share + 0.5 * pull + sign * margin for sign in (-1.0, 1.0))
    return Ends(
        0.0 if not count else low / (1.0 + pull), 1.0 if count == n else high / (1.0 + pull)
    )


def corrected_share(
    positives: int, n: int, against: AgainstPeople, confidence: float = 0.95
) -> tuple[float, Ends] | None:
    """The share of relevant things, where the machine called so many of n relevant.

    None where the machine is no better than a coin on the people's labels, or either side of
    these is missing.

    >>> share, ends = corrected_share(600, 1000, AgainstPeople(90, 10, 20, 80))
    >>> round(share, 3), round(ends.low, 2), round(ends.high, 2)
    (0.571, 0.49, 0.66)
    """
    check_confidence(confidence)
    relevant, irrelevant = against.both + against.missed, against.neither + against.invented
    if not n or not relevant or not irrelevant:
        return None
    plain = against.both / relevant + against.neither / irrelevant - 1.0
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    seen = (positives + z * z / 2) / (n + z * z)
    sensitivity = (against.both + 1) / (relevant + 2)
    specificity = (against.neither + 1) / (irrelevant + 2)
    gain = sensitivity + specificity - 1.0
    if plain <= 0.0 or gain <= 0.0:
        return None
    share = (seen + specificity - 1.0) / gain
    of_seen = seen * (1 - seen) / (n + z * z)
    of_sensitivity = sensitivity * (1 - sensitivity) / (relevant + 2)
    of_specificity = specificity * (1 - specificity) / (irrelevant + 2)
    shift = 2 * z * z * (share * of_sensitivity - (1 - share) * of_specificity)
    variance = of_seen + share**2 * of_sensitivity + (1 - share) ** 2 * of_specificity
    margin = z / gain * math.sqrt(variance)
    value = (positives / n + against.neither / irrelevant - 1.0) / plain
    low, high = (min(max(share + shift + sign * margin, 0.0), 1.0) for sign in (-1.0, 1.0))
    value = min(max(value, 0.0), 1.0)
    return value, Ends(min(low, value), max(high, value))


def _share(count: int, n: int) -> float | None:
    return count / n if n else None
