"""Paired differences of one metric, counted and tested."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Floats
from calipers.model.scores import Interval, MetricFacts
from calipers.statistics.clusters import exact_mean
from calipers.statistics.corrected_test import CorrectedTest
from calipers.statistics.paired_test import PairedTest, paired_tests

ROUNDING = 1e-12
"""A difference below this is the arithmetic's, not the retriever's."""


@dataclass(frozen=True, eq=False)
class Paired:
    """What one column of differences (NaN: no pair) says."""

    column: Floats
    values: Floats
    """The same without NaN: the pairs there are."""
    test: PairedTest | None
    """None with fewer than two pairs, or fewer than two clusters of them."""

    @property
    def n(self) -> int:
        """How many queries have a pair."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """The mean difference; as people would have found it, where it is corrected by them."""
        if isinstance(self.test, CorrectedTest):
            return self.test.mean
        return exact_mean(self.values) if self.n else None

    @property
    def p_value(self) -> float | None:
        """Two-sided; None where nothing can be tested."""
        return None if self.test is None else self.test.p_value()

    @property
    def effect_size(self) -> float | None:
        """The mean in standard deviations; None where all differences are equal, but not 0."""
        if self.test is None or not self.values.any():
            return 0.0 if self.n else None
        spread = self.test.spread
        return self.test.mean / spread if spread else None

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many differences are above, below and at zero."""
        above, below = (int(np.count_nonzero(side)) for side in (self.values > 0, self.values < 0))
        return above, below, self.n - above - below

    def interval(self, level: float) -> Interval | None:
        """All mean differences that the test does not reject."""
        if self.test is None:
            return None
        low, high = self.test.interval(level)
        return Interval(low, high, level, "paired")


def paired(differences: ArrayLike, facts: MetricFacts, clusters: ArrayLike | None = None) -> Paired:
    """The differences of one metric; values of a metric with bounds cannot lie further apart."""
    return paired_columns([(differences, facts)], clusters)[0]


def paired_columns(
    columns: Sequence[tuple[ArrayLike, MetricFacts]], clusters: ArrayLike | None = None
) -> list[Paired]:
    """The same for many columns at once, which share the work."""
    cleaned = []
    for differences, _ in columns:
        column = np.array(differences, dtype=np.float64)
        column[np.abs(column) < ROUNDING] = 0.0
        cleaned.append(column)
    tests = paired_tests(cleaned, clusters, [limits_of(facts) for _, facts in columns])
    return [
        Paired(column, column[~np.isnan(column)], test)
        for column, test in zip(cleaned, tests, strict=True)
    ]


def limits_of(facts: MetricFacts) -> tuple[float, float] | None:
    """How far two values of a metric can lie apart, either way; None where nothing is known."""
    low, high = facts.bounds
    return None if high is None else (low - high, high - low)


def corrected_level(level: float, p: float | None, adjusted: float | None) -> float:
    """The level at which an interval leaves out zero exactly where the corrected test rejects.

    A correction multiplies p; the same factor divides what the interval may miss.

    >>> corrected_level(0.95, 0.01, 0.02), corrected_level(0.95, 0.5, None)
    (0.975, 0.95)
    """
    if not p or not adjusted:
        return level
    return round(1.0 - (1.0 - level) * p / adjusted, 12)
