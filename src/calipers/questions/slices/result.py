"""The same scores, cut by what is known of the queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval

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

    shown_by: ClassVar[str] = "calipers.questions.slices.show"
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
