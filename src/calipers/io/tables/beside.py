"""Read tables with one result in each row and beside it what should be found.

In ``question, expected_doc, doc_id, rank`` the expected id is the same in all rows of a question,
and the results differ. Such a table is taken apart: one table with the targets of each question,
one with the results.
"""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from calipers.frozen import dataclass
from calipers.io.tables.columns import TAG
from calipers.io.tables.grades import as_numbers
from calipers.io.tables.profile import SOME, Kind, Profile, Profiles
from calipers.io.tables.scan import InputTable, cell_texts, explained
from calipers.io.tables.usual_names import IGNORED, renaming, says_wanted
from calipers.names import (
    ANSWER_WORDS,
    HARMLESS,
    NO_GRADES,
    ORDERING,
    ROW_ID,
    WANTED_WORDS,
)

_EXPECTED = WANTED_WORDS | {"target", "targets", "positive", "should", "wanted"}
_NO_IDS = (NO_GRADES | HARMLESS | ORDERING | ANSWER_WORDS) - {
    *("id", "ids", "nr", "no", "number", "nummer", "numero", "url", "link", "source"),
    *("file", "filename", "path", "passage", "section", "page", "title", "name", "text"),
}
"""Words of names that hold no target, whatever else they say: ``expected_answer``."""
_RESULTS = ("item", "retrieved", "text", "document")
"""Fields of a result, the most certain first."""


@dataclass(frozen=True)
class TakenApart:
    """The targets and the results of a table, as a table each."""

    targets: InputTable
    results: InputTable
    note: str
    """Which column holds the targets."""


def targets_beside_results(table: InputTable) -> TakenApart | None:
    """The table taken apart; None if it has no column of targets beside one of results."""
    found = table.names()
    names = renaming(found)
    ours = {meaning: theirs for theirs, meaning in names.items()}
    if "query" not in ours:
        return None
    if not any(_may_be_expected(name, names) for name in found):
        return None
    with explained(table.name, table.fault):
        pair = _columns(table, names, ours)
        if pair is None:
            return None
        expected, result = pair
        if _is_one_each(expected, _asked_first(table, ours)):
            several = None
        else:
            several = _filled_once(table, ours["query"], result)
            if several is None:
                return None
        graded = ours.get("grade") not in (None, expected.name)
        if graded and not _repeats(table, expected, result, ours["grade"]):
            return None
        asked = [theirs for theirs, field in names.items() if field.startswith("query")]
        asked += [
            one for one in found if one.strip().lower() in ROW_ID and one not in names
        ]
        rows = _first_rows(table, ours["query"], expected, several=several is not None)
        if rows is None:
            return None
    return TakenApart(
        _targets(table, [*asked, *_tags(found)], expected, rows),
        _results(
            table if several is None else _only(table, several, ours["query"]),
            names,
            (expected.name, ours.get("grade")),
            _called(pair, table, ours),
        ),
        f"target ← {expected.name.strip()}, which stands beside each result.",
    )


def _tags(found: list[str]) -> list[str]:
    """The columns that hold tags of the queries."""
    return [name for name in found if name.startswith(TAG)]


def _may_be_expected(name: str, names: Mapping[str, str]) -> bool:
    """Whether a column's name says that it holds targets, or the user says so."""
    if name.endswith(IGNORED) or name.startswith("__"):
        return False
    if names.get(name) == "item" and "retrieved" in names.values():
        return True
    if names.get(name) not in (None, "item", "document", "quote"):
        # Beside ids it is taken for a grade, which its cells may contradict.
        return names.get(name) == "grade" and says_wanted(name)
    if names.get(name) == "quote":
        return True
    words = Profile(name, pl.Series([""])).words
    return says_wanted(name) or bool(words & _EXPECTED and not words & _NO_IDS)


