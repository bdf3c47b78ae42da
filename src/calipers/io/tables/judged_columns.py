"""Read numbered results beside numbered judgements: ``result_1, relevant_1, result_2, …``.

Such a table has a row for each question. It is turned into one with a row for each result, which
has the number as its rank and the judgement as its grade.
"""

from collections.abc import Sequence

import polars as pl

from calipers.errors import Unclear
from calipers.frozen import dataclass
from calipers.io.tables.columns import IGNORE
from calipers.io.tables.profile import FEW, SOME, Profile, score_in_order
from calipers.io.tables.scan import JUDGED_ROW, InputTable, explained, range_of
from calipers.io.tables.usual_names import numbered_groups, renaming
from calipers.names import says_expected


@dataclass(frozen=True)
class Judged:
    """The columns of the results, of their judgements, and of their scores, in order."""

    results: list[str]
    judgements: list[str]
    scores: list[str]


def judged_columns(frame: pl.DataFrame, *, by_name: bool = True) -> Judged | None:
    """The results and judgements of a sample, if it has as many columns of each; else None.

    Not ``by_name``, zeros or words of judgement are enough, whatever their columns are called.
    """
    groups = [*numbered_groups(frame.columns).values()]
    if len(groups) < 2 or len({*map(len, groups)}) > 1:
        return None
    named = {name for group in groups for name in group}
    if any(says_expected(name) for name in frame.columns if name not in named):
        return None
    cells = [_cells_of(frame, group) for group in groups]
    judges = _judges if by_name else _may_judge
    judging = [n for n, one in enumerate(cells) if judges(one)]
    rest = [n for n in range(len(groups)) if n not in judging]
    ordered = [n for n in rest if score_in_order(frame, groups[n])]
    results = [n for n in rest if n not in ordered and cells[n].kind not in _NO_IDS]
    if not len(judging) == len(results) == 1 or len(rest) > len(ordered) + 1:
        return None
    scores = [name for n in ordered for name in groups[n]]
    return Judged(groups[results[0]], groups[judging[0]], scores)


_NO_IDS = ("nothing", "judgements", "dates", "objects", "lists")


def _cells_of(frame: pl.DataFrame, group: Sequence[str]) -> Profile:
    """The profile of several columns together, under the name of the first."""
    texts = [frame[name].cast(pl.String, strict=False).alias("cell") for name in group]
    return Profile(group[0], pl.concat(texts))


def _judges(column: Profile) -> bool:
    """Whether columns hold grades, and their names say so."""
    return column.judges_by_name and column.holds_grades and column.different <= FEW


def _may_judge(column: Profile) -> bool:
    """Whether columns hold zeros among few numbers, or words of judgement."""
    is_scale = column.is_scale and "0" in column.cells
    return (column.kind == "judgements" or is_scale) and column.different <= FEW


def judged_as_rows(table: InputTable) -> InputTable:
    """The table with a row for each result and its judgement; unchanged if it is another."""
    found = table.names()
    groups = numbered_groups(found)
    lengths = [*map(len, groups.values())]
    if len(lengths) < 2 or len({*lengths}) > 1 or {*JUDGED_ROW} & {*found}:
        return table
    names = renaming(found)
    known = [one for one in names if names[one] in ("item", "retrieved")]
    numbered = {name for group in groups.values() for name in group}
    if numbered.intersection(known) or {"item", "retrieved"} & table.said.named.keys():
        return table
    with explained(table.name, table.fault):
        sample = table.rows(pl.all(), most=SOME)
        if any(kind.is_nested() for kind in sample.schema.values()):
            return table
        judged = judged_columns(sample)
        if judged is None:
            return table
        if known:
            raise _beside_further_ids(table, known[0], judged)
        return table.with_row_for_each(judged.results, judged.judgements, judged.scores)


def _beside_further_ids(table: InputTable, known: str, judged: Judged) -> Unclear:
    """The error for results with judgements beside another column of ids."""
    found = table.names()
    results = named_together(judged.results, found)
    left = tuple((IGNORE, one) for one in _apart(judged, found))
    return Unclear(
        f"{known!r} of {table.name} may hold ids that should be found, beside judged results in "
        f"{range_of(judged.results)}",
        ((IGNORE, known),),
        (("item", known), ("retrieved", results), *left),
    )


def _apart(judged: Judged, found: Sequence[str]) -> list[str]:
    """The columns of judgements, and those of scores, each as they are named together."""
    groups = (judged.judgements, judged.scores)
    return [named_together(group, found) for group in groups if group]


def named_together(group: Sequence[str], found: Sequence[str]) -> str:
    """How several columns are named in a mapping: by what they begin with, where that is enough.

    >>> named_together(["rel_1", "rel_2"], ["q", "rel_1", "rel_2"])
    'rel_*'
    >>> named_together(["rel_1", "rel_2"], ["q", "rel_1", "rel_2", "rel_by"])
    'rel_1,rel_2'
    """
    begin = group[0].rstrip("0123456789")
    if len(begin) > 1 and [name for name in found if name.startswith(begin)] == [*group]:
        return f"{begin}*"
    return ",".join(group)
