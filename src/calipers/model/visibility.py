"""How small a difference some queries show, and what they may lack by chance."""

from dataclasses import dataclass
from typing import Literal

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
