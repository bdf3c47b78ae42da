"""How metrics moved from evaluation to evaluation."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from calipers.model.result import HasRows, Plain


@dataclass(frozen=True)
class Point:
    """One evaluation on a line."""

    id: str
    saved: datetime
    commit: str | None
    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Line:
    """One metric over time, over all queries or those with one value of a tag."""

    metric: str
    tag: str | None
    value: str | None
    points: tuple[Point, ...]
    """Oldest first."""


@dataclass(frozen=True)
class Mark:
    """An evaluation before which something changed that makes numbers hard to compare."""

    id: str
    saved: datetime
    what: tuple[str, ...]
    """ground truth, corpus."""


@dataclass(frozen=True, repr=False)
class Trend(Plain, HasRows):
    """The lines of one name, and where they must not be read across."""

    shown_by: ClassVar[str] = "calipers.questions.trend.show"

    name: str
    metrics: tuple[str, ...]
    by: str | None
    evaluations: int
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
