"""Has a metric that is measured every night gone down since the reference nights?

The same queries run each night, so how hard they are cancels out: what varies is the noise from
run to run. A one-sided CUSUM adds up how far each night lies below the reference, less an
allowance, and starts again at zero whenever it would fall below. A single bad night passes; a
small loss that stays, or a slow decline, adds up.

The allowance has two parts. A quarter of a standard deviation of a night lets small losses that
stay add up; half of one, which is usual, finds a step a night sooner and a slow decline weeks
later. The other part is for the reference, which is an estimate too: its nights may have been
lucky, by as much as the one-sided limit of their mean. The spread of a night is the larger of two
estimates: that of the nightly means (with room, as few nights tell it badly), and what the
queries' own spreads from night to night add up to. Where the second decides, many queries tell
the spread, and the limit is that of the normal distribution; else it is that of t. The spread is
never less than if three queries had once been wrong: what was not seen at all in the reference
may still happen that often. So a retriever without any noise has a scale as well. And one night
adds at most two and a quarter standard deviations, so that no single night is an alarm; three
are.

The threshold comes from the budget of false alarms: with one a year, nights that are like the
reference give an alarm once in 365 nights on average (Siegmund's approximation), or less often.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.clusters import exact_sum
from calipers.statistics.score_interval import normal_quantile, t_quantile

ALLOWANCE = 0.25
_LUCK_CONFIDENCE = 0.9
_SPREAD_CONFIDENCE = 0.95
FEWEST_NIGHTS = 5
_NIGHTS_A_YEAR = 365
MOST_A_NIGHT = 2.25
_UNSEEN = 3.0  # what was not seen happens at most three times as often, with 95% confidence
_OVERSHOOT = 1.166  # how far a sum of normal steps goes beyond a line when it crosses it, doubled


@dataclass(frozen=True, slots=True)
class ReferenceNights:
    """What the reference nights say: a level, and how far a night strays from it."""

    nights: int
    queries: int
    level: float
    spread: float
    """The standard deviation of one night's mean."""
    slack: float
    """How far the level may be too high by luck, in standard deviations of one night."""


@dataclass(frozen=True, eq=False)
class Drift:
    """The nights after the reference, as a detector sees them."""

    reference: ReferenceNights
    means: Floats
    """The means of the nights."""
    threshold: float
    sums: Floats
    """The CUSUM after each night, in standard deviations of a night."""
    alarm: int | None
    """The first night whose sum passed the threshold, counted from 0."""
    since: int | None
    """The night at which the loss seems to have begun, where there is an alarm."""


def reference(values: ArrayLike, smallest: float | None = None) -> ReferenceNights:
    """The reference from one row per night and one column per query.

    `smallest` is what one query that is wrong once costs its night's mean: 1 / queries unless
    given.

    >>> nights = [[1.0, 0.5, 0.0, 1.0]] * 7
    >>> found = reference(nights)
    >>> found.level, round(found.spread, 3), round(found.slack, 2)
    (0.625, 0.164, 0.48)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or not table.size:
        raise InvalidInput(
            "The reference is not a table of numbers: one row per night and one column per query "
            "is needed, without gaps."
        )
    nights, queries = table.shape
    if nights < FEWEST_NIGHTS:
        raise InvalidInput(
            f"The reference is too short: found {nights} nights, at least {FEWEST_NIGHTS} are "
            "needed to tell noise from change."
        )
    means = np.array([exact_sum(row) for row in table]) / queries
    level = math.fsum(means.tolist()) / nights
    among = math.fsum(((means - level) ** 2).tolist()) / (nights - 1)
    own = np.array([exact_sum((column - math.fsum(column) / nights) ** 2) for column in table.T])
    within = exact_sum(own) / (nights - 1) / queries**2
    floor = _UNSEEN * (smallest or 1.0 / queries) ** 2 / nights
    few = t_quantile(_SPREAD_CONFIDENCE, nights - 1) / normal_quantile(_SPREAD_CONFIDENCE)
    by_nights = among * few**2
    by_queries = max(within, floor)
    spread = math.sqrt(max(by_nights, by_queries))
    luck = (
        t_quantile(_LUCK_CONFIDENCE, nights - 1)
        if by_nights > by_queries
        else normal_quantile(_LUCK_CONFIDENCE)
    )
    slack = luck / math.sqrt(nights)
    return ReferenceNights(nights, queries, level, round(spread, 12), round(slack, 10))


def threshold(false_alarms: float, nights_a_year: float = _NIGHTS_A_YEAR) -> float:
    """The height of the CUSUM at which so many alarms a year are false, at the most.

    >>> round(threshold(1.0), 2), round(threshold(0.1), 2)
    (6.68, 11.11)
    """
    if not 0.0 < false_alarms < nights_a_year / 5:
        raise InvalidInput(
            f"The budget of false alarms is out of range: found {false_alarms} a year, "
            f"a number above 0 and below {nights_a_year / 5:g} is allowed."
        )
    wanted = nights_a_year / false_alarms
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if run_length(middle) < wanted else (low, middle)
    return round(high, 6)


def run_length(height: float) -> float:
    """Nights until a false alarm, on average, by Siegmund's approximation."""
    reach = 2.0 * ALLOWANCE * (height + _OVERSHOOT)
    return (math.exp(reach) - reach - 1.0) / (2.0 * ALLOWANCE**2)


def drift(
    means: ArrayLike,
    against: ReferenceNights,
    false_alarms: float = 1.0,
    nights_a_year: float = _NIGHTS_A_YEAR,
) -> Drift:
    """The nightly means after the reference (higher is better; same queries), oldest first.

    >>> base = reference([[1.0, 0.0] * 20] * 7)
    >>> found = drift([0.5, 0.5, 0.3, 0.3, 0.3, 0.3], base)
    >>> found.alarm, found.since
    (4, 2)
    """
    nights = np.asarray(means, dtype=np.float64)
    height = threshold(false_alarms, nights_a_year)
    sums = cusum(nights[np.newaxis, :], against)[0]
    above = np.flatnonzero(sums > height)
    alarm = int(above[0]) if above.size else None
    since = None if alarm is None else began(nights[: alarm + 1] - against.level)
    return Drift(against, nights, height, sums, alarm, since)


def cusum(means: Floats, against: ReferenceNights) -> Floats:
    """The sums of many series at once, one series per row; NaN (no run) leaves the sum as it is."""
    steps = (against.level - means) / against.spread - against.slack - ALLOWANCE
    steps = np.minimum(steps, MOST_A_NIGHT)
    sums = np.zeros_like(steps)
    now = np.zeros(len(steps))
    for night in range(steps.shape[1]):
        step = np.where(np.isnan(steps[:, night]), 0.0, steps[:, night])
        now = np.maximum(0.0, now + step)
        sums[:, night] = now
    return sums


def began(away: Floats) -> int:
    """The night from which a step, or a straight decline, explains the series best."""
    best = (math.inf, 0)
    known = np.where(np.isnan(away), 0.0, away)
    for night in range(len(known)):
        after = known[night:]
        before = float((known[:night] ** 2).sum())
        slope = np.arange(1.0, len(after) + 1.0)
        for shape in (np.ones(len(after)), slope):
            fall = min(0.0, float(after @ shape) / float(shape @ shape))
            misfit = before + float(((after - fall * shape) ** 2).sum())
            best = min(best, (misfit, night))
    return best[1]
