"""One number for many queries, with how far it can be trusted."""

from dataclasses import dataclass

from calipers.model.interval import Interval


@dataclass(frozen=True)
class Summary:
    """One metric over all queries for which it is defined."""

    metric: str
    mean: float | None
    median: float | None
    interval: Interval | None
    n: int
    undefined: int
