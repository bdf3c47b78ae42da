"""One number for many queries, with how far it can be trusted."""

from dataclasses import dataclass
from typing import Literal

Method = Literal["score", "t", "paired", "jackknife", "wilson", "bootstrap", "normal"]
"""How an interval was made: of a mean between bounds, of a mean without bounds, of paired
differences, of agreement, of a share. The last two stand in results of earlier versions."""


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
    interval: Interval | None
    n: int
    undefined: int
