"""Paired differences of one metric, counted and tested."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Floats
from calipers.model.claim import Claim
from calipers.model.scores import Interval, MetricFacts
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import fewest_queries
from calipers.statistics.paired_test import DIFFERENCES, PairedTest, paired_tests
from calipers.statistics.queries_needed import queries_like_these
from calipers.words import number, plural, signed

ROUNDING = 1e-12
"""A difference below this is the arithmetic's, not the retriever's."""


def mean_difference(differences: Floats) -> float:
    """Their mean; where gains and losses cancel out, what is left over is rounding.

    >>> mean_difference(np.array([0.3, -0.1, -0.2])), exact_mean(np.array([0.3, -0.1, -0.2])) < 0
    (0.0, True)
    """
    mean = exact_mean(differences)
    return mean if abs(mean) >= ROUNDING else 0.0


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
        """The mean difference."""
        return mean_difference(self.values) if self.n else None

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


RULED_OUT = 0.05
"""What queries that all stay the same are asked to rule out."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """One system beside the baseline in one metric that was asked for."""

    baseline: str
    system: str
    facts: MetricFacts
    means: tuple[float | None, float | None]
    """Of the baseline and of the system, over the same queries."""
    paired: Paired
    interval: Interval | None
    p: float | None
    """Corrected for all tests of the comparison."""
    tests: int
    alpha: float
    unit: str = "query"
    """What counts as one: a query, or a cluster of them."""

    @property
    def gain(self) -> float:
        """The difference, turned so that above 0 is better."""
        return self.facts.turn * (self.paired.mean or 0.0)

    @property
    def better_and_worse(self) -> tuple[int, int]:
        """How many queries moved which way."""
        above, below, _ = self.paired.counts
        return (below, above) if self.facts.turn < 0 else (above, below)

    @property
    def units(self) -> int:
        """How many there are to test."""
        return self.paired.test.n if self.paired.test else min(self.paired.n, 1)

    @property
    def fewest(self) -> int:
        """With fewer of them nothing could be shown among so many tests, were all of them won."""
        return fewest_queries(self.alpha / self.tests)

    @property
    def standing(self) -> Literal["better", "worse", "no clear difference"]:
        """Shown better, shown worse, or neither."""
        if self.p is None or self.p > self.alpha or not self.gain:
            return "no clear difference"
        return "better" if self.gain > 0 else "worse"

    @property
    def claim(self) -> Claim:
        """The answer in words."""
        return Claim(self.standing, self._fact(), range=self._range(), next=self._next())

    def _fact(self) -> str:
        before, after = self.means
        if before is None or after is None:
            return f"No query can be compared in {self.facts.name}."
        if self.standing == "no clear difference":
            n = plural(self.paired.n, "query", "queries")
            whom = f"{self.system} and {self.baseline}"
            return f"No clear difference between {whom} in {self.facts.name} on {n}."
        verdict = f"{self.system} is {self.standing} than {self.baseline}"
        return f"{verdict}: {self.facts.name} is {number(after)}, it was {number(before)}."

    def _range(self) -> str | None:
        """Where the difference on new queries is likely to lie."""
        if self.interval is None:
            return None
        low, high = (signed(end) for end in (self.interval.low, self.interval.high))
        return f"The true difference is likely between {low} and {high}."

    def _next(self) -> str | None:
        """How many more would settle it, were they like these."""
        if self.standing != "no clear difference":
            return None
        if not any(self.better_and_worse):
            return self._next_of_none()
        needed = self.fewest
        if self.paired.test is not None and self.gain:
            needed = queries_like_these(self.paired.test, self.alpha / self.tests)
        more = needed - self.units
        if more <= 0:
            return None
        return (
            f"About {self._counted(more, ' more')} would settle it."
            if self.gain
            else f"{self._counted(more, ' more')} could show a difference."
        )

    def _next_of_none(self) -> str | None:
        """Where nothing moved: how many could show something, or rule out more than a little."""
        if self.paired.test is None or self.paired.test.limits != DIFFERENCES:
            return None
        needed = math.ceil(math.log(self.alpha / 2.0) / math.log(1.0 - RULED_OUT))
        more = needed - self.units
        said = f"that stay the same would rule out more than {RULED_OUT:g}"
        return f"{self._counted(more, ' more')} {said}." if more > 0 else None

    def _counted(self, n: int, more: str = "") -> str:
        many = "queries" if self.unit == "query" else f"{self.unit}s"
        return f"{n:,}{more} {self.unit if n == 1 else many}"
