"""When to return nothing: what a floor under the scores keeps, and what it costs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval

Goal = Literal["keep", "recall"]


@dataclass(frozen=True)
class FloorPoint:
    """What happens when only results with a score of at least ``floor`` are returned."""

    floor: float | None
    """None: no floor, everything is returned."""
    precision: float | None
    """The share of the results returned, over all queries, that hold a target."""
    recall: float | None
    """The mean recall of the queries that have an answer."""
    kept: float | None
    """The share of what is found without a floor that is still found; mean over queries."""
    wrongly_answered: float | None
    """The share of queries without an answer for which something is returned."""
    wrongly_refused: float | None
    """The share of queries with an answer for which nothing is returned."""
    results: float
    """Results returned per query."""


@dataclass(frozen=True)
class HeldOut:
    """How floors did on queries that had no part in choosing them, over all folds."""

    folds: int
    floors: tuple[float | None, ...]
    """The floor that the other folds chose; None where they could promise none."""
    point: FloorPoint
    """The values over all queries, each under the floor of its fold; ``floor`` is None."""
    interval: Interval | None
    """The interval of ``kept`` or of ``recall``, whichever was to be promised."""


@dataclass(frozen=True, repr=False)
class Floor(Plain, HasRows):
    """The floor that may keep what was asked for, the one that does, and all others beside."""

    shown_by: ClassVar[str] = "calipers.questions.floor.show"

    k: int
    goal: Goal
    least: float
    """What was asked for: the share of what is found to keep, or the recall to reach."""
    confidence: float
    answerable: int
    unanswerable: int
    without: FloorPoint
    guess: FloorPoint | None
    """The highest floor that loses at most half of what may be lost here, or is safe."""
    guess_keeps: float | None
    """With the confidence asked for, the guess keeps at least this over all such queries."""
    more: int | None
    """About how many more queries would make the guess safe; None where it is or never would."""
    chosen: FloorPoint | None
    """The safe floor, the highest shown to keep what was asked for; None: return everything."""
    claim: Claim
    points: tuple[FloorPoint, ...]
    held_out: HeldOut | None
    notes: tuple[str, ...]
