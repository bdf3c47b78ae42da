"""What the columns of a table are taken for, by their names and by what stands in them.

Names alone can mislead: an ``id`` may number the rows or the questions, ``expected_chunks`` may
hold ids or texts, and a column of zeros and ones that nobody knows may be the grade. What is not
plain is said in one line, or refused with the option that settles it.
"""

from collections.abc import Iterable

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.checked import TAG
from calipers.io.tables.columns import (
    IGNORED,
    may_be_texts,
    nothing_fits,
    renaming,
    says_wanted,
    weak_quote,
)
from calipers.io.tables.grades import (
    cells_of,
    holds_grades,
    holds_words,
    in_words,
    may_hide_grades,
)
from calipers.io.tables.scan import Table, cell_texts, explained
from calipers.model.matched import Role
from calipers.names import BEIR_JUDGEMENTS, DISTANCES, QUERY_TEXT, RANX, ROW, ROW_ID, plain_name

SOME = 1_000
"""Rows that are looked at before all are read."""
LISTED = 5
"""Columns that are named as not read; of others their number is said."""
_ROW_NUMBERS = frozenset({"", "index", "unnamed_0"})
_OF_RECORDS = frozenset({"retrieved", "tags", "forbidden", "stages", "latency_ms", "error"})
_YES_OR_NO = frozenset({"relevant", "expected", "gold", "correct"})


def holds_plain_targets(table: Table) -> bool:
    """Whether ``ground_truth`` holds ids or texts, as in any table, and not our own records."""
    if "ground_truth" not in table.columns or table.columns & _OF_RECORDS:
        return False
    with explained(table.name, table.fault):
        column = _some(table, ["ground_truth"]).to_series()
    if column.dtype != pl.String:
        return column.dtype.is_integer()
    return not column.str.contains(r"^\s*[\[{]").any()


def columns_of_texts(
    table: Table, of_ids: Iterable[str], results: str, kept: Iterable[str]
) -> set[str]:
    """The columns of our own records that hold sentences, which are not split as ids are.

    Refused are sentences as results, which could be one or several, and a column that may hold
    the grades of what should be found.
    """
    with explained(table.name, table.fault):
        if "ground_truth" in table.columns and results not in table.columns:
            check_no_grade_is_hidden(table, left_over(table.names(), dict.fromkeys(kept, "")))
        some = _some(table, [one for one in of_ids if one in table.columns])
    texts = {column.name for column in some if column.dtype == pl.String and _is_prose(column)}
    if results in texts:
        raise InvalidInput(
            f"The column {results!r} of {table.name} holds sentences, and a cell could be one "
            'result or several; write the results as a list in JSON: ["…", "…"].'
        )
    return texts


def _is_prose(column: pl.Series) -> bool:
    plain = (cell for cell in column if not (cell or "").lstrip().startswith(("[", "{")))
    return looks_like_texts(plain)


def understand(table: Table, role: Role) -> tuple[Table, dict[str, str]]:
    """The columns that are used, each with our name for what it is."""
    found = table.names()
    names = _by_name(table, found, role)
    names = _with_row_ids(table, found, names)
    names = _ids_or_texts(table, names, role)
    table, names = _by_distance(table, names, role)
    _check_grade(table, found, names)
    return table, names


def _by_name(table: Table, found: list[str], role: Role) -> dict[str, str]:
    names = renaming(found)
    if "query" not in names.values():
        raise InvalidInput(nothing_fits(table.name, found, "query"))
    header = frozenset(found)
    if header >= BEIR_JUDGEMENTS and role != "run":
        names["score"] = "grade"
    if header == RANX:
        if role == "both":
            raise InvalidInput(
                f"{table.name} could be two forms: ranx writes judgements and runs with the same "
                "columns (q_id, doc_id, score); say which it is with --run or --ground-truth "
                "(run= or ground_truth= in Python)."
            )
        names["score"] = "grade" if role == "ground_truth" else "score"
    quote = weak_quote(found, names, role)
    return names if quote is None else {**names, quote: "quote"}


