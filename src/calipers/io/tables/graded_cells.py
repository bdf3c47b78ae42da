"""Grades in the cells of a table: in a column of their own, or beside each id in a cell.

The second are cells such as ``{"a": 2, "b": 1}`` and ``[{"id": "a", "grade": 2}]``.
"""

from functools import partial

import polars as pl

from calipers.errors import Unclear, is_command_line
from calipers.io.tables.cells import Splitter, number_in
from calipers.io.tables.columns import GRADES, IGNORE, Pairs
from calipers.io.tables.grades import grades_either_way
from calipers.io.tables.scan import ROW, InputTable
from calipers.names import ROW as USUAL
from calipers.names import plain_name
from calipers.words import first_names

_WITH_GRADES = r"^\s*(\{|\[\s*[\[{(])"
"""The beginning of a cell that may hold ids with a grade each."""


def with_grades_inside(
    frame: pl.DataFrame, splitter: Splitter, table: InputTable
) -> pl.DataFrame | None:
    """One row for each id, with the grade that its cell gives it; None where no cell does."""
    cells = frame["item"]
    if cells.dtype == pl.String and not cells.str.contains(_WITH_GRADES).any():
        return None
    places = [partial(table.where, row) for row in frame[ROW].to_list()]
    graded = [
        splitter.graded(cell, at)
        for cell, at in zip(cells.to_list(), places, strict=True)
    ]
    if not any(graded):
        return None
    entries = [
        [(one, 1.0) for one in splitter.split(cell, at)] if found is None else found
        for cell, found, at in zip(cells.to_list(), graded, places, strict=True)
    ]
    made = frame.with_columns(
        pl.Series("item", [[one for one, _ in some] or [None] for some in entries]),
        pl.Series("grade", [[grade for _, grade in some] or [None] for some in entries]),
    )
    return made.explode("item", "grade")


def check_grades_are_numbers(
    made: pl.Series, column: pl.Series, table: InputTable, called: str
) -> None:
    """Refuse words in a column of grades, with the grades of a known scale."""
    words = [
        cell for cell in made.unique(maintain_order=True).drop_nulls() if cell.strip()
    ]
    unknown = [cell for cell in words if number_in(cell) is None]
    if not unknown:
        return
    row = int((made == unknown[0]).arg_true()[0])
    found = column.drop_nulls().unique(maintain_order=True).head(20)
    lines: list[Pairs] = [((GRADES, grades),) for grades in grades_either_way(found)]
    # The same word everywhere judges nothing, whatever its column is called.
    may_be_tag = len(words) == 1 or plain_name(called) not in USUAL["grade"]
    if called != "grade" and (len(lines) == 1 or may_be_tag):
        lines.append(((IGNORE, called),))
    listed = first_names([*map(repr, unknown[:4])])
    option = "--grades" if is_command_line() else 'columns={"grades": …}'
    raise Unclear(
        f"{called!r} holds {unknown[0]!r:.40} at {table.where(row)}; it must hold a finite number, "
        f"or yes or no, or words that have a number each ({option}): {listed}",
        *lines,
    )
