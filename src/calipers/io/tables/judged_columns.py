"""Read numbered results beside numbered judgements: ``result_1, relevant_1, result_2, …``.

Such a table has a row for each question. It is turned into one with a row for each result, which
has the number as its rank and the judgement as its grade.
"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from calipers.frozen import dataclass
from calipers.io.tables.profile import FEW, SOME, Profile, score_in_order
from calipers.io.tables.scan import InputTable, cell_texts, explained, range_of
from calipers.io.tables.usual_names import numbered_groups, renaming
from calipers.names import says_expected

_ITEM = "chunk_id"
_RANK = "rank"
_GRADE = "grade"
"""Names by which the columns are recognised."""


@dataclass(frozen=True)
class Judged:
    """The columns of the results, of their judgements, and of their scores, in order."""

    results: list[str]
    judgements: list[str]
    scores: list[str]


def judged_columns(frame: pl.DataFrame) -> Judged | None:
    """The results and judgements of a sample, if it has as many columns of each; else None."""
    groups = [*numbered_groups(frame.columns).values()]
    if len(groups) < 2 or len({*map(len, groups)}) > 1:
        return None
    named = {name for group in groups for name in group}
    if any(says_expected(name) for name in frame.columns if name not in named):
        return None
    cells = [_cells_of(frame, group) for group in groups]
    judging = [n for n, one in enumerate(cells) if _judges(one)]
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


def judged_as_rows(table: InputTable) -> InputTable:
    """The table with a row for each result and its judgement; unchanged if it is another."""
    found = table.names()
    lengths = [*map(len, numbered_groups(found).values())]
    if len(lengths) < 2 or len({*lengths}) > 1 or {_ITEM, _RANK, _GRADE} & {*found}:
        return table
    if {"item", "retrieved"} & {*renaming(found).values()}:
        return table
    with explained(table.name, table.fault):
        sample = table.rows(pl.all(), most=SOME)
        if any(kind.is_nested() for kind in sample.schema.values()):
            return table
        judged = judged_columns(sample)
        return table if judged is None else _as_rows(table, found, judged)


def _as_rows(table: InputTable, found: Sequence[str], judged: Judged) -> InputTable:
    """The table with a row for each result that is not blank, in the order of the numbers."""
    used = {*judged.results, *judged.judgements, *judged.scores}
    kept = [name for name in found if name not in used]
    whole = table.rows(pl.all()).with_row_index("__place")
    pairs = zip(judged.results, judged.judgements, strict=True)
    parts = [
        whole.select(
            "__place",
            *kept,
            cell_texts(result).alias(_ITEM),
            pl.lit(rank).alias(_RANK),
            pl.col(judgement).cast(pl.String).alias(_GRADE),
        )
        for rank, (result, judgement) in enumerate(pairs, 1)
    ]
    rows = pl.concat(parts).drop_nulls(_ITEM).sort("__place", _RANK)
    places = rows["__place"].to_list()
    frame = rows.drop("__place")
    return replace(
        table,
        open=frame.lazy,
        pieces=None,
        where=lambda row: table.where(places[row]),
        columns=frozenset(frame.columns),
        listed=tuple(frame.columns),
        shown={
            **table.shown,
            _ITEM: range_of(judged.results),
            _GRADE: range_of(judged.judgements),
        },
        inferred=True,
    )
