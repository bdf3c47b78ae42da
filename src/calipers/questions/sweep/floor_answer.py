"""When to return nothing: what a floor under the scores keeps, and what it costs."""

from dataclasses import astuple, dataclass
from typing import ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.document import Cell, Cells, Column, Document, Note, Table, of_claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.words import number, plural

Goal = Literal["keep", "recall"]


@dataclass(frozen=True)
class FloorGoal:
    """What must be kept, and with what confidence."""

    goal: Goal
    least: float
    confidence: float


@dataclass(frozen=True)
class FloorPoint:
    """What happens when only results with a score of at least ``floor`` are returned."""

    floor: float | None
    """None: no floor, everything is returned."""
    precision: float | None
    """The share of returned results, over all queries, that contain a target."""
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
    """Cross-validation: floors measured on queries that had no part in choosing them."""

    folds: int
    floors: tuple[float | None, ...]
    """For each fold, the floor chosen on the others; None if no floor passed."""
    point: FloorPoint
    """The measures over all queries, each under the floor of its fold; ``floor`` is None."""
    interval: Interval | None
    """The interval of ``kept`` or ``recall``, whichever is the goal."""


@dataclass(frozen=True, repr=False)
class Floor(Plain, HasRows):
    """The best guess, the safe floor, and the measures at other floors."""

    shown_by: ClassVar[str] = "calipers.questions.sweep.floor_answer"

    k: int
    goal: Goal
    least: float
    """The goal: the share of what is found to keep, or the recall to reach."""
    confidence: float
    answerable: int
    unanswerable: int
    without: FloorPoint
    guess: FloorPoint | None
    """The highest floor that loses at most half of the allowed loss here, or is safe."""
    guess_keeps: float | None
    """The lower confidence bound of what the guess keeps on queries like these."""
    more: int | None
    """About how many more queries would make the guess safe; None where it is or never would."""
    chosen: FloorPoint | None
    """The safe floor: the highest that passed the test; None: return everything."""
    claim: Claim
    points: tuple[FloorPoint, ...]
    held_out: HeldOut | None
    notes: tuple[str, ...]


def floor_claim(found: Floor, n: int) -> Claim:
    """What the best guess keeps in ``n`` queries, its bound on new ones, and what would settle it.

    ``found`` is a result without a claim.
    """
    without, guess, keeps, safe = found.without, found.guess, found.guess_keeps, found.chosen
    here = f"in these {n:,} queries" if n > 1 else "in this one query"
    if guess is None or keeps is None:
        there = "nothing" if without.recall is None else f"a recall of {number(without.recall)}"
        return Claim(
            "failed",
            f"no floor keeps a recall of {found.least:g} {here}: without any there is {there}; "
            "a floor can only lower it",
        )
    if guess.results == without.results:
        return Claim(
            "no clear difference",
            f"every floor that takes anything away {_loses(found, without)} {here}",
            None,
            f"Ask for less than {found.least:g}, or return everything: nothing is lost then.",
        )
    percent = f"({100 * found.confidence:g}%)"
    fact = f"floor {guess.floor:.4g} {_kept(found, guess)} {here}{_gained(without, guess)}"
    least = "Recall could be as low as" if found.goal == "recall" else "It could keep as little as"
    possible = f"{least} {_share(found, keeps)} {percent}."
    if not _helps(without, guess):
        nothing = "It refuses no query that has no answer: such a floor costs and does not help."
        return Claim("no clear difference", fact, possible, nothing)
    if safe is not None and safe.floor == guess.floor:
        least = "Recall is" if found.goal == "recall" else "It keeps"
        bound = f"{least} at least {_share(found, keeps)} on new queries {percent}."
        return Claim("passed", fact, bound)
    settled = f"{found.least:g} is too near for more queries like these to settle"
    if found.more is not None:
        more = plural(found.more, "more query", "more queries")
        settled = f"About {more} would settle {found.least:g}"
    # Returning everything is safe for recall only: queries without an answer get one, too.
    until = "only returning everything loses nothing"
    if safe is not None:
        until = f"floor {safe.floor:.4g} is safe"
    return Claim(
        "no clear difference",
        f"{fact}; that may not hold on new queries",
        possible,
        f"{settled}; until then {until}.",
    )


