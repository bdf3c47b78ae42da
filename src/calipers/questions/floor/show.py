"""Floors on a terminal, and as CSV."""

from dataclasses import astuple

from rich.console import Console

from calipers.present.notes import Note, print_notes
from calipers.present.terminal import csv_text, open_table, print_claims, show_with
from calipers.questions.floor.result import Floor, FloorPoint, HeldOut
from calipers.words import number

COLUMNS = ("floor", "precision", "recall", "kept", "wrongly answered", "wrongly refused", "results")
WITHOUT = "none"


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


def print_floor(found: Floor, console: Console, *, explain: bool = False) -> None:
    """The floor to take, every floor in a table, and what is known of other queries."""
    print_claims([found.claim], console)
    console.print()
    table = open_table()
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=name == "floor")
    for one in (found.without, *found.points):
        is_safe = found.chosen is not None and one.floor == found.chosen.floor
        is_guess = found.guess is not None and one.floor == found.guess.floor
        style = "bold green" if is_safe else "bold yellow" if is_guess else None
        table.add_row(*_cells(one), style=style)
    console.print(table)
    print_notes(lines(found), console, explain=explain)


def floor_csv(found: Floor) -> str:
    """One line per floor, full precision."""
    return csv_text(map(vars, (found.without, *found.points)))


def _cells(one: FloorPoint) -> list[str]:
    floor, *values = astuple(one)
    return [_score(floor), *map(_value, values)]


def _score(value: float | None) -> str:
    return WITHOUT if value is None else f"{value:.4g}"


def _value(value: float | None) -> str:
    return "–" if value is None else number(value)


show_with(Floor, print_floor, rows=lambda found: (found.without, *found.points))