def _with_row_ids(table: Table, found: list[str], names: dict[str, str]) -> dict[str, str]:
    """A column ``id`` names the questions where each question has one id, and each id one."""
    asked = next(theirs for theirs, ours in names.items() if ours == "query")
    row_id = next((one for one in found if one.strip().lower() in ROW_ID), None)
    if row_id is None or row_id in names or plain_name(asked) not in QUERY_TEXT:
        return names
    cells = table.open().select(cell_texts(row_id, asked))
    # Where cells are merged, a row without a question belongs to the one above.
    both = cells.with_columns(pl.col(asked).forward_fill()).drop_nulls().collect()
    if not both.height:
        return names
    if plain_name(asked) == "query" and not both[asked].str.contains(r"\s").any():
        return names  # the queries are ids already
    pairs, ids, questions = both.n_unique(), both[row_id].n_unique(), both[asked].n_unique()
    if not pairs == ids == questions:
        return names
    chosen = {**names, row_id: "query", asked: "query_text"}
    return {one: chosen[one] for one in found if one in chosen}


def _ids_or_texts(table: Table, names: dict[str, str], role: Role) -> dict[str, str]:
    """Whether a column such as ``expected_chunks`` holds ids or the texts themselves."""
    item = next((theirs for theirs, ours in names.items() if ours == "item"), None)
    if item is None or "quote" in names.values():
        return names
    if role == "run" and not may_be_texts(item):
        return names  # a run may be large, and is read once
    column = _some(table, [item])[item]
    about_single = {"grade", "score", "rank"} & set(names.values())
    others = [one for one in table.names() if one not in names and plain_name(one) in ROW["item"]]
    if others and plain_name(item) in _YES_OR_NO and holds_grades(column):
        raise InvalidInput(
            f"The column {item!r} of {table.name} could be the grade of {others[0]!r} (it holds "
            f"{cells_of(column)[0]!r:.40}), or ids of its own; say which with --column "
            f"grade={item} --column item={others[0]}, or --column item={item}."
        )
    if column.dtype.is_nested():
        column = column.explode() if isinstance(column.dtype, pl.List) else column
    elif not about_single and plain_name(item) in _YES_OR_NO:
        cells = cells_of(column)
        if cells and holds_grades(column) and _are_grades(cells):
            raise InvalidInput(
                f"The column {item!r} of {table.name} could be two things: ids that should be "
                f"found, or whether something is relevant (it holds {cells[0]!r}); say which with "
                f"--column item={item} or --column grade={item}, and name the other."
            )
    if not looks_like_texts(column.to_list(), sure=not may_be_texts(item)):
        return names
    is_result = {"score", "rank"} & set(names.values()) and "grade" not in names.values()
    of_run = (role == "run" or is_result) and not says_wanted(item)
    return {**names, item: "text" if of_run and "text" not in names.values() else "quote"}


def _are_grades(cells: Iterable[str]) -> bool:
    """Whether cells say how relevant something is: 0, less, a fraction, yes or no; ids do not."""
    numbers = [cell.replace(",", ".") for cell in cells]
    return all(one in ("1", "1.0") or not one.isdigit() for one in numbers) or any(
        one == "0" or one.startswith("-") for one in numbers
    )


def _by_distance(table: Table, names: dict[str, str], role: Role) -> tuple[Table, dict[str, str]]:
    """A table of distances as one of scores, so that the smallest comes first."""
    distance = next((one for one in table.columns if plain_name(one) in DISTANCES), None)
    known = {"score", "rank", "grade", "retrieved"} & set(names.values())
    if distance is None or distance in names or known or role == "ground_truth":
        return table, names
    turned = -pl.col(distance).cast(pl.Float64, strict=False)
    made = table.then(lambda rows: rows.with_columns(turned))
    return made, {**names, distance: "score"}


def _check_grade(table: Table, found: list[str], names: dict[str, str]) -> None:
    """Refuse a grade that cannot be one, and two columns that both could be."""
    grade = next((theirs for theirs, ours in names.items() if ours == "grade"), None)
    if grade is None or plain_name(grade) == "grade":
        return
    others = [
        one
        for one in found
        if one not in names and plain_name(one) in ROW["grade"] and not one.endswith(IGNORED)
    ]
    some = _some(table, [grade, *others])
    for other in others:
        if holds_grades(some[other]) and not some[other].equals(some[grade], check_names=False):
            raise InvalidInput(
                f"Two columns of {table.name} could be the grade: {grade!r} and {other!r}, and "
                f"they differ; say which counts with --column grade={grade} (columns= in Python)."
            )