def _kept(found: Floor, guess: FloorPoint) -> str:
    if found.goal == "recall":
        return f"has a recall of {number(guess.recall or 0.0)}"
    lost = 1.0 - (guess.kept or 0.0)
    return f"loses {number(lost)} of what is found" if lost > 1e-12 else "keeps all that is found"


def _loses(found: Floor, without: FloorPoint) -> str:
    """The loss in words where it is more than half of what is allowed."""
    if found.goal == "recall":
        return f"has a recall below {number(0.5 * (found.least + (without.recall or 0.0)))}"
    return f"loses more than {number(0.5 * (1.0 - found.least))} of what is found"


def _share(found: Floor, value: float) -> str:
    return f"{number(value)}{'' if found.goal == 'recall' else ' of what is found'}"


def _helps(without: FloorPoint, guess: FloorPoint) -> bool:
    """Whether the floor refuses more queries without an answer; True if there are none to count."""
    before, after = without.wrongly_answered, guess.wrongly_answered
    return before is None or after is None or after < before


def _gained(without: FloorPoint, guess: FloorPoint) -> str:
    """The gain in words: queries without an answer that no longer get one."""
    before, after = without.wrongly_answered, guess.wrongly_answered
    if before is None or after is None:
        return ""
    return f"; {after:.0%} of those without an answer are answered, {before:.0%} without it"


COLUMNS = ("floor", "precision", "recall", "kept", "wrongly answered", "wrongly refused", "results")
WITHOUT = "none"


def document(found: Floor) -> Document:
    """The floor to use, a table of floors, and the result on held-out queries."""
    chosen = (found.chosen and found.chosen.floor, found.guess and found.guess.floor)
    rows: list[Cells] = []
    for one in (found.without, *found.points):
        taken = one.floor is not None and one.floor in chosen
        floor, *values = _cells(one)
        rows.append((Cell(floor, strong=taken), *values))
    heads = [Column(one, spare=one in ("kept", "results")) for one in COLUMNS]
    return of_claim(
        found.claim,
        *lines(found),
        blocks=[Table(heads, rows)],
        rows=lambda: (found.without, *found.points),
    )


def lines(found: Floor) -> list[Note]:
    """What the floor changes, its result on held-out queries, and what is uncertain."""
    notes = []
    chosen, without = found.chosen or found.guess, found.without
    if chosen is not None:
        notes.append(
            Note(
                "counted",
                f"Floor {_score(chosen.floor)}: "
                f"precision {_value(without.precision)} → {_value(chosen.precision)}, "
                f"recall {_value(without.recall)} → {_value(chosen.recall)}, "
                f"wrongly answered {_value(without.wrongly_answered)} → "
                f"{_value(chosen.wrongly_answered)} of {found.unanswerable:,} queries without an "
                f"answer, wrongly refused {_value(without.wrongly_refused)} → "
                f"{_value(chosen.wrongly_refused)} of {found.answerable:,} with one.",
            )
        )
    if found.held_out is not None and found.chosen is not None:
        notes.append(Note("counted", _on_held_out(found, found.held_out)))
    return [*notes, *(Note("doubt", one) for one in found.notes)]


def _on_held_out(found: Floor, held: HeldOut) -> str:
    floors = sorted(one for one in held.floors if one is not None)
    spread = f"{_score(floors[0])} to {_score(floors[-1])}" if floors else WITHOUT
    value = held.point.kept if found.goal == "keep" else held.point.recall
    interval = held.interval
    about = f" ({number(interval.low)}–{number(interval.high)})" if interval else ""
    return (
        f"On queries that had no part in choosing it ({held.folds} folds, floors {spread}): "
        f"{'kept' if found.goal == 'keep' else 'recall'} {_value(value)}{about}, wrongly answered "
        f"{_value(held.point.wrongly_answered)}, wrongly refused "
        f"{_value(held.point.wrongly_refused)}."
    )


def _cells(one: FloorPoint) -> list[str]:
    floor, *values = astuple(one)
    return [_score(floor), *map(_value, values)]


def _score(value: float | None) -> str:
    return WITHOUT if value is None else f"{value:.4g}"


def _value(value: float | None) -> str:
    return "–" if value is None else number(value)
