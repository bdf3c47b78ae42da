"""Two retrievers on the same queries: how much better, and is that more than noise?

Everything here takes differences, one per query: d = b - a, so that above 0 means b is better
(turn the sign for a metric where lower is better). Test and interval come from one inversion: the
interval holds exactly those differences that the test does not reject, so that the two never
contradict each other.

Two statistics are asked, and both must reject. Student's t, with the mean, spread s and number n
of the differences, is right for symmetric differences; with skewed ones it rejects too often on
one side. Hall's cubic transformation of it,

    g(w) = w + c * w**2 / 3 + c**2 * w**3 / 27 + c / (6 * n)     w = mean / s, c = skewness

takes the skewness out, but trusts an estimated skewness. Each errs where the other holds. The
degrees of freedom are the differences that are not zero, less one: a hundred queries of which
five moved tell of the spread what five tell. So no difference shows with fewer than some five
that moved, as in the sign test.

Where all differences are equal, n of them leave room for a share of 1 - p**(1 / n) of others,
at worst as far on the other side of zero: the sign test again. Where all are zero, those others
may reach the bounds.

Whether a new build is worse than the baseline by more than is allowed is two questions with one
answer each, both one-sided: is a loss beyond what is allowed shown, and is it shown that there is
none? Between the two lies "neither", which is most of life with few queries.

Nothing is random, and the order of the queries does not matter.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.visibility import Unseen
from calipers.statistics.clusters import as_units
from calipers.statistics.score_interval import Ends, check_confidence, t_cdf, t_quantile

DIFFERENCES: tuple[float, float] = (-1.0, 1.0)
"""How far two values of a metric between 0 and 1 can lie apart, either way."""
Verdict = Literal["loss shown", "no loss shown", "neither"]
_STRAIGHT = 1e-6  # a skewness below this bends nothing, and dividing by it loses digits
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """What paired differences say about their mean: from it come tests and intervals."""

    n: int
    """Pairs, or clusters of them."""
    moving: int
    mean: float
    variance: float
    skewness: float
    reach: float
    """How far an unseen difference may lie where all that were seen are equal."""
    limits: tuple[float, float] | None
    """What no difference can leave, where that is known."""

    def p_above(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie above the value."""
        if self.variance == 0.0:
            return _equal_p(self.mean - value, self.mean + self.reach, self.n)
        return _tail(self._least(value, 1.0), self.freedom)

    def p_below(self, value: float = 0.0) -> float:
        """One-sided p-value: small where the mean is shown to lie below the value."""
        if self.variance == 0.0:
            return _equal_p(value - self.mean, self.reach - self.mean, self.n)
        return _tail(self._least(value, -1.0), self.freedom)

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided p-value of the mean being this value."""
        return min(1.0, 2.0 * min(self.p_above(value), self.p_below(value)))

    def interval(self, confidence: float = 0.95) -> Ends:
        """All means whose two-sided p-value is not below 1 - confidence."""
        check_confidence(confidence)
        return Ends(
            self.low(0.5 + 0.5 * confidence),
            self.high(0.5 + 0.5 * confidence),
        )

    def low(self, confidence: float) -> float:
        """The mean is above this, with this confidence (one-sided)."""
        return self._cut(self._end(confidence, 1.0))

    def high(self, confidence: float) -> float:
        """The mean is below this, with this confidence (one-sided)."""
        return self._cut(self._end(confidence, -1.0))

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the t distribution."""
        return degrees(self.moving)

    def _least(self, value: float, sign: float) -> float:
        """The smaller of both statistics, seen from the side of the sign."""
        away = np.array([(self.mean - value) / math.sqrt(self.variance)])
        plain, bent = statistics(away, np.array([self.skewness]), self.n)
        return min(sign * float(plain[0]), sign * float(bent[0]))

    def _end(self, confidence: float, sign: float) -> float:
        if self.variance == 0.0:
            unseen: float = 1.0 - (1.0 - confidence) ** (1.0 / self.n)
            return self.mean - sign * unseen * (self.reach + sign * self.mean)
        t = round(t_quantile(confidence, self.freedom), _DIGITS)
        away = margins(np.array([self.skewness]), self.n, np.array([sign * t]))
        return self.mean - math.sqrt(self.variance) * float(away[0])

    def _cut(self, end: float) -> float:
        return end if self.limits is None else min(max(end, self.limits[0]), self.limits[1])


def difference(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
) -> MeanDifference | None:
    """What the differences say; NaN is left out, None below two pairs (or clusters).

    >>> found = difference([0.5, 0.25, 0.25, 0.5, 0.0, 0.75, 0.25, 0.5])
    >>> found.mean, round(found.p_value(), 4)
    (0.375, 0.0038)
    >>> [round(end, 3) for end in found.interval()]
    [0.175, 0.575]
    >>> same = difference([0.25] * 6)
    >>> same.p_value(), round(same.interval().low, 4)
    (0.03125, 0.0204)
    """
    units = as_units(differences, clusters)
    if units.n < 2:
        return None
    reach = float(np.abs(units.values).max())
    if reach == 0.0 and limits is not None:
        reach = max(-limits[0], limits[1])
    return MeanDifference(
        units.n, units.moving, units.mean, units.variance, units.skewness, reach, limits
    )


