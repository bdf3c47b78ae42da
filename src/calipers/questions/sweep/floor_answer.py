"""When to return nothing: what a floor under the scores keeps, and what it costs."""

from collections.abc import Iterator
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
    by_recall, recall = found.goal == "recall", without.recall or 0.0
    here = f"in these {n:,} queries" if n > 1 else "in this one query"
    if guess is None or keeps is None:
        there = "nothing" if without.recall is None else f"a recall of {number(without.recall)}"
        return Claim(
            "failed",
            f"no floor keeps a recall of {found.least:g} {here}: without any there is {there}; "
            "a floor can only lower it",
        )
    if guess.results == without.results:
        # More than half of what is allowed is lost.
        loses = f"loses more than {number(0.5 * (1.0 - found.least))} of what is found"
        if by_recall:
            loses = f"has a recall below {number(0.5 * (found.least + recall))}"
        return Claim(
            "no clear difference",
            f"every floor that takes anything away {loses} {here}",
            None,
            f"Ask for less than {found.least:g}, or return everything: nothing is lost then.",
        )
    lost = 1.0 - (guess.kept or 0.0)
    kept = f"loses {number(lost)} of what is found" if lost > 1e-12 else "keeps all that is found"
    kept = f"has a recall of {number(guess.recall or 0.0)}" if by_recall else kept
    fact = f"floor {guess.floor:.4g} {kept} {here}"
    before, after = without.wrongly_answered, guess.wrongly_answered
    if before is not None and after is not None:
        fact += f"; {after:.0%} of those without an answer are answered, {before:.0%} without it"
    bound = f"{number(keeps)}{'' if by_recall else ' of what is found'}"
    percent = f"({100 * found.confidence:g}%)"
    least = "Recall could be as low as" if by_recall else "It could keep as little as"
    possible = f"{least} {bound} {percent}."
    if before is not None and after is not None and after >= before:
        nothing = "It refuses no query that has no answer: such a floor costs and does not help."
        return Claim("no clear difference", fact, possible, nothing)
    if safe is not None and safe.floor == guess.floor:
        sure = "Recall is" if by_recall else "It keeps"
        return Claim("passed", fact, f"{sure} at least {bound} on new queries {percent}.")
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


COLUMNS = ("floor", "precision", "recall", "kept", "wrongly answered", "wrongly refused", "results")
WITHOUT = "none"


def document(found: Floor) -> Document:
    """The floor to use, a table of floors, and the result on held-out queries."""
    chosen = (found.chosen and found.chosen.floor, found.guess and found.guess.floor)
    rows: list[Cells] = []
    for one in (found.without, *found.points):
        floor, *values = astuple(one)
        taken = floor is not None and floor in chosen
        rows.append((Cell(_score(floor), strong=taken), *map(_value, values)))
    heads = [Column(one, spare=one in ("kept", "results")) for one in COLUMNS]
    return of_claim(
        found.claim,
        *_lines(found),
        blocks=[Table(heads, rows)],
        rows=lambda: (found.without, *found.points),
    )


def _lines(found: Floor) -> Iterator[Note]:
    """What the floor changes, its result on held-out queries, and what is uncertain."""
    chosen, without, held = found.chosen or found.guess, found.without, found.held_out
    if chosen is not None:
        of = {
            "precision": "",
            "recall": "",
            "wrongly_answered": f" of {found.unanswerable:,} queries without an answer",
            "wrongly_refused": f" of {found.answerable:,} with one",
        }
        moved = (
            f"{name.replace('_', ' ')} {_value(getattr(without, name))} → "
            f"{_value(getattr(chosen, name))}{said}"
            for name, said in of.items()
        )
        yield Note("counted", f"Floor {_score(chosen.floor)}: {', '.join(moved)}.")
    if held is not None and found.chosen is not None:
        floors = sorted(one for one in held.floors if one is not None)
        spread = f"{_score(floors[0])} to {_score(floors[-1])}" if floors else WITHOUT
        name = "kept" if found.goal == "keep" else "recall"
        ends = held.interval
        about = f" ({number(ends.low)}–{number(ends.high)})" if ends else ""
        yield Note(
            "counted",
            f"On queries that had no part in choosing it ({held.folds} folds, floors {spread}): "
            f"{name} {_value(getattr(held.point, name))}{about}, wrongly answered "
            f"{_value(held.point.wrongly_answered)}, wrongly refused "
            f"{_value(held.point.wrongly_refused)}.",
        )
    yield from (Note("doubt", one) for one in found.notes)


def _score(value: float | None) -> str:
    return WITHOUT if value is None else f"{value:.4g}"


def _value(value: float | None) -> str:
    return "–" if value is None else number(value)
