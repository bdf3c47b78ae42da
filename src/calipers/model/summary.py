"""One number for many queries, with how far it can be trusted."""

from dataclasses import dataclass
from typing import Any, Literal

from calipers.model.when_asked import WhenAsked

Method = Literal["bootstrap", "normal", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean over all such queries plausibly lies, at a level such as 0.95."""

    low: float
    high: float
    level: float
    method: Method


@dataclass(frozen=True)
class Summary:
    """One metric over all queries for which it is defined."""

    metric: str
    mean: float | None
    median: float | None
    interval: WhenAsked[Interval | None] = WhenAsked()
    # The checker takes the descriptor for a default, which it is not.
    n: int  # type: ignore[misc]
    undefined: int  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        # What is kept or sent elsewhere is the interval, not how to make it.
        known = (self.metric, self.mean, self.median, self.interval, self.n, self.undefined)
        return type(self), known
