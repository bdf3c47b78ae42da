"""Find fields of results that may judge them, under names that nobody knows."""

from collections.abc import Iterable, Mapping
from itertools import islice

import polars as pl

from calipers.io.files.probe import Probe
from calipers.io.records.json_files import opened
from calipers.io.tables.columns import GRADES, Pairs
from calipers.io.tables.grades import grades_either_way
from calipers.io.tables.profile import FEW, SOME, Profile
from calipers.model.matched import Role


def may_judge_results(
    probe: Probe, owner: str | None, name: str, role: Role
) -> list[Pairs]:
    """The lines for fields of the results that may be their grades, the likelier first.

    The results of a record stand in its field ``name``.
    """
    if role != "both" or "grade" in probe.columns_said.named:
        return []
    rows = (opened(one) for one in islice(probe.records(owner).items, SOME))
    lists = [row.get(name) for row in rows if isinstance(row, Mapping)]
    columns = [column for column in _fields_of(lists) if column.varies]
    columns.sort(key=lambda column: not column.judges_by_name)
    return [line for column in columns for line in _lines_for(column)]


def _lines_for(column: Profile) -> list[Pairs]:
    """What to say of a field if it may judge results; its words are graded where none is known."""
    if _holds_grades(column):
        return [(("grade", column.name),)]
    if not column.may_tell_apart:
        return []
    ways = grades_either_way(column.cells)
    return [(("grade", column.name), (GRADES, grades)) for grades in ways]


def _fields_of(lists: Iterable[object]) -> list[Profile]:
    """The fields that all results have, each with the number of its list as its query."""
    results = [
        (str(number), result)
        for number, listed in enumerate(lists)
        for result in (listed if isinstance(listed, list) else [])
        if isinstance(result, Mapping)
    ]
    if not results:
        return []
    queries = pl.Series([number for number, _ in results])
    plain = (str, int, float, bool)
    return [
        Profile(name, pl.Series([str(result[name]) for _, result in results]), queries)
        for name in results[0][1]
        if all(isinstance(result.get(name), plain) for _, result in results)
    ]


def _holds_grades(column: Profile) -> bool:
    """Whether a field holds yes and no, or a few steps from 0 on, and no ranks."""
    from_zero = column.is_scale and "0" in column.cells
    if not (column.kind == "judgements" or from_zero) or not column.may_grade:
        return False
    return column.different == 2 or (column.different <= FEW and not column.may_rank)
