"""Score floors as a document: the floor to take, and what each floor keeps and refuses."""

from dataclasses import astuple

from calipers.model.document import Cell, Cells, Column, Document, Note, Table, of_claim
from calipers.questions.floor.result import Floor, FloorPoint, HeldOut
from calipers.words import number

COLUMNS = ("floor", "precision", "recall", "kept", "wrongly answered", "wrongly refused", "results")
WITHOUT = "none"


def document(found: Floor) -> Document:
    """The floor to take, every floor in a table, and how it did on other queries."""
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
    """What the floor changes, how it did elsewhere, and what is not known."""
    said = []
    chosen, without = found.chosen or found.guess, found.without
    if chosen is not None:
        said.append(
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
        said.append(Note("counted", _elsewhere(found, found.held_out)))
    return [*said, *(Note("doubt", one) for one in found.notes)]


def _elsewhere(found: Floor, held: HeldOut) -> str:
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
