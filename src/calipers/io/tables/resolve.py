"""Map table columns to fields: names make a field certain, profiles settle or question the rest.

A column is certain by its name, harmless (the same for all rows of a query, a date, prose, or a
name that rules it out), or it may change a number: then it is refused with the mappings that may
be meant, which ``propose`` tries before one is shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.io.records.parallel import says_grades
from calipers.io.tables.by_values import (
    holds_ids_beside,
    with_grades_by_values,
    with_single_results,
    with_texts,
)
from calipers.io.tables.candidates import nothing_fits, orders
from calipers.io.tables.cells import has_decimal_commas, looks_like_texts
from calipers.io.tables.columns import (
    IGNORE,
    TAG,
    Pairs,
    may_be_the_grade,
    say,
)
from calipers.io.tables.grades import cells_of
from calipers.io.tables.likely import unlikely_to_judge
from calipers.io.tables.orders import check_one_order, check_order_is_known
from calipers.io.tables.profile import SOME, Profile, Profiles, parts_of_cell, profiles_of
from calipers.io.tables.scan import InputTable, cell_texts
from calipers.io.tables.slice_hints import hint_on_slices
from calipers.io.tables.usual_names import (
    IDENTITIES,
    IGNORED,
    may_be_texts,
    renaming,
    says_wanted,
    weak_quote,
)
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.matched import Role
from calipers.model.run import all_rise
from calipers.names import (
    BEIR_JUDGEMENTS,
    LAST_STAGE,
    PARALLEL,
    QUERY_TEXT,
    RANX,
    ROW,
    ROW_ID,
    SYSTEMS,
    YES_OR_NO,
    is_distance,
    plain_name,
    says_expected,
)

LISTED = 5
"""Unread columns that are listed by name; the others are counted."""
_ROW_NUMBERS = frozenset({"index", "unnamed_0"})
_MORE_THAN_DOCUMENTS = frozenset({"item", "quote", "text", "retrieved", "start", "page"})
"""Fields beside which a document is only where a result or a target stands."""


def resolve_fields(table: InputTable, role: Role) -> tuple[InputTable, dict[str, str]]:
    """Resolve the columns to use, each with our name for it."""
    found = table.names()
    names = _by_name(table, found, role)
    names = _with_row_ids(table, found, names)
    names = with_texts(table, left_over(found, names), names, role)
    names = _ids_or_texts(table, names, role)
    table, names = _by_distance(table, names, role)
    _check_grade(table, found, names)
    return table, names


def _by_name(table: InputTable, found: list[str], role: Role) -> dict[str, str]:
    names = _with_single_ids(table, found, renaming(found), role)
    if "query" not in names.values():
        raise no_column(table, "query", role)
    header = frozenset(found)
    if header >= BEIR_JUDGEMENTS and role != "run":
        names["score"] = "grade"
    if header == RANX:
        if role == "both":
            raise InvalidInput(
                f"{table.name} could be two formats: ranx writes judgements and runs with the "
                "same columns (q_id, doc_id, score); say which it is with --run or "
                "--ground-truth (run= or ground_truth= in Python)."
            )
        names["score"] = "grade" if role == "ground_truth" else "score"
    fields = {*names.values()}
    ordered = {"rank", "score", "distance"} & (fields | table.said.named.keys())
    ranked = bool(ordered) or any(map(is_distance, found))
    if "document" in fields and ranked and not fields & _MORE_THAN_DOCUMENTS:
        # No result is less than a document.
        names = {
            one: "item" if ours == "document" else ours for one, ours in names.items()
        }
    names = with_grades_by_values(table, names, role)
    names = with_single_results(table, names)
    quote = weak_quote(found, names, role)
    if quote is None or holds_ids_beside(
        table, [one for one in found if one not in names]
    ):
        return names
    return {**names, quote: "quote"}


def _with_single_ids(
    table: InputTable, found: list[str], names: dict[str, str], role: Role
) -> dict[str, str]:
    """Use a column ``id`` as the results of a run without another, if it differs in a query."""
    fields = {*names.values()}
    row_id = next((one for one in found if one.strip().lower() in (*ROW_ID, "ids")), None)
    if row_id is None or row_id in names:
        return names
    if role != "run" or "query" not in fields or fields & ({*IDENTITIES} - {"text"}):
        return names
    asked = next((theirs for theirs, ours in names.items() if ours == "query"), None)
    ids = profiles_of(table, asked)[row_id]
    # What counts the rows names no results; beside it stands what does.
    are_results = ids.varies and ids.kind != "lists" and not ids.numbers_table
    return {**names, row_id: "item"} if are_results else names


def no_column(table: InputTable, lacking: str, role: Role) -> Unclear:
    """The error for a table without a needed column, judged by its names and a sample of it."""
    names = renaming(table.names())
    asked = next((theirs for theirs, ours in names.items() if ours == "query"), None)
    return nothing_fits(table.name, profiles_of(table, asked), lacking, role)


def _with_row_ids(
    table: InputTable, found: list[str], names: dict[str, str]
) -> dict[str, str]:
    """Use a column ``id`` as the query if ids and questions correspond one to one."""
    pool_items = next(theirs for theirs, ours in names.items() if ours == "query")
    row_id = next((one for one in found if one.strip().lower() in ROW_ID), None)
    if row_id is None or row_id in names or plain_name(pool_items) not in QUERY_TEXT:
        return names
    cells = table.rows(cell_texts(row_id, pool_items))
    # With merged cells, a row without a question belongs to the one above.
    both = cells.with_columns(pl.col(pool_items).forward_fill()).drop_nulls()
    if not both.height:
        return names
    if (
        plain_name(pool_items) == "query"
        and not both[pool_items].str.contains(r"\s").any()
    ):
        return names  # the queries are ids already
    pairs = both.n_unique()
    ids = both[row_id].n_unique()
    questions = both[pool_items].n_unique()
    if not pairs == ids == questions:
        return names
    chosen = {**names, row_id: "query", pool_items: "query_text"}
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
    others = [
        name
        for name in table.names()
        if name not in names and plain_name(name) in ROW["item"]
    ]
    is_list = isinstance(column.dtype, pl.List)
    if (
        plain_name(item) in YES_OR_NO
        and not is_list
        and Profile(item, column).holds_grades
    ):
        cells = cells_of(column)
        if others or (not about_single and _are_grades(cells)):
            graded = (("grade", item), *(("item", other) for other in others[:1]))
            raise Unclear(
                f"{item!r} of {table.name} could be two things, ids to find or the grade of ids "
                f"(it holds {cells[0]!r:.40})",
                graded,
                (("item", item),),
                otherwise="Add a column with the ids that are judged",
            )
    if is_list:
        column = column.explode()
    if not looks_like_texts(column.to_list(), sure=not may_be_texts(item)):
        return names
    is_result = {"score", "rank"} & set(names.values()) and "grade" not in names.values()
    of_run = (role == "run" or is_result) and not says_wanted(item)
    return {**names, item: "text" if of_run and "text" not in names.values() else "quote"}


def _are_grades(cells: Iterable[str]) -> bool:
    """Whether cells are grades and not ids: 0 or below, fractions, yes or no."""
    parts = chain.from_iterable(map(parts_of_cell, cells))
    numbers = [part.strip(",").replace(",", ".") for part in parts]
    return all(
        number in ("1", "1.0") or not number.isdigit() for number in numbers
    ) or any(number == "0" or number.startswith("-") for number in numbers)


def _by_distance(
    table: InputTable, names: dict[str, str], role: Role
) -> tuple[InputTable, dict[str, str]]:
    """Convert distances to scores, so that the smallest distance ranks first."""
    by_name = [
        name for name in table.names() if is_distance(name) and not name.endswith(IGNORED)
    ]
    if "distance" in table.said.named and "rank" not in table.said.named:
        names = {one: ours for one, ours in names.items() if ours != "rank"}
    score = next((theirs for theirs, ours in names.items() if ours == "score"), None)
    known = {"rank", "retrieved"} & set(names.values())
    if not by_name or known or role == "ground_truth" or score not in (None, *by_name):
        return table, names
    distance = score or by_name[0]
    is_text = table.open().collect_schema()[distance] == pl.String
    cells = cell_texts(distance) if is_text else pl.col(distance)
    commas = table.decimal_comma
    if is_text and not commas:
        commas = has_decimal_commas(table.rows(cells, most=SOME).to_series())
    if is_text and commas:
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
        if one not in names
        and plain_name(one) in ROW["grade"]
        and not one.endswith(IGNORED)
    ]
    some = Profiles(table.rows([grade, *others], most=SOME))
    for other in others:
        same = some[other].column.equals(some[grade].column, check_names=False)
        if some[other].holds_grades and not same:
            raise Unclear(
                f"two columns of {table.name} could be the grade, {grade!r} and {other!r}, and "
                "they differ",
                ((IGNORE, other),),
                (("grade", other), (IGNORE, grade)),
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
    if has_results:
        _check_one_ranking(table, ours["query"], left)
    is_wide = "retrieved" in ours
    if is_wide and not {"item", "quote"} & set(ours):
        _check_one_list_each(table, ours["query"], ours["retrieved"], left, role)
    if has_results and not is_wide and not {"score", "rank"} & set(ours):
        check_order_is_known(table, names, left)
    if not left:
        return
    profiles = profiles_of(table, ours["query"])
    if is_wide:
        _check_one_list(table, profiles, ours["retrieved"], left)
    elif has_results:
        check_one_order(table, profiles, ours, left)
    if not has_truth or "grade" in ours:
        return
    # Beside a list of targets, a single value describes the question.
    lists = profiles[ours["item"]].kind == "lists" if "item" in ours else False
    if not is_wide:
        _check_no_grade_is_hidden(
            table,
            profiles,
            left,
            about_queries=lists,
            ordered=has_results or role != "both",
        )
    _check_no_grades_beside(profiles, table.name, left, ours)


def _check_no_grades_beside(
    profiles: Profiles, name: str, left: Sequence[str], ours: Mapping[str, str]
) -> None:
    """Refuse cells that list a grade for each of the ids in another cell."""
    counts = [profiles[ours[one]].count for one in ("item", "retrieved") if one in ours]
    for one in left:
        # As many as the targets, and not as many as the results.
        as_many = counts[:1] == [profiles[one].count] != counts[1:]
        if plain_name(one) not in PARALLEL and not (as_many and says_grades(one)):
            continue
        cells = profiles[one].cells if profiles[one].holds_numbers else []
        several = [cell for cell in cells if _SEVERAL_IN(cell)]
        if several:
            raise Unclear(
                f"the cells of {one!r} in {name}, such as {several[0]!r:.30}, seem to grade "
                "several ids",
                ((IGNORE, one),),
                otherwise="Give each target a row with its grade",
            )


_SEVERAL_IN = re.compile(r"\d[^\w.]+\d").search


def check_no_grade_is_hidden(table: InputTable, left: list[str]) -> None:
    """Refuse judgements with an unrecognised column that may be the grade."""
    if left:
        _check_no_grade_is_hidden(
            table, profiles_of(table), left, about_queries=False, ordered=True
        )


def _check_no_grade_is_hidden(
    table: InputTable,
    profiles: Profiles,
    left: list[str],
    *,
    about_queries: bool,
    ordered: bool,
) -> None:
    """Refuse a column of unknown name that may say which targets are relevant.

    It may if it holds numbers or words of judgement, or a few values that differ within a query.
    Beside lists of targets, a column that is the same within each query describes the query.
    Unless the results are ``ordered``, or not asked for, another column may order them.
    """
    shown = [profiles[one] for one in left if not one.startswith("__")]
    twin = next(
        (one for one in shown if says_wanted(one.name) and one.kind != "nothing"), None
    )
    hidden = [
        one
        for one in shown
        if one is twin
        or (one.may_grade and (one.varies or not about_queries))
        or (one.may_tell_apart and one.varies)
    ]
    if not hidden:
        return
    if twin is not None and not twin.may_grade:
        raise _second_target(table, twin, profiles)
    # What a name or words of judgement speak for is the more likely grade.
    first, *others = sorted(hidden, key=unlikely_to_judge)
    rest = [other.name for other in others]
    likely = first.has_several_rows or first.judges_by_name or first.kind == "judgements"
    error = may_be_the_grade(first.name, first.cells[0], table.name, *rest, likely=likely)
    if ordered:
        raise error
    by = [one for one in shown if one is not first and one.may_order and one.varies]
    both = [(("grade", first.name), *pair) for one in by for pair in orders(one)]
    raise Unclear(error.why, *both, *error.options)


def _second_target(table: InputTable, twin: Profile, profiles: Profiles) -> Unclear:
    """The error for a second column whose name says that it holds targets."""
    item = next(name for name, ours in renaming([*profiles]).items() if ours == "item")
    return Unclear(
        f"{twin.name!r} of {table.name} may hold targets, too, beside {item!r}",
        (("item", f"{item},{twin.name}"),),
        (("item", twin.name), (IGNORE, item)),
        ((IGNORE, twin.name),),
    )


def check_one_list(table: InputTable, listed: str, known: Iterable[str]) -> None:
    """Refuse a second list of results in a table whose cells are read as records."""
    if listed in table.columns:
        left = left_over(table.names(), dict.fromkeys((listed, *known), ""))
        _check_one_list(table, profiles_of(table), listed, left)


def _check_one_list(
    table: InputTable, profiles: Profiles, listed: str, left: list[str]
) -> None:
    """Refuse a second list of results: of another stage, or of another system."""
    if "retrieved" in table.said.named:
        return
    returned = profiles[listed].ids
    many = 2 * len(profiles[listed].cells)
    others = [
        profiles[one]
        for one in left
        if profiles[one].kind == "lists" or profiles[one].words & LAST_STAGE
        if len(profiles[one].ids & returned) * 2 >= len(profiles[one].ids) > 0
        if profiles[one].count >= min(many, profiles[listed].count / 2)
        if not says_wanted(one)
    ]
    if not others:
        return
    rest = [other.name for other in others]
    lines: list[Pairs] = [tuple((IGNORE, one) for one in rest)]
    # The list of the last stage is what the user of a retriever gets.
    for one in others:
        line: Pairs = (("retrieved", one.name),)
        lines = [line, *lines] if one.comes_last else [*lines, line]
    raise Unclear(
        f"{table.name} has two lists of results, {listed!r} and {rest[0]!r}; one is measured at a "
        "time",
        *lines,
    )


def _check_one_list_each(
    table: InputTable, asked: str, listed: str, left: list[str], role: Role
) -> None:
    """Refuse a column of lists that has one result in each row, with the line that says so."""
    profiles = Profiles(
        table.rows([*dict.fromkeys((asked, listed, *left))], most=SOME), asked
    )
    if profiles[listed].kind == "lists" or not profiles[listed].varies:
        return
    numbers = [
        profiles[one]
        for one in left
        if profiles[one].may_order or profiles[one].may_grade
    ]
    lines: list[Pairs] = []
    wanted = [one for one in left if says_expected(one)]
    if role == "both" and len(wanted) == 1:
        both: Pairs = (("item", wanted[0]), ("retrieved", listed))
        orderings = [one for one in numbers if one.may_order and one.name not in wanted]
        lines += [(*both, *pair) for one in orderings for pair in orders(one)]
        lines.append(both)
    for one in numbers[:2]:
        if role != "ground_truth":
            lines += [(("item", listed), *pair) for pair in orders(one) if one.may_order]
        if role != "run":
            lines.append((("item", listed), ("grade", one.name)))
    raise Unclear(
        f"{table.name} has one result in each row of {listed!r}",
        *lines,
        (("item", listed),),
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


def _check_one_ranking(table: InputTable, asked: str, left: list[str]) -> None:
    """Refuse a table in which two systems answer one query: these are two rankings."""
    for one in left:
        if plain_name(one) not in SYSTEMS:
            continue
        pairs = table.rows(asked, one).drop_nulls().unique(maintain_order=True)
        twice = pairs.filter(pl.col(asked).is_duplicated())
        if twice.height:
            first, second, *_ = twice.filter(pl.col(asked) == twice[asked][0])[
                one
            ].to_list()
            raise InvalidInput(
                f"{table.name} holds two rankings of the query {twice[asked][0]!r:.60}: the column "
                f"{one!r} has {first!r:.40} and {second!r:.40}; give a file for each of them."
            )


def scores_must_fall(table: InputTable, ours: Mapping[str, str]) -> bool:
    """Whether scores that rise down every list may be distances: unless the user says otherwise."""
    if (
        not table.ordered
        or "score" not in ours
        or "rank" in ours
        or "score" in table.said.named
    ):
        return False
    return not is_distance(ours["score"])


def check_scores_fall(rows: pl.DataFrame, column: str, name: str) -> None:
    """Refuse scores that rise down every list, judged by a sample of rows."""
    if all_rise(rows, FEW_STEPS):
        raise Unclear(
            f"the numbers in {column!r} of {name} rise down every list, and the highest score "
            "comes first",
            (("distance", column),),
            (("score", column),),
            otherwise=f"Say {say(('distance', column))}, or, if they are scores, "
            f"{say(('score', column))}",
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
        and one.strip()
        and plain_name(one.replace(":", "")) not in _ROW_NUMBERS
    ]


def reading_note(
    names: dict[str, str],
    left: list[str],
    shown: Mapping[str, str],
    *,
    of_targets: bool,
    slices: Sequence[str] = (),
) -> tuple[str, ...]:
    """A one-line note on how columns were mapped; none if all have the usual names.

    ``slices`` are the unread columns that the queries could be sliced by.
    """
    called = {
        "item": "target" if of_targets else "result",
        "query_text": "its text",
        "retrieved": "results",
    }
    renamed = [
        pair
        for pair in sorted(
            names.items(), key=lambda pair: _ORDER.get(pair[1], len(_ORDER))
        )
        if (plain_name(pair[0]) != pair[1] or pair[0] in shown or is_distance(pair[0]))
        and frozenset(names) not in (BEIR_JUDGEMENTS, RANX)
    ]
    if not left and {(plain_name(theirs), ours) for theirs, ours in renamed} <= _USUAL:
        return ()
    said = [
        f"{called.get(ours, ours)} ← {shown.get(theirs, theirs).strip()}"
        for theirs, ours in renamed
    ]
    for number, (theirs, ours) in enumerate(renamed):
        if ours == "score" and is_distance(theirs):
            said[number] += " (a distance: the smallest comes first)"
        elif ours == "quote":
            said[number] += " (found where the text of a result holds it)"
    parts = [sentence("{it.text}", it=named(", ".join(said)))] if said else []
    if left:
        unread = named(", ".join(left[:LISTED]))
        rest = Fact(about="count", count=len(left) - LISTED, text="not read")
        more = sentence(" and {it.count} more", it=rest) if len(left) > LISTED else ""
        begun = "not read: " if parts else "Not read: "
        parts.append(
            sentence("{begun}{it.text}{more}", begun=begun, it=unread, more=more)
        )
    if not parts:
        return ()
    note = joined(joined(*parts, by="; "), ".", by="")
    return (joined(note, *hint_on_slices(slices)),)


_USUAL = frozenset({("question", "query"), ("query_id", "query"), ("chunk_id", "item")})
"""Usual names that need no note."""
_ORDER = {
    name: n for n, name in enumerate(("query", "query_text", "item", "quote", "grade"))
}
