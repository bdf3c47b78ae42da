"""How sure a mean over so many queries can be."""

from dataclasses import dataclass
from typing import Any

from calipers.checks import catalogue
from calipers.model.health import HealthFinding
from calipers.model.summary import Interval
from calipers.words import plural

WIDEST = 0.1
"""The distance from the mean to the farther end of its interval that is still of use."""


@dataclass(frozen=True)
class Width:
    """The interval to expect of a mean over the queries of a ground truth."""

    queries: int
    metric: str
    mean: float | None
    interval: Interval | None
    """None with fewer than two queries."""
    measured: bool
    """From a run; else the widest that a share of queries can have."""
    needed: int | None = None
    """Queries that bring the distance down to ``WIDEST``."""

    @property
    def margin(self) -> float:
        """The distance from the mean to the farther end; 1 where nothing can be said."""
        if self.interval is None or self.mean is None:
            return 1.0
        return max(self.interval.high - self.mean, self.mean - self.interval.low)

    def sentence(self) -> str:
        """What to expect, in words."""
        if self.interval is None or self.mean is None:
            count = plural(self.queries, "query", "queries")
            return f"{count} with a target: an interval takes at least two."
        ends = f"{self.interval.low:.3f}–{self.interval.high:.3f}"
        if self.measured:
            words = f"{self.metric} of the given results is {self.mean:.3f}, with a"
        else:
            count = plural(self.queries, "query", "queries")
            words = f"Over {count} a hit rate of {self.mean:.2f} would have a"
        needed = f" About {self.needed:,} queries bring it to ±{WIDEST:g}." if self.needed else ""
        return f"{words} {self.interval.level:.0%} interval of {ends} (±{self.margin:.3f}).{needed}"

    def finding(self) -> HealthFinding:
        """Too few queries, if the interval is too wide."""
        return HealthFinding.of_kind(
            catalogue.TOO_FEW_QUERIES,
            count=self.queries if self.margin > WIDEST else 0,
            detail=self.sentence(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The interval as plain data."""
        return {
            "queries": self.queries,
            "metric": self.metric,
            "measured": self.measured,
            "mean": self.mean,
            "low": self.interval.low if self.interval else None,
            "high": self.interval.high if self.interval else None,
            "level": self.interval.level if self.interval else None,
            "margin": self.margin,
            "needed": self.needed,
        }
