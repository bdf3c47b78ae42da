"""Map table columns to fields by their names, their values and their neighbours.

Names alone can mislead: an ``id`` may number the rows or the questions, ``expected_chunks`` may
hold ids or texts, and an unrecognised column of zeros and ones may be the grade. Every column is
certain, harmless, or refused with the option that settles it.
"""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.cells import TAG, looks_like_texts
from calipers.io.tables.columns import (
    IGNORE,
    IGNORED,
    SOME,
    may_be_texts,
    may_be_the_grade,
    numbered_groups,
    renaming,
    say,
    says_wanted,
    weak_quote,
)
from calipers.io.tables.grades import (
    COUNTING,
    NO_GRADES,
    cells_of,
    holds_grades,
    holds_words,
    may_hide_grades,
    may_tell_apart,
)
from calipers.io.tables.propose import as_cell, nothing_fits
from calipers.io.tables.scan import InputTable, cell_texts, explained
from calipers.model.ground_truth import MARK
from calipers.model.matched import Role
from calipers.model.run import all_rise
from calipers.names import (
    BEIR_JUDGEMENTS,
    PARALLEL,
    QUERY_TEXT,
    QUOTE,
    RANX,
    RESULT,
    RETURNED_IDS,
    ROW,
    ROW_ID,
    SYSTEMS,
    is_distance,
    plain_name,
    possible_meaning,
)
from calipers.shell import join_words

_CALLED = {"item": "expected_chunks", "quote": "quotes", "retrieved": "retrieved_ids"}
"""Names for a merged column, by which it is recognised."""
_SEVERAL = r"[;|\n]"
_FILES = ("document", "file", "file_name", "filename", "file_path", "source", "path", "pdf", "url")
"""Names for the document column, where another column has the page."""
_PAGES = "expected_ids"
"""Name for the pages, by which they are recognised as target ids."""


def numbered_as_one(table: InputTable, role: Role) -> InputTable:
    """Merge numbered columns (``Chunk 1``, ``Chunk 2``) into one, in the order of the numbers."""
    found = table.names()
    groups = numbered_groups(found)
    numbered = {one for columns in groups.values() for one in columns}
    known = set(renaming([one for one in found if one not in numbered]).values())
    meant = {stem: _meaning(stem, role) for stem in groups}
    wanted = {stem: what for stem, what in meant.items() if what is not None and what not in known}
    if not wanted or len(set(wanted.values())) < len(wanted):
        return table
    with explained(table.name, table.fault):
        for stem in groups.keys() - wanted.keys():
            _refuse_numbers(table, groups[stem], groups[next(iter(wanted))])
        for stem, what in wanted.items():
            table = _merge_columns(table, groups[stem], what)
    return table


def _meaning(stem: str, role: Role) -> str | None:
    """The field for columns with this name: target ids, target texts, or retrieved ids."""
    spellings = {stem, f"{stem}s", f"{stem}_id", f"{stem}_ids"}
    if spellings & {*RETURNED_IDS} or possible_meaning(stem) == "retrieved":
        return "retrieved"
    if spellings & {*QUOTE} or possible_meaning(stem) == "quote":
        return "quote"
    if spellings & {*ROW["item"]} or possible_meaning(stem) == "item":
        return "retrieved" if role == "run" else "item"
    return None


def _refuse_numbers(table: InputTable, others: list[str], columns: list[str]) -> None:
    """Refuse grades beside numbered columns: which belongs to which would be a guess."""
    cells = table.rows(pl.col(others).cast(pl.String))
    if holds_grades(pl.concat([cells[one].alias("cell") for one in others])):
        raise InvalidInput(
            f"{table.name} has numbers in {', '.join(others[:3])} beside {', '.join(columns[:3])}, "
            "which may be the grades of these; write one row for each, with the columns question, "
            "chunk_id and grade."
        )


def _merge_columns(table: InputTable, columns: list[str], what: str) -> InputTable:
    if what != "quote":
        _refuse_several(table, columns)
    shown = f"{columns[0]}, …, {columns[-1]}" if len(columns) > 2 else " and ".join(columns)
    return table.merged(columns, _CALLED[what], f"The columns {shown} are taken as one.")


def _refuse_several(table: InputTable, columns: list[str]) -> None:
    cells = table.rows(pl.col(columns).cast(pl.String))
    for name in columns:
        several = cells[name].str.contains(_SEVERAL).fill_null(False).arg_true()
        if len(several):
            raise InvalidInput(
                f"A cell of {name!r} holds several ids at {table.where(int(several[0]))}, and "
                f"{', '.join(columns[:2])}, … hold one each; write one id into each cell, or all "
                "of a question into one column."
            )


