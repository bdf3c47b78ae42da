"""Two retrievers by a machine's labels, corrected by people's on a sample: how much better?

The differences of two retrievers are corrected like the values of one (prediction_powered); what
these queries say of others like them is what the paired test says.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.statistics.bounded_mean import rising_root
from calipers.statistics.paired_test import DIFFERENCES, PairedTest, paired_test
from calipers.statistics.prediction_powered import Sample
from calipers.statistics.score_interval import Ends, check_confidence


@dataclass(frozen=True, eq=False)
class CorrectedTest:
    """What differences say as people would judge them; read like a `PairedTest`."""

    sample: Sample
    judged: PairedTest
    """The test of people's differences where there are any, and of the machine's elsewhere."""
    wider: float
    """By how much people's differences spread more than those."""

    @property
    def n(self) -> int:
        """Units: queries, or clusters of them."""
        return self.judged.n

    @property
    def mean(self) -> float:
        """The mean difference as people would have found it."""
        return self._cut(self.sample.value)

    @property
    def spread(self) -> float:
        """The standard deviation of the units."""
        return self.wider * self.judged.spread

    @property
    def limits(self) -> tuple[float, float] | None:
        """What no difference can leave, where that is known."""
        return self.judged.limits

    def p_above(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie above the value."""
        return _smallest_level(lambda alpha: value - self.low(1.0 - alpha))

    def p_below(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie below the value."""
        return _smallest_level(lambda alpha: self.high(1.0 - alpha) - value)

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided p-value of the mean being this value."""
        return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))

    def interval(self, confidence: float = 0.95) -> Ends:
        """All means whose two-sided p-value is above 1 - confidence."""
        check_confidence(confidence)
        return Ends(self.low(0.5 + 0.5 * confidence), self.high(0.5 + 0.5 * confidence))

    def low(self, confidence: float) -> float:
        """The mean is above this, with this confidence (one-sided)."""
        beyond = self.wider * max(self.judged.mean - self.judged.low(confidence), 0.0)
        return self._cut(self.mean - math.hypot(self.sample.down(1.0 - confidence), beyond))

    def high(self, confidence: float) -> float:
        """The mean is below this, with this confidence (one-sided)."""
        beyond = self.wider * max(self.judged.high(confidence) - self.judged.mean, 0.0)
        return self._cut(self.mean + math.hypot(self.sample.up(1.0 - confidence), beyond))

    def _cut(self, end: float) -> float:
        low, high = self.limits or (-math.inf, math.inf)
        return min(max(end, low), high)


def corrected_difference(
    machine: ArrayLike,
    people: ArrayLike,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
) -> CorrectedTest:
    """The test of differences by the machine's labels, corrected by people's where there are any.

    One difference per query of the same two retrievers, NaN where people did not judge.

    >>> rng = np.random.default_rng(1)
    >>> machine = rng.choice([0.0, 1.0], 200, p=[0.7, 0.3])
    >>> people = np.where(np.arange(200) < 50, machine, np.nan)
    >>> found = corrected_difference(machine, people)
    >>> round(found.mean, 3), [round(end, 3) for end in found.interval()], found.p_value() < 0.001
    (0.305, [0.165, 0.395], True)
    """
    sample = Sample.of(machine, people, limits, clusters)
    known = ~np.isnan(np.asarray(people, dtype=np.float64))
    column = np.where(known, people, machine)
    judged = paired_test(column, clusters, limits)
    if judged is None:
        raise InvalidInput("The queries are of one cluster only; at least 2 are needed.")
    here, there = np.std(sample.mine), np.std(column)
    return CorrectedTest(sample, judged, max(1.0, float(here / there)) if there else 1.0)


def _smallest_level(outside: Callable[[float], float]) -> float:
    """The smallest alpha at which a value lies outside (above 0 where it lies inside)."""
    most, least = math.log(0.5), math.log(1e-6)

    def inside(x: float) -> float:
        # An end that nothing limits is as far away as any.
        return min(max(outside(math.exp(-x)), -1e6), 1e6)

    if inside(-most) >= 0.0:
        return 0.5
    if inside(-least) < 0.0:
        return math.exp(least)
    return math.exp(-rising_root(inside, -most, -least, 1e-9))