def undone_by(found: MeanDifference, confidence: float = 0.95, value: float = 0.0) -> Unseen | None:
    """The queries that the sample may lack by chance and that would bring its mean to the value.

    Rare large losses beside many small gains: no test can see what is not in the sample. None
    where they would have to differ by more than half of what is possible, or nothing limits them.

    >>> found = undone_by(difference([0.05] * 20))
    >>> round(found.share, 3), round(found.change, 3)
    (0.139, 0.309)
    >>> undone_by(difference([0.5] * 20)) is None
    True
    """
    share: float = 1.0 - (1.0 - confidence) ** (1.0 / found.n)
    change = abs((value - (1.0 - share) * found.mean) / share)
    if found.limits is None or change > 0.5 * max(-found.limits[0], found.limits[1]):
        return None
    return Unseen(share, change)


def degrees(moving: int) -> int:
    """Degrees of freedom when so many differences are not zero.

    >>> degrees(10), degrees(0)
    (9, 1)
    """
    return max(moving - 1, 1)


def statistics(away: Floats, skewness: Floats, n: int | Floats) -> tuple[Floats, Floats]:
    """Student's t and Hall's, for means so many standard deviations away.

    >>> plain, bent = statistics(np.array([0.5]), np.array([1.0]), 16)
    >>> plain.tolist(), np.round(bent, 3).tolist()
    ([2.0], [2.394])
    """
    root = np.sqrt(n)
    with np.errstate(over="ignore"):
        bent = away + skewness * away**2 / 3.0 + skewness**2 * away**3 / 27.0
    return root * away, root * (bent + skewness / (6.0 * n))


def shown_above(
    mean: Floats, variance: Floats, skewness: Floats, moving: Ints, n: int, alpha: float
) -> Bools:
    """For many samples of n differences, which of them show a mean above zero (two-sided alpha).

    >>> one, two, three = np.array([0.375]), np.array([0.0558]), np.array([-0.14])
    >>> shown_above(one, two, three, np.array([7]), 8, 0.05).tolist()
    [True]
    """
    varied = variance > 0.0
    plain, bent = statistics(mean / np.sqrt(np.where(varied, variance, 1.0)), skewness, n)
    numbers, which = np.unique(moving, return_inverse=True)
    critical = np.array([_critical(degrees(int(one)), alpha) for one in numbers])[which]
    alike = (mean > 0.0) & (2.0 * 0.5**n <= alpha)
    shown: Bools = np.where(varied, np.minimum(plain, bent) >= critical, alike)
    return shown


@lru_cache(maxsize=10_000)
def _critical(freedom: int, alpha: float) -> float:
    return t_quantile(1.0 - alpha / 2.0, freedom)


def margins(skewness: Floats, n: int | Floats, t: Floats) -> Floats:
    """How many standard deviations the end of an interval lies below the mean.

    The further of both statistics' answers: t > 0 asks for the lower end, t < 0 for the upper,
    which lies below the mean by a negative number.
    """
    straight = t / np.sqrt(n)
    level = straight - skewness / (6.0 * n)
    curved = np.abs(skewness) > _STRAIGHT
    safe = np.where(curved, skewness, 1.0)
    bent = np.where(curved, 3.0 * (np.cbrt(1.0 + safe * level) - 1.0) / safe, level)
    further: Floats = np.where(t > 0, np.maximum(straight, bent), np.minimum(straight, bent))
    return further


def _tail(statistic: float, freedom: int) -> float:
    return t_cdf(-statistic, freedom) if math.isfinite(statistic) else float(statistic < 0)


def _equal_p(distance: float, room: float, n: int) -> float:
    """The chance of n equal values at this distance, were the rest as far off as there is room."""
    if distance <= 0.0:
        return 1.0
    return max(0.0, 1.0 - distance / room) ** n if room > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """What the differences (new minus baseline, higher is better) say about a loss."""

    difference: MeanDifference
    allow: float
    p_loss: float
    """Small where the loss is shown to exceed what is allowed."""
    p_no_loss: float
    """Small where it is shown not to."""

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Which of the two is shown, if any; both cannot be."""
        if self.p_loss <= alpha:
            return "loss shown"
        return "no loss shown" if self.p_no_loss <= alpha else "neither"

    def undone(self, p_loss: float | None, alpha: float, *, strict: bool) -> Unseen | None:
        """What would undo a loss that is shown (corrected), or that none is, where that counts."""
        shown = p_loss is not None and (p_loss <= alpha or (strict and self.p_no_loss <= alpha))
        return undone_by(self.difference, 1.0 - alpha, -self.allow) if shown else None


def non_inferiority(
    differences: ArrayLike,
    allow: float = 0.0,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
) -> NonInferiority | None:
    """Both one-sided tests at a loss of `allow`; None below two pairs.

    >>> found = non_inferiority([-0.5, 0.0, -0.25, -0.5, -0.5, -0.75, -0.25], allow=0.05)
    >>> round(found.p_loss, 3), found.verdict()
    (0.01, 'loss shown')
    """
    if not 0.0 <= allow < np.inf:
        raise InvalidInput(
            f"The allowed loss is out of range: found {allow}, a number from 0 up is allowed."
        )
    found = difference(differences, clusters, limits)
    if found is None:
        return None
    return NonInferiority(found, allow, found.p_below(-allow), found.p_above(-allow))


def mean_of_runs(runs: Sequence[ArrayLike]) -> Floats:
    """The baseline from several runs of one commit: per query the mean over runs that have it.

    One run can be lucky, and then every later build looks worse; the luck of r runs is smaller
    by the root of r. Values are added in order of size, so that the order of runs is no matter.

    >>> mean_of_runs([[1.0, 0.5], [0.5, float("nan")]]).tolist()
    [0.75, 0.5]
    """
    if not len(runs):
        raise InvalidInput("A baseline needs at least one run: found none.")
    table = np.sort(np.array([np.asarray(run, dtype=np.float64) for run in runs]), axis=0)
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    total = np.where(known, table, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
    return mean