def _columns(
    table: InputTable, names: Mapping[str, str], ours: Mapping[str, str]
) -> tuple[Profile, Profile] | None:
    """The column of targets and the column of results; None if that is not certain."""
    sample = table.rows(pl.all(), most=SOME)
    profiles = Profiles(sample, ours["query"])
    wanted = [profiles[name] for name in profiles if _may_be_expected(name, names)]
    wanted = [
        one
        for one in wanted
        if _is_one_each(one, profiles[ours["query"]])
        if names.get(one.name) != "grade" or not one.holds_grades
    ]
    if not wanted and "retrieved" in table.said.named:
        # Two lists side by side: the user says which is which.
        wanted = [
            profiles[name]
            for name in profiles
            if _may_be_expected(name, names) and profiles[name].changes
            if profiles[name].kind in _IDS and names.get(name) != "grade"
        ]
    certain = [one for one in wanted if says_wanted(one.name)]
    wanted = certain if len(certain) == 1 else wanted
    if len(wanted) != 1:
        return None
    expected = wanted[0]
    # Without a rank, two cells called "retrieved_ids" may be two lists of results.
    is_ranked = bool({"rank", "score"} & ours.keys() or "retrieved" in table.said.named)
    fields = [field for field in _RESULTS if field != "retrieved" or is_ranked]
    by_name = [ours[field] for field in fields if field in ours]
    named = [profiles[name] for name in by_name if name != expected.name]
    returned = [one for one in named if one.kind != "lists" and one.varies]
    if not returned:
        others = [profiles[name] for name in profiles if name not in names]
        returned = [
            one
            for one in others
            if one is not expected and one.varies and one.kind in _ALIKE[expected.kind]
            if one.ids & expected.ids and not one.name.endswith(IGNORED)
        ]
        returned = returned if len(returned) == 1 else []
    return (expected, returned[0]) if returned else None


_IDS: tuple[Kind, ...] = ("words", "places", "numbers")
_ALIKE: dict[Kind, tuple[Kind, ...]] = {
    "texts": ("texts",),
    "words": _IDS,
    "places": _IDS,
    "numbers": _IDS,
    "lists": _IDS,
}
"""What results hold, by what targets do."""


def _repeats(table: InputTable, expected: Profile, result: Profile, grade: str) -> bool:
    """Whether grades say no more than that a result is the one that should be found."""
    if expected.column.dtype.is_nested() or result.column.dtype.is_nested():
        return False
    cells = table.rows(grade, cell_texts(expected.name), cell_texts(result.name))
    grades = as_numbers(cells[grade], table.said.grades)
    numbers = grades.cast(pl.Float64, strict=False).fill_null(0)
    equal = (cells[expected.name] == cells[result.name]).fill_null(False)
    return bool(((numbers > 0) == equal).all() and equal.any())


def _is_one_each(column: Profile, query: Profile) -> bool:
    """Whether a column has the same value in all rows of a query, or none."""
    if column.kind in ("nothing", "judgements", "dates", "objects"):
        return False
    if query.column.dtype.is_nested() or not _is_comparable(column.column.dtype):
        return False
    values = pl.DataFrame({"query": query.column, "value": column.column})
    pairs = values.select(
        cell_texts("query").forward_fill(), _as_texts("value", column.column.dtype)
    )
    return not pairs.drop_nulls().unique()["query"].is_duplicated().any()


def _is_comparable(dtype: pl.DataType) -> bool:
    """Whether cells are single values, or lists of them."""
    return not dtype.is_nested() or (
        isinstance(dtype, pl.List) and not dtype.inner.is_nested()
    )


def _as_texts(name: str, dtype: pl.DataType) -> pl.Expr:
    """The cells of a column, each as one text."""
    if not isinstance(dtype, pl.List):
        return cell_texts(name)
    joined = pl.col(name).cast(pl.List(pl.String)).list.join("\n")
    return joined.replace("", None)


def _asked_first(table: InputTable, ours: Mapping[str, str]) -> Profile:
    """The profile of the queries in the first rows."""
    return Profile("query", table.rows(ours["query"], most=SOME).to_series())