def hidden_grades(table: Table, left: list[str]) -> list[str]:
    """Which of the columns that are left may be grades, scores or ranks for all we know."""
    if not left:
        return []
    some = _some(table, left)
    return [one for one in left if may_hide_grades(one, some[one])]


def check_no_grade_is_hidden(table: Table, left: list[str]) -> None:
    """Refuse judgements with a column of numbers, or of yes and no, that is not understood."""
    hidden = hidden_grades(table, left)
    if not hidden:
        return
    one = hidden[0]
    value = next(iter(_some(table, [one])[one].cast(pl.String).drop_nulls()))
    raise InvalidInput(
        f"The column {one!r} of {table.name} is not understood, and it may say which targets are "
        f"relevant (it holds {value!r:.40}): without it every target counts as relevant. If it "
        f"is the grade, say --column {_quoted('grade', one)}; if it is not, "
        f"--column {_quoted('ignore', one)} (columns= in Python, [columns] in the settings)."
    )


def check_order_is_known(table: Table, names: dict[str, str], left: list[str]) -> None:
    """Refuse results in the order of their rows where a column of numbers says another order."""
    for one in hidden_grades(table, left):
        asked = next(theirs for theirs, ours in names.items() if ours == "query")
        rows = table.open().select(asked, one).collect()
        if holds_words(rows[one]):
            continue
        numbers = rows.select(asked, pl.col(one).cast(pl.Float64, strict=False))
        steps = numbers.select(pl.col(one).diff().over(asked)).to_series().drop_nulls()
        ranks = (numbers[one] % 1 == 0).all() and (steps > 0).all()
        if not numbers[one].null_count() and (ranks or (steps <= 0).all()):
            continue
        raise InvalidInput(
            f"The results in {table.name} have neither a score nor a rank that is understood, and "
            f"the column {one!r} may be one: its numbers are not in the order of the rows. Say "
            f"--column {_quoted('score', one)} or --column {_quoted('rank', one)}; or, if the "
            f"rows are in order, --column {_quoted('ignore', one)}."
        )


def _quoted(ours: str, theirs: str) -> str:
    word = f"{ours}={theirs}"
    return word if theirs.replace("_", "").isalnum() else f'"{word}"'


def left_over(found: Iterable[str], names: dict[str, str]) -> list[str]:
    """The columns that are not used, though nobody said that they should not be."""
    return [
        one
        for one in found
        if one not in names
        and not one.startswith(TAG)
        and not one.endswith(IGNORED)
        and plain_name(one.replace(":", "")) not in _ROW_NUMBERS
    ]


def reading_note(
    table: Table, names: dict[str, str], left: list[str], *, of_targets: bool
) -> tuple[str, ...]:
    """What was understood, in one line; nothing where all columns have the usual names."""
    called = {
        "item": "target" if of_targets else "result",
        "query_text": "its text",
        "retrieved": "results",
    }
    renamed = [
        pair
        for pair in sorted(names.items(), key=lambda pair: _ORDER.get(pair[1], len(_ORDER)))
        if plain_name(pair[0]) != pair[1] and frozenset(names) not in (BEIR_JUDGEMENTS, RANX)
    ]
    if not left and {(plain_name(theirs), ours) for theirs, ours in renamed} <= _USUAL:
        return ()
    said = [f"{called.get(ours, ours)} ← {theirs.strip()}" for theirs, ours in renamed]
    for number, (theirs, ours) in enumerate(renamed):
        if ours == "grade":
            held = in_words(table.open().select(theirs).collect().to_series())
            said[number] += f" ({held})" if held else ""
        elif ours == "score" and plain_name(theirs) in DISTANCES:
            said[number] += " (a distance: the smallest comes first)"
        elif ours == "quote":
            said[number] += " (found where the text of a result holds it)"
    parts = [", ".join(said)] if said else []
    if left:
        more = f" and {len(left) - LISTED} more" if len(left) > LISTED else ""
        parts.append(f"{'n' if parts else 'N'}ot read: {', '.join(left[:LISTED])}{more}")
    return ("; ".join(parts) + ".",) if parts else ()


_USUAL = frozenset({("question", "query"), ("query_id", "query"), ("chunk_id", "item")})
"""Names that mean the same to everybody."""
_ORDER = {name: n for n, name in enumerate(("query", "query_text", "item", "quote", "grade"))}


def _some(table: Table, columns: list[str]) -> pl.DataFrame:
    return table.open().select(columns).head(SOME).collect()
