"""The same scores, cut by what is known of the queries, and what slices say as claims."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.statistics.score_interval import normal_quantile
from calipers.words import plural

Standing = Literal["above", "below", "not shown", "cannot tell", "supporting"]
"""How a slice stands to the rest of the queries, after correction. So few queries that no
difference could have been shown: cannot tell. Other metrics than the primary one are supporting."""


@dataclass(frozen=True)
class Slice:
    """The queries that have one thing in common, on one metric."""

    by: str
    value: str
    metric: str
    queries: int
    n: int
    """Queries for which the metric is defined."""
    mean: float | None
    interval: Interval | None
    rest_n: int
    rest: float | None
    """The mean over all other queries."""
    difference: float | None
    """Slice minus rest."""
    p_value: float | None
    p_adjusted: float | None
    standing: Standing
    better: str
    """Whether higher or lower is better in this metric."""
    difference_interval: Interval | None = None
    """Of the primary metric; it leaves out zero exactly where the slice is marked."""

    @property
    def is_worse(self) -> bool:
        """Whether it is shown to be worse than the rest."""
        return self.standing == ("above" if self.better == "lower" else "below")

    @property
    def shortfall(self) -> float:
        """By how much it is worse than the rest in these queries; below 0: better."""
        difference = self.difference or 0.0
        return difference if self.better == "lower" else -difference


@dataclass(frozen=True, repr=False)
class Slices(Plain, HasRows):
    """Every slice of one or more cuts, tested together."""

    shown_by: ClassVar[str] = "calipers.questions.slices.document"
    dict_keys: ClassVar[str] = "by metrics primary tests claims slices=rows settings"

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Slice, ...]
    tests: int
    """Rows that could have been shown, tested together."""
    primary: str | None
    """The metric that is tested."""
    claims: tuple[Claim, ...]
    """What is shown, the worst first; else the lowest slice and what it leaves open."""
    settings: Mapping[str, Any]

    def of(self, by: str) -> tuple[Slice, ...]:
        """The slices of one cut."""
        return tuple(row for row in self.rows if row.by == by)


MOST_CLAIMS = 3


def slice_claims(
    rows: Sequence[Slice],
    together: Sequence[int],
    own_error: Sequence[float],
    spread: float,
    alpha: float,
) -> tuple[Claim, ...]:
    """The slices that are shown to be worse; else those shown to be better, and the lowest.

    ``together``: how many tests each row is corrected for. ``own_error``: the standard error of its
    difference from the spread of each side. ``spread``: of all values.
    """
    known = [
        (row, tests, error)
        for row, tests, error in zip(rows, together, own_error, strict=True)
        if row.mean is not None and row.rest is not None
    ]
    if not known:
        return ()
    lowest_first = sorted(known, key=lambda one: -one[0].shortfall)
    worse = [one for one in lowest_first if one[0].is_worse]
    better = [one for one in lowest_first[::-1] if one[0].standing in ("above", "below")]
    named = worse or [*better[: MOST_CLAIMS - 1], lowest_first[0]]
    return tuple(
        _claim(row, tests, error, spread, alpha) for row, tests, error in named[:MOST_CLAIMS]
    )


def _claim(row: Slice, tests: int, error: float, spread: float, alpha: float) -> Claim:
    way = {"above": "higher", "below": "lower"}.get(row.standing)
    return Claim(
        "worse" if row.is_worse else "better" if way else "no clear difference",
        f"{row.by} {row.value}: {row.metric} is {row.mean:.3f} on "
        f"{plural(row.n, 'query', 'queries')} and {row.rest:.3f} on the other {row.rest_n:,}.",
        _possible(row, way, error * normal_quantile(1.0 - alpha / (2.0 * tests))),
        None if way else _next(row, tests, spread, alpha),
    )


def _possible(row: Slice, way: str | None, reach: float) -> str | None:
    ends = row.difference_interval
    if ends is None:
        return None
    if way:
        if abs(row.difference or 0.0) < reach:
            # The test asks whether the slice could be any of the queries, and spread tells too.
            return (
                "The slice and the others vary very unequally, which alone can make one stand out: "
                f"by their own spreads, {row.metric} need not be {way}."
            )
        least = min(abs(ends.low), abs(ends.high))
        return f"It is {way} by at least {least:.2g} among other such queries, too."
    worst, word = (ends.high, "higher") if row.better == "lower" else (-ends.low, "lower")
    return f"{word} by up to {worst:.2g} is not ruled out.".capitalize() if worst > 0 else None


def _next(row: Slice, tests: int, spread: float, alpha: float) -> str | None:
    """How many more queries of the slice would settle it."""
    if row.standing == "cannot tell":
        level = alpha / tests
        needed = next((n for n in range(row.n, 200) if _could(n, row.rest_n, level)), None)
        if needed is None or needed <= row.n:
            return None
        return f"So few can show nothing: {needed - row.n:,} more of {row.by} {row.value} could."
    if not row.difference:
        return None
    z = normal_quantile(1.0 - alpha / (2.0 * tests))
    room = (row.difference / (z * spread)) ** 2 - 1.0 / row.rest_n if spread else 0.0
    if room <= 0:
        if not spread:
            return None
        times = (z * spread / row.difference) ** 2 * (1.0 / row.n + 1.0 / row.rest_n)
        return f"About {max(times, 1.1):.1f} times as many queries of every slice would settle it."
    more = math.ceil(1.0 / room) - row.n
    if more <= 0:
        return f"A few more of {row.by} {row.value} would settle it."
    return f"About {more:,} more of {row.by} {row.value}, if like these, would settle it."


def _could(n: int, rest: int, level: float) -> bool:
    """Whether so many queries could be shown to differ, were they all lower than the others."""
    return n > 1 and rest > 1 and math.comb(n + rest, n) >= 2.0 / level