def _filled_once(table: InputTable, query: str, result: Profile) -> list[int] | None:
    """The rows that hold a result; None where a query has the same result twice."""
    cells = table.rows(
        cell_texts(query).forward_fill().alias("query"),
        cell_texts(result.name).alias("value"),
    ).with_row_index("row")
    filled = cells.drop_nulls("value")
    twice = filled.select("query", "value").is_duplicated().any()
    return None if twice else filled["row"].to_list()


def _only(table: InputTable, rows: list[int], query: str) -> InputTable:
    """Some rows of a table, each with its query."""
    frame = table.rows(pl.all()).with_columns(cell_texts(query).forward_fill())[rows]
    return replace(
        table,
        open=frame.lazy,
        pieces=None,
        where=lambda row: table.where(rows[row]),
    )


def _first_rows(
    table: InputTable, query: str, expected: Profile, *, several: bool
) -> list[int] | None:
    """The first row of each query with a target; None if it has two and not ``several``."""
    cells = table.rows(
        cell_texts(query).forward_fill().alias("query"),
        _as_texts(expected.name, expected.column.dtype).alias("value"),
    ).with_row_index("row")
    first = cells.unique(["query", "value"], keep="first", maintain_order=True)
    filled = first.drop_nulls("value")
    if filled["query"].is_duplicated().any() and not several:
        return None
    silent = first.filter(pl.col("value").is_null())
    silent = silent.filter(~pl.col("query").is_in(filled["query"].implode()))
    return sorted([*filled["row"], *silent["row"]])


def _targets(
    table: InputTable, kept: list[str], expected: Profile, rows: list[int]
) -> InputTable:
    """One row for each query, with its targets."""
    called = expected.name if says_wanted(expected.name) else "expected"
    columns = [
        *(cell_texts(name).forward_fill() for name in kept),
        pl.col(expected.name).alias(called),
    ]
    frame = table.rows(*columns)[rows]
    return replace(
        table,
        open=frame.lazy,
        pieces=None,
        where=lambda row: table.where(rows[row]),
        columns=frozenset(frame.columns),
        listed=tuple(frame.columns),
        shown={**table.shown, called: expected.name},
    )


def _called(
    pair: tuple[Profile, Profile], table: InputTable, ours: Mapping[str, str]
) -> dict[str, str]:
    """What the columns of results are called by us: the ids, and the texts for quotes."""
    expected, result = pair
    called = {result.name: "text" if result.kind == "texts" else "item"}
    for field in ("item", "text"):
        if ours.get(field) == result.name:
            called = {result.name: result.name}
    if expected.kind != "texts" or "text" in (*ours, *called.values()):
        return called
    profiles = Profiles(table.rows(pl.all(), most=SOME), ours["query"])
    texts = [
        one
        for one in profiles.values()
        if one.name != result.name and one.kind == "texts" and one.varies
    ]
    return {**called, texts[0].name: "text"} if len(texts) == 1 else called


def _results(
    table: InputTable,
    names: Mapping[str, str],
    dropped: tuple[str | None, ...],
    called: Mapping[str, str],
) -> InputTable:
    """The table without its targets, whose results have names of ours."""
    others = [
        name
        for name in table.names()
        if name not in (*dropped, *called.values()) or name in called
    ]
    columns = [pl.col(name).alias(called.get(name, name)) for name in others]
    listed = tuple(called.get(name, name) for name in others)
    query = next(theirs for theirs, field in names.items() if field == "query")

    def step(rows: pl.LazyFrame) -> pl.LazyFrame:
        if table.pieces is None:
            # Merged cells: a row without a question belongs to the one above.
            rows = rows.with_columns(cell_texts(query).forward_fill())
        return rows.select(columns)

    return table.then(
        step,
        columns=frozenset(listed),
        listed=listed,
        notes=(),
        shown={**table.shown, **{ours: theirs for theirs, ours in called.items()}},
    )