def pages_as_items(table: InputTable, role: Role) -> InputTable:
    """Use document and page as target ids, where the table has no other targets."""
    found = table.names()
    plain = {plain_name(name): name for name in reversed(found)}
    page = next((plain[name] for name in ("page", *RESULT["page"]) if name in plain), None)
    names = renaming(found)
    known = set(names.values())
    if page is None or role == "run" or known & {"score", "rank", "text", "retrieved", "quote"}:
        return table
    if "item" in known or "start" in known:
        return table
    document = next((plain[name] for name in _FILES if name in plain), None)
    if document is None:
        return table
    with explained(table.name, table.fault):
        _refuse_half(table, document, page)
    number = cell_texts(page).str.replace(r"^(\d+)\.0$", "${1}")
    item = pl.concat_str(cell_texts(document), pl.lit(MARK), number)
    if "grade" not in known:
        # A list of one: a file name may contain characters that separate ids.
        item = pl.concat_list(item).list.drop_nulls()
    note = f"Each row names a page: {document!r} and {page!r} together."
    return table.merged((document, page), _PAGES, note, item)


def _refuse_half(table: InputTable, document: str, page: str) -> None:
    cells = table.rows(cell_texts(document), cell_texts(page))
    half = (cells[document].is_null() != cells[page].is_null()).arg_true()
    if len(half):
        row = int(half[0])
        lacking = document if cells[document][row] is None else page
        raise InvalidInput(
            f"A page is named by {document!r} and {page!r} together, and {lacking!r} is blank at "
            f"{table.where(row)}; fill it in, or leave both out."
        )


LISTED = 5
"""Unread columns that are listed by name; the others are counted."""
_ROW_NUMBERS = frozenset({"", "index", "unnamed_0"})
_YES_OR_NO = frozenset({"relevant", "expected", "gold", "correct"})


def resolve_fields(table: InputTable, role: Role) -> tuple[InputTable, dict[str, str]]:
    """Resolve the columns to use, each with our name for it."""
    found = table.names()
    names = _by_name(table, found, role)
    names = _with_row_ids(table, found, names)
    names = _ids_or_texts(table, names, role)
    table, names = _by_distance(table, names, role)
    _check_grade(table, found, names)
    return table, names


def _by_name(table: InputTable, found: list[str], role: Role) -> dict[str, str]:
    names = renaming(found)
    if "query" not in names.values():
        raise no_column(table, "query", role)
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


def no_column(table: InputTable, lacking: str, role: Role) -> InvalidInput:
    """The error for a table without a needed column, judged by its names and a sample of it."""
    return InvalidInput(nothing_fits(table.name, sample(table), lacking, role))


def sample(table: InputTable) -> dict[str, list[str]]:
    """The columns of a table, each with its first cells."""
    with explained(table.name, table.fault):
        some = table.rows(pl.all(), most=SOME)
    return {one.name: list(map(as_cell, one.to_list())) for one in some}


def _with_row_ids(table: InputTable, found: list[str], names: dict[str, str]) -> dict[str, str]:
    """Use a column ``id`` as the query if ids and questions correspond one to one."""
    asked = next(theirs for theirs, ours in names.items() if ours == "query")
    row_id = next((one for one in found if one.strip().lower() in ROW_ID), None)
    if row_id is None or row_id in names or plain_name(asked) not in QUERY_TEXT:
        return names
    cells = table.rows(cell_texts(row_id, asked))
    # With merged cells, a row without a question belongs to the one above.
    both = cells.with_columns(pl.col(asked).forward_fill()).drop_nulls()
    if not both.height:
        return names
    if plain_name(asked) == "query" and not both[asked].str.contains(r"\s").any():
        return names  # the queries are ids already
    pairs, ids, questions = both.n_unique(), both[row_id].n_unique(), both[asked].n_unique()
    if not pairs == ids == questions:
        return names
    chosen = {**names, row_id: "query", asked: "query_text"}
    return {one: chosen[one] for one in found if one in chosen}


