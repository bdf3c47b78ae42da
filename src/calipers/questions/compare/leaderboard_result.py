"""Several systems by one metric, best first."""

from dataclasses import dataclass

from calipers.model.summary import Interval


@dataclass(frozen=True)
class Ranked:
    """One system on a leaderboard."""

    system: str
    mean: float
    interval: Interval | None
    groups: tuple[int, ...]
    """The groups it belongs to, counted from 1; systems that share one cannot be told apart."""
    tokens: float | None = None
    """Tokens per query in the results that the metric looks at; None where texts are unknown."""
    at_budget: float | None = None
    """Recall within the budget of tokens."""


@dataclass(frozen=True)
class Leaderboard:
    """All systems by the primary metric, best first; all pairs tested, corrected for their number.

    Systems that share a group were not shown to differ.
    """

    metric: str
    n: int
    """Queries that all systems have."""
    rows: tuple[Ranked, ...]
    budget: int | None = None
    """Tokens per query that ``at_budget`` allows every system."""
