"""Two retrievers by a machine's labels, corrected by people's on a sample: how much better?

The differences of two retrievers are corrected like the values of one (prediction_powered); what
these queries say of others like them is what the paired test says.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.bounded_mean import rising_root
from calipers.statistics.paired_test import DIFFERENCES, PairedTest, paired_tests
from calipers.statistics.prediction_powered import PeopleSample


@dataclass(frozen=True, eq=False)
class CorrectedTest(PairedTest):
    """What differences say as people would judge them."""

    sample: PeopleSample
    judged: PairedTest
    """The test of people's differences where there are any, and of the machine's elsewhere."""
    wider: float
    """By how much people's differences spread more than those."""

    def p_above(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie above the value."""
        return _smallest_level(lambda alpha: value - self.low(1.0 - alpha))

    def p_below(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie below the value."""
        return _smallest_level(lambda alpha: self.high(1.0 - alpha) - value)

    def low(self, confidence: float) -> float:
        """The mean is above this, with this confidence (one-sided)."""
        alpha = self.sample.level(1.0 - confidence)
        beyond = self.wider * max(self.judged.mean - self.judged.low(1.0 - alpha), 0.0)
        return self._cut(self.mean - math.hypot(self.sample.down(alpha), beyond))

    def high(self, confidence: float) -> float:
        """The mean is below this, with this confidence (one-sided)."""
        alpha = self.sample.level(1.0 - confidence)
        beyond = self.wider * max(self.judged.high(1.0 - alpha) - self.judged.mean, 0.0)
        return self._cut(self.mean + math.hypot(self.sample.up(alpha), beyond))


def corrected_difference(
    machine: ArrayLike,
    people: ArrayLike,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
    looks: Sequence[int] = (),
) -> CorrectedTest:
    """The test of differences by the machine's labels, corrected by people's where there are any.

    One difference per query of the same two retrievers, NaN where people did not judge. Where the
    size of people's sample was not fixed before, ``looks`` are those at which it may end.

    >>> rng = np.random.default_rng(1)
    >>> machine = rng.choice([0.0, 1.0], 200, p=[0.7, 0.3])
    >>> people = np.where(np.arange(200) < 50, machine, np.nan)
    >>> found = corrected_difference(machine, people)
    >>> round(found.mean, 3), [round(end, 3) for end in found.interval()], found.p_value() < 0.001
    (0.305, [0.201, 0.383], True)
    """
    return corrected_differences([(machine, people)], clusters, limits, looks)[0]


def corrected_differences(
    columns: Sequence[tuple[ArrayLike, ArrayLike]],
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
    looks: Sequence[int] = (),
) -> list[CorrectedTest]:
    """The same for many columns (machine's, people's) of the same queries, which share the work."""
    judged = [
        np.where(np.isnan(np.asarray(people, dtype=np.float64)), machine, people)
        for machine, people in columns
    ]
    tests = paired_tests(judged, clusters, [limits] * len(columns))
    samples = [
        PeopleSample.of(*one, limits, clusters, differences=True, looks=looks) for one in columns
    ]
    return [
        _corrected(sample, column, test, limits)
        for sample, column, test in zip(samples, judged, tests, strict=True)
    ]


def _corrected(
    sample: PeopleSample,
    column: Floats,
    judged: PairedTest | None,
    limits: tuple[float, float] | None,
) -> CorrectedTest:
    if judged is None:
        raise InvalidInput("The queries are of one cluster only; at least 2 are needed.")
    here, there = np.std(sample.mine), np.std(column)
    wider = max(1.0, float(here / there)) if there else 1.0
    low, high = limits or (-math.inf, math.inf)
    return CorrectedTest(
        n=judged.n,
        better=judged.better,
        worse=judged.worse,
        mean=min(max(sample.value, low), high),
        spread=wider * judged.spread,
        limits=limits,
        means=judged.means,
        sample=sample,
        judged=judged,
        wider=wider,
    )


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