def _ids_or_texts(table: InputTable, names: dict[str, str], role: Role) -> dict[str, str]:
    """Decide whether a column such as ``expected_chunks`` holds ids or texts."""
    item = next((theirs for theirs, ours in names.items() if ours == "item"), None)
    if item is None or "quote" in names.values():
        return names
    if role == "run" and not may_be_texts(item):
        return names  # a run may be large, and is read once
    column = table.rows([item], most=SOME)[item]
    about_single = {"grade", "score", "rank"} & set(names.values())
    others = [one for one in table.names() if one not in names and plain_name(one) in ROW["item"]]
    if plain_name(item) in _YES_OR_NO and holds_grades(column):
        cells = cells_of(column)
        if others or (not about_single and _are_grades(cells)):
            graded = (("grade", item), *(("item", one) for one in others[:1]))
            raise InvalidInput(
                f"Say {say(*graded)} or {say(('item', item))}; {item!r} of {table.name} could be "
                f"two things, ids to find or the grade of ids (it holds {cells[0]!r:.40})."
            )
    if isinstance(column.dtype, pl.List):
        column = column.explode()
    if not looks_like_texts(column.to_list(), sure=not may_be_texts(item)):
        return names
    is_result = {"score", "rank"} & set(names.values()) and "grade" not in names.values()
    of_run = (role == "run" or is_result) and not says_wanted(item)
    return {**names, item: "text" if of_run and "text" not in names.values() else "quote"}


def _are_grades(cells: Iterable[str]) -> bool:
    """Whether cells are grades and not ids: 0 or below, fractions, yes or no."""
    numbers = [cell.replace(",", ".") for cell in cells]
    return all(one in ("1", "1.0") or not one.isdigit() for one in numbers) or any(
        one == "0" or one.startswith("-") for one in numbers
    )


def _by_distance(
    table: InputTable, names: dict[str, str], role: Role
) -> tuple[InputTable, dict[str, str]]:
    """Convert distances to scores, so that the smallest distance ranks first."""
    by_name = [one for one in table.names() if is_distance(one) and not one.endswith(IGNORED)]
    score = next((theirs for theirs, ours in names.items() if ours == "score"), None)
    known = {"rank", "retrieved"} & set(names.values())
    if not by_name or known or role == "ground_truth" or score not in (None, *by_name):
        return table, names
    distance = score or by_name[0]
    is_text = table.open().collect_schema()[distance] == pl.String
    cells = cell_texts(distance) if is_text else pl.col(distance)
    if is_text and table.decimal_comma:
        cells = cells.str.replace(",", ".", literal=True)
    turned = -cells.cast(pl.Float64, strict=False)
    made = table.then(lambda rows: rows.with_columns(turned))
    return made, {**names, distance: "score"}


def _check_grade(table: InputTable, found: list[str], names: dict[str, str]) -> None:
    """Refuse a grade column without grades, and two columns that could both be grades."""
    grade = next((theirs for theirs, ours in names.items() if ours == "grade"), None)
    if grade is None or plain_name(grade) == "grade":
        return
    others = [
        one
        for one in found
        if one not in names and plain_name(one) in ROW["grade"] and not one.endswith(IGNORED)
    ]
    some = table.rows([grade, *others], most=SOME)
    for other in others:
        if holds_grades(some[other]) and not some[other].equals(some[grade], check_names=False):
            raise InvalidInput(
                f"Say {say(('grade', grade), (IGNORE, other))}, or the other way: two columns of "
                f"{table.name} could be the grade, {grade!r} and {other!r}, and they differ."
            )


def check_fields(
    table: InputTable,
    names: dict[str, str],
    left: list[str],
    role: Role,
    *,
    has_truth: bool,
    has_results: bool,
) -> None:
    """Refuse columns that are left over and may change a number: a grade, an order, a system."""
    ours = {meaning: theirs for theirs, meaning in names.items()}
    # Beside a list of targets, a single value describes the question.
    lists = isinstance(table.open().collect_schema().get(ours.get("item", "")), pl.List)
    if has_truth and not lists and "grade" not in ours and "retrieved" not in ours:
        check_no_grade_is_hidden(table, left, ours["query"], ours.get("item", ""))
    elif has_results and not {"score", "rank", "retrieved"} & set(ours):
        _check_order_is_known(table, names, left)
    if has_truth and "grade" not in ours:
        _check_no_grades_beside(table, left)
    if has_results:
        _check_one_ranking(table, ours["query"], left)
    if "retrieved" in ours and not {"item", "quote"} & set(ours):
        _check_one_list_each(table, ours["query"], ours["retrieved"], left, role)


