"""When to return nothing: what a floor under the scores keeps, and what it costs, as a claim."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.words import number, plural

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

    shown_by: ClassVar[str] = "calipers.questions.floor.document"

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


@dataclass(frozen=True)
class FloorGoal:
    """What is to be kept, and by how many queries it is known."""

    goal: Goal
    least: float
    confidence: float
    n: int

    @property
    def percent(self) -> str:
        """The confidence as it is printed."""
        return f"{100 * self.confidence:g}%"


def floor_claim(
    asked: FloorGoal,
    without: FloorPoint,
    guess: FloorPoint | None,
    keeps: float | None,
    more: int | None,
    safe: FloorPoint | None,
) -> Claim:
    """What the best guess keeps here, what it may keep elsewhere, and what would settle it."""
    here = f"in these {asked.n:,} queries" if asked.n > 1 else "in this one query"
    if guess is None or keeps is None:
        found = "nothing" if without.recall is None else f"a recall of {number(without.recall)}"
        return Claim(
            "failed",
            f"no floor keeps a recall of {asked.least:g} {here}: without any there is {found}; "
            "a floor can only lower it",
        )
    if guess.results == without.results:
        return Claim(
            "no clear difference",
            f"every floor that takes anything away {_loses(asked, without)} {here}",
            None,
            f"Ask for less than {asked.least:g}, or return everything: nothing is lost then.",
        )
    seen = f"floor {guess.floor:.4g} {_kept(asked, guess)} {here}{_gained(without, guess)}"
    least = "Recall could be as low as" if asked.goal == "recall" else "It could keep as little as"
    possible = f"{least} {_share(asked, keeps)} ({asked.percent})."
    if not _helps(without, guess):
        nothing = "It refuses no query that has no answer: such a floor costs and does not help."
        return Claim("no clear difference", seen, possible, nothing)
    if safe is not None and safe.floor == guess.floor:
        least = "Recall is" if asked.goal == "recall" else "It keeps"
        said = f"{least} at least {_share(asked, keeps)} on new queries ({asked.percent})."
        return Claim("passed", seen, said)
    settled = f"{asked.least:g} is too near for more queries like these to settle"
    if more is not None:
        settled = f"About {plural(more, 'more query', 'more queries')} would settle {asked.least:g}"
    # What has no answer is answered then: to return everything is safe for recall only.
    until = "only returning everything loses nothing"
    if safe is not None:
        until = f"floor {safe.floor:.4g} is safe"
    return Claim(
        "no clear difference",
        f"{seen}; that may not hold on new queries",
        possible,
        f"{settled}; until then {until}.",
    )


def _kept(asked: FloorGoal, guess: FloorPoint) -> str:
    if asked.goal == "recall":
        return f"has a recall of {number(guess.recall or 0.0)}"
    lost = 1.0 - (guess.kept or 0.0)
    return f"loses {number(lost)} of what is found" if lost > 1e-12 else "keeps all that is found"


def _loses(asked: FloorGoal, without: FloorPoint) -> str:
    """More than half of what may be lost."""
    if asked.goal == "recall":
        return f"has a recall below {number(0.5 * (asked.least + (without.recall or 0.0)))}"
    return f"loses more than {number(0.5 * (1.0 - asked.least))} of what is found"


def _share(asked: FloorGoal, value: float) -> str:
    return f"{number(value)}{'' if asked.goal == 'recall' else ' of what is found'}"


def _helps(without: FloorPoint, guess: FloorPoint) -> bool:
    """Where no query lacks an answer it is not known what a floor is for."""
    before, after = without.wrongly_answered, guess.wrongly_answered
    return before is None or after is None or after < before


def _gained(without: FloorPoint, guess: FloorPoint) -> str:
    """What the floor is for: questions without an answer that are no longer answered."""
    before, after = without.wrongly_answered, guess.wrongly_answered
    if before is None or after is None:
        return ""
    return f"; {after:.0%} of those without an answer are answered, {before:.0%} without it"
