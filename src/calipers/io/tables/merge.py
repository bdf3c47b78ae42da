"""Merge columns that hold one field together: ``Chunk 1``, ``Chunk 2``; a file and its page."""

from dataclasses import replace

import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.io.tables.columns import IGNORE, Pairs
from calipers.io.tables.judged_columns import named_together
from calipers.io.tables.profile import SOME, Profile, score_in_order
from calipers.io.tables.scan import InputTable, cell_texts, explained
from calipers.io.tables.usual_names import numbered_groups, renaming
from calipers.model.ground_truth import MARK
from calipers.model.matched import Role
from calipers.names import (
    QUOTE,
    RESULT,
    RETURNED_IDS,
    ROW,
    plain_name,
    possible_meaning,
    says_expected,
)

_CALLED = {"item": "expected_chunks", "quote": "quotes", "retrieved": "retrieved_ids"}
"""Names for a merged column, by which it is recognised."""
_SEVERAL = r"[;|\n]"
_FILES = (
    "document",
    "file",
    "file_name",
    "filename",
    "file_path",
    "source",
    "path",
    "pdf",
    "url",
)
"""Names for the document column, where another column has the page."""
_PAGES = "expected_ids"
"""Name for the pages, by which they are recognised as target ids."""


def numbered_as_one(table: InputTable, role: Role) -> InputTable:
    """Merge numbered columns (``Chunk 1``, ``Chunk 2``) into one, in the order of the numbers."""
    found = table.names()
    groups = numbered_groups(found)
    numbered = {column for columns in groups.values() for column in columns}
    known = set(renaming([one for one in found if one not in numbered]).values())
    apart = any(says_expected(one) for one in found if one not in numbered)
    # Beside what is expected, documents with numbers are those that came back.
    meant = {
        stem: "retrieved"
        if (what := _meaning(stem, role)) == "item" and apart and not says_expected(stem)
        else what
        for stem in groups
    }
    wanted = {
        stem: what
        for stem, what in meant.items()
        if what is not None and what not in known
    }
    if not wanted or len(set(wanted.values())) < len(wanted):
        return table
    with explained(table.name, table.fault):
        results = next(
            (stem for stem, what in wanted.items() if what == "retrieved"), None
        )
        for stem in groups.keys() - wanted.keys():
            some = table.rows(pl.col(groups[stem]).cast(pl.String))
            if results is not None and score_in_order(some, groups[stem]):
                table = _without(table, groups[stem])
                continue
            _refuse_numbers(table, groups[stem], groups[next(iter(wanted))], apart=apart)
        for stem, what in wanted.items():
            _refuse_pivot(table, groups[stem])
            table = _merge_columns(table, groups[stem], what)
    return table


def _without(table: InputTable, columns: list[str]) -> InputTable:
    """The table without some columns."""
    kept = [name for name in table.names() if name not in columns]
    return table.then(
        lambda rows: rows.select(kept), columns=frozenset(kept), listed=tuple(kept)
    )


def _refuse_pivot(table: InputTable, columns: list[str]) -> None:
    """Refuse columns that are named for items and hold grades: a table turned on its side."""
    some = table.rows(pl.col(columns).cast(pl.String), most=SOME)
    cells = Profile(
        columns[0], pl.concat([some[column].alias("cell") for column in columns])
    )
    numbers = cells.kind == "numbers" and cells.different <= 4 and "0" in cells.cells
    if cells.kind == "judgements" or numbers:
        raise InvalidInput(
            f"Write one row for each judgement, with the columns question, chunk_id and grade: "
            f"{', '.join(columns[:3])} of {table.name} seem to be items, and their cells grades."
        )


def _meaning(stem: str, role: Role) -> str | None:
    """The field for columns with this name: target ids, target texts, or retrieved ids."""
    spellings = {stem, f"{stem}s", f"{stem}_id", f"{stem}_ids"}
    if stem in ROW["rank"]:
        return "retrieved"  # the result at rank 1, at rank 2 …
    if spellings & {*RETURNED_IDS} or possible_meaning(stem) == "retrieved":
        return "retrieved"
    if spellings & {*QUOTE} or possible_meaning(stem) == "quote":
        return "quote"
    if spellings & {*ROW["item"]} or possible_meaning(stem) == "item":
        return "retrieved" if role == "run" else "item"
    return None


def _refuse_numbers(
    table: InputTable, others: list[str], columns: list[str], *, apart: bool
) -> None:
    """Refuse grades beside numbered columns, unless the user says that they are.

    Where what is expected stands ``apart``, they are likelier not to be read.
    """
    cells = table.rows(pl.col(others).cast(pl.String))
    profile = Profile(others[0], pl.concat([cells[one].alias("cell") for one in others]))
    if not profile.holds_grades:
        return
    found = table.names()
    grades = named_together(others, found)
    lines: list[Pairs] = [((IGNORE, grades),)]
    if len(others) == len(columns):
        results = named_together(columns, found)
        lines.insert(int(apart), (("retrieved", results), ("grade", grades)))
    raise Unclear(
        f"{table.name} has numbers in {', '.join(others[:3])} beside {', '.join(columns[:3])}, "
        "which may be the grades of these",
        *lines,
        otherwise="Write one row for each, with the columns question, chunk_id and grade",
    )


def _merge_columns(table: InputTable, columns: list[str], what: str) -> InputTable:
    if what != "quote":
        _refuse_several(table, columns)
    shown = (
        f"{columns[0]}, …, {columns[-1]}" if len(columns) > 2 else " and ".join(columns)
    )
    made = table.merged(columns, _CALLED[what], f"The columns {shown} are taken as one.")
    return replace(made, inferred=True)


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
    page = next(
        (plain[name] for name in ("page", *RESULT["page"]) if name in plain), None
    )
    names = renaming(found)
    known = set(names.values())
    if (
        page is None
        or role == "run"
        or known & {"score", "rank", "text", "retrieved", "quote"}
    ):
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
    return replace(table.merged((document, page), _PAGES, note, item), inferred=True)


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