def _check_no_grades_beside(table: InputTable, left: Sequence[str]) -> None:
    """Refuse cells that list a grade for each of the ids in another cell."""
    for one in (name for name in left if plain_name(name) in PARALLEL):
        cells = table.rows(pl.col(one).cast(pl.String), most=SOME).to_series()
        if len(several := cells.filter(cells.str.contains(_NUMBERS).fill_null(False))):
            raise InvalidInput(
                f"Give each target a row with its grade, or say {say((IGNORE, one))}; the cells of "
                f"{one!r} in {table.name}, such as {several[0]!r:.30}, seem to grade several ids."
            )


_NUMBERS = r"^\W*\d[\d.]*([^\w.]+\d[\d.]*)+\W*$"


def check_no_grade_is_hidden(
    table: InputTable, left: list[str], asked: str | None = None, item: str = ""
) -> None:
    """Refuse judgements with an unrecognised column that may be the grade.

    It may be if it holds numbers, or yes and no; or if it differs within one query and is neither
    prose, nor a date, nor has a name that says something else. If cells hold several ids, a column
    that is constant within each query describes the query.
    """
    left = [one for one in left if not one.startswith("__")]
    if not left:
        return
    some = table.rows(left if asked is None else [*dict.fromkeys((asked, *left))], most=SOME)
    twin = next((one for one in left if says_wanted(one)), None)
    queries = some if asked is None else some.with_columns(pl.col(asked).forward_fill())
    of_query = set[str]()
    if asked is not None and item and _holds_several(table, item):
        of_query = {one for one in left if not _has_two_values(queries, asked, one)}
    hidden = [
        one
        for one in left
        if one == twin or (one not in of_query and may_hide_grades(one, some[one]))
    ]
    if asked is not None:
        hidden += [
            one for one in left if one not in hidden and _differs_in_a_query(queries, asked, one)
        ]
    if not hidden:
        return
    # What holds words of judgement is the more likely grade.
    one, *others = sorted(hidden, key=lambda name: not holds_words(some[name]))
    value = next(iter(some[one].cast(pl.String, strict=False).drop_nulls()), "nothing")
    raise may_be_the_grade(one, value, table.name, *others)


def _differs_in_a_query(rows: pl.DataFrame, asked: str, column: str) -> bool:
    """Whether a column has two values for one query that are not just remarks."""
    return may_tell_apart(column, rows[column]) and _has_two_values(rows, asked, column)


def _holds_several(table: InputTable, item: str) -> bool:
    """Whether cells hold several ids, so that no other column can describe one of them."""
    cells = table.rows([item], most=SOME)[item]
    return cells.dtype == pl.String and bool(cells.str.contains(r"[;|\n]|^[\[(]|, ").any())


def _has_two_values(rows: pl.DataFrame, asked: str, column: str) -> bool:
    values = rows.drop_nulls([asked, column]).group_by(asked).agg(pl.col(column).n_unique())
    return bool((values[column] > 1).any())


def _check_order_is_known(table: InputTable, names: dict[str, str], left: list[str]) -> None:
    """Refuse to rank results by row order where a column of numbers implies another order."""
    unused = [one for one in table.names() if one not in names and not one.endswith(IGNORED)]
    some = table.rows(unused, most=SOME)
    for one in [*dict.fromkeys((*left, *unused))]:
        no_order = set(plain_name(one).split("_")) & (NO_GRADES - COUNTING)
        if no_order or not holds_grades(some[one]) or holds_words(some[one]):
            continue
        asked = next(theirs for theirs, ours in names.items() if ours == "query")
        rows = table.rows(asked, one)
        numbers = rows.select(asked, cell_texts(one).cast(pl.Float64, strict=False))
        steps = numbers.select(pl.col(one).diff().over(asked)).to_series().drop_nulls()
        ranks = (numbers[one] % 1 == 0).all() and (steps > 0).all()
        if not numbers[one].null_count() and (ranks or (steps <= 0).all()):
            continue
        if one not in left and numbers[one].null_count():
            continue
        raise InvalidInput(
            f"Say {say(('rank', one))} or {say(('score', one))}; or, if the rows are in order, "
            f"{say((IGNORE, one))}; {one!r} of {table.name} has another order, and nothing else "
            "ranks them."
        )


def _check_one_list_each(
    table: InputTable, asked: str, listed: str, left: list[str], role: Role
) -> None:
    """Refuse a column of lists that has one result in each row, with the line that says so."""
    if _holds_several(table, listed):
        return
    some = table.rows([asked, listed, *left], most=SOME).with_columns(pl.col(asked).forward_fill())
    if some[listed].dtype.is_nested() or not _has_two_values(some, asked, listed):
        return
    numbers = [one for one in left if holds_grades(some[one]) and not holds_words(some[one])]
    lines = [say(("item", listed), (what, one)) for one in numbers[:1] for what in _ABOUT[role]]
    lines = lines or [say(("item", listed))]
    raise InvalidInput(
        f"Say {', or '.join(lines)}; {table.name} has one result in each row of {listed!r}."
    )


