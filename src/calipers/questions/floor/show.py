"""Floors on a terminal, and as CSV."""

from dataclasses import astuple, fields

from rich.console import Console
from rich.table import Table

from calipers.present.terminal import csv_text, print_notes, print_verdict, show_with
from calipers.questions.floor.result import Floor, FloorPoint, HeldOut
from calipers.words import first_results, number

COLUMNS = ("floor", "precision", "recall", "kept", "wrongly answered", "wrongly refused", "results")
WITHOUT = "none"


def headline(found: Floor) -> str:
    """The floor to take, and what it costs, in a sentence."""
    goal = (
        f"keeps {found.least:.3g} of what is found"
        if found.goal == "keep"
        else f"keeps a recall of {found.least:.3g}"
    )
    chosen = found.chosen
    if chosen is None:
        return f"No floor {goal} with {found.confidence:.0%} confidence."
    return (
        f"Return only results with a score of at least {_score(chosen.floor)}: it {goal} in the "
        f"{first_results(found.k)}, with {found.confidence:.0%} confidence."
    )


def lines(found: Floor) -> list[str]:
    """What the floor changes, how it did elsewhere, and what is not known."""
    said = []
    chosen, without = found.chosen, found.without
    if chosen is not None:
        said.append(
            f"Precision {_value(without.precision)} → {_value(chosen.precision)}, "
            f"recall {_value(without.recall)} → {_value(chosen.recall)}, "
            f"wrongly answered {_value(without.wrongly_answered)} → "
            f"{_value(chosen.wrongly_answered)} of {found.unanswerable:,} queries without an "
            f"answer, wrongly refused {_value(without.wrongly_refused)} → "
            f"{_value(chosen.wrongly_refused)} of {found.answerable:,} with one."
        )
    if found.held_out is not None and chosen is not None:
        said.append(_elsewhere(found, found.held_out))
    return [*said, *found.notes]


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
    print_verdict(headline(found), console)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=name == "floor")
    for one in (found.without, *found.points):
        is_chosen = found.chosen is not None and one.floor == found.chosen.floor
        table.add_row(*_cells(one), style="bold green" if is_chosen else None)
    console.print(table)
    print_notes(lines(found), console, explain=explain)


def floor_csv(found: Floor) -> str:
    """One line per floor, full precision."""
    rows = map(astuple, (found.without, *found.points))
    return csv_text([field.name for field in fields(FloorPoint)], rows)


def _cells(one: FloorPoint) -> list[str]:
    values = (
        one.precision,
        one.recall,
        one.kept,
        one.wrongly_answered,
        one.wrongly_refused,
        one.results,
    )
    return [_score(one.floor), *map(_value, values)]


def _score(value: float | None) -> str:
    return WITHOUT if value is None else f"{value:.4g}"


def _value(value: float | None) -> str:
    return "–" if value is None else number(value)


show_with(Floor, print_floor)
