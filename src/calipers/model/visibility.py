"""How many queries show a difference, and how small a difference some queries show."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.result import Plain, ShowsItself
from calipers.model.scores import SCHEMA

WhyNot = Literal["too few queries", "no spread", "too few moved"]
"""Why nothing can be said of what would be seen. No spread: all differences are equal. Too few
moved: even the largest difference that there can be would often be missed."""


@dataclass(frozen=True)
class Visibility:
    """How small a difference this many queries show (at ``power``, after correction)."""

    n: int
    power: float
    alpha: float
    """The chance of a false finding that one test may take: the whole over the number of tests."""
    fewest: int
    """With fewer queries than this nothing is said of what could be seen."""
    smallest: float | None
    """None where there are too few queries, or where nothing is known of the spread."""
    wanted: float | None
    """A rounder, smaller difference."""
    needed: int | None
    """About how many queries would show that one."""
    why_not: WhyNot | None = None
    """Where ``smallest`` is None."""


@dataclass(frozen=True)
class Unseen:
    """A kind of queries of which the sample may hold none, and which would undo what it shows."""

    share: float
    """Of all queries, at most, with the confidence of the test."""
    change: float
    """How far each of them would have to differ, the other way, for nothing to be left."""


@dataclass(frozen=True, repr=False)
class QueryPlan(Plain, ShowsItself):
    """For so many queries, the difference that is missed no more often than 1 - power."""

    shown_by: ClassVar[str] = "calipers.questions.plan.show"

    queries: int
    """Clusters, where queries are taken in clusters."""
    difference: float
    power: float
    alpha: float
    asked: Literal["queries", "difference"] = "difference"
    """What was looked for: the queries for a difference, or the difference for some queries."""
    metric: str | None = None
    systems: tuple[str, ...] = ()
    pilot: int = 0
    """Pairs that the plan is made from."""
    cluster: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}