def check_no_sentences(cells: pl.Series, name: str, column: str) -> None:
    """Refuse sentences as results: a cell could be one or several."""
    if cells.dtype == pl.String and looks_like_texts(
        cells.head(SOME), sure=not may_be_texts(column)
    ):
        raise InvalidInput(
            f'Write the results as a list in JSON, ["…", "…"]: {column!r} of {name} holds '
            "sentences, and a cell could be one result or several."
        )


_ABOUT: Mapping[Role, tuple[str, ...]] = {
    "run": ("score",),
    "ground_truth": ("grade",),
    "both": ("score", "grade"),
}
"""What the numbers beside results can be, by what the table is given as."""


def _check_one_ranking(table: InputTable, asked: str, left: list[str]) -> None:
    """Refuse a table in which two systems answer one query: these are two rankings."""
    for one in left:
        if plain_name(one) not in SYSTEMS:
            continue
        pairs = table.rows(asked, one).drop_nulls().unique(maintain_order=True)
        twice = pairs.filter(pl.col(asked).is_duplicated())
        if twice.height:
            first, second, *_ = twice.filter(pl.col(asked) == twice[asked][0])[one].to_list()
            raise InvalidInput(
                f"{table.name} holds two rankings of the query {twice[asked][0]!r:.60}: the column "
                f"{one!r} has {first!r:.40} and {second!r:.40}; give a file for each of them."
            )


def scores_must_fall(table: InputTable, ours: Mapping[str, str]) -> bool:
    """Whether scores that rise down every list may be distances: unless the user says otherwise."""
    if not table.ordered or "score" not in ours or "rank" in ours or "score" in table.said.named:
        return False
    return not is_distance(ours["score"])


def check_scores_fall(rows: pl.DataFrame, column: str, name: str) -> None:
    """Refuse scores that rise down every list, judged by a sample of rows."""
    if all_rise(rows, FEW_STEPS):
        raise InvalidInput(
            f"Say {join_words(('--distance', column))}; if they are scores, "
            f"{say(('score', column))}; the numbers in {column!r} of {name} rise down every list, "
            "and the highest score comes first."
        )


FEW_STEPS = 3
"""Fewer rising scores may rise by chance."""


def left_over(found: Iterable[str], names: dict[str, str]) -> list[str]:
    """The columns that are not used and not excluded by the user."""
    return [
        one
        for one in found
        if one not in names
        and not one.startswith(TAG)
        and not one.endswith(IGNORED)
        and plain_name(one.replace(":", "")) not in _ROW_NUMBERS
    ]


def reading_note(names: dict[str, str], left: list[str], *, of_targets: bool) -> tuple[str, ...]:
    """A one-line note on how columns were mapped; none if all have the usual names."""
    called = {
        "item": "target" if of_targets else "result",
        "query_text": "its text",
        "retrieved": "results",
    }
    renamed = [
        pair
        for pair in sorted(names.items(), key=lambda pair: _ORDER.get(pair[1], len(_ORDER)))
        if (plain_name(pair[0]) != pair[1] or is_distance(pair[0]))
        and frozenset(names) not in (BEIR_JUDGEMENTS, RANX)
    ]
    if not left and {(plain_name(theirs), ours) for theirs, ours in renamed} <= _USUAL:
        return ()
    said = [f"{called.get(ours, ours)} ← {theirs.strip()}" for theirs, ours in renamed]
    for number, (theirs, ours) in enumerate(renamed):
        if ours == "score" and is_distance(theirs):
            said[number] += " (a distance: the smallest comes first)"
        elif ours == "quote":
            said[number] += " (found where the text of a result holds it)"
    parts = [", ".join(said)] if said else []
    if left:
        more = f" and {len(left) - LISTED} more" if len(left) > LISTED else ""
        parts.append(f"{'n' if parts else 'N'}ot read: {', '.join(left[:LISTED])}{more}")
    return ("; ".join(parts) + ".",) if parts else ()


_USUAL = frozenset({("question", "query"), ("query_id", "query"), ("chunk_id", "item")})
"""Usual names that need no note."""
_ORDER = {name: n for n, name in enumerate(("query", "query_text", "item", "quote", "grade"))}
