"""Columns that are one together: ``Chunk 1``, ``Chunk 2``, …, or a document and its page."""

import re

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.columns import renaming
from calipers.io.tables.grades import holds_grades
from calipers.io.tables.scan import Table, cell_texts, explained
from calipers.model.matched import Role
from calipers.model.pages import MARK
from calipers.names import QUOTE, RESULT, RETURNED_IDS, ROW, plain_name, possible_meaning

_NUMBERED = re.compile(r"(.*[^\d_])_?(\d{1,3})")
_CALLED = {"item": "expected_chunks", "quote": "quotes", "retrieved": "retrieved_ids"}
"""What the one column is called, so that it is understood."""
_SEVERAL = r"[;|\n]"
_FILES = ("document", "file", "file_name", "filename", "file_path", "source", "path", "pdf", "url")
"""What the column of documents may be called, where another has the page."""
_PAGES = "expected_ids"
"""What the pages are called, so that they are understood as ids that should be found."""


def numbered_as_one(table: Table, role: Role) -> Table:
    """The table with the columns of a number each made one, in the order of the numbers."""
    found = table.names()
    groups = _groups(found)
    known = set(renaming(found).values())
    meant = {stem: _meaning(stem, role) for stem in groups}
    wanted = {stem: what for stem, what in meant.items() if what is not None and what not in known}
    if not wanted or len(set(wanted.values())) < len(wanted):
        return table
    with explained(table.name, table.fault):
        for stem in groups.keys() - wanted.keys():
            _refuse_numbers(table, groups[stem], groups[next(iter(wanted))])
        for stem, what in wanted.items():
            table = _as_one(table, groups[stem], what)
    return table


def _groups(columns: list[str]) -> dict[str, list[str]]:
    """Columns that differ in their number alone, at least two, numbered from 0 or 1 on."""
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        form = _NUMBERED.fullmatch(plain_name(column))
        if form is not None:
            found.setdefault(form[1], {}).setdefault(int(form[2]), column)
    return {
        stem: [columns[n] for n in sorted(columns)]
        for stem, columns in found.items()
        if len(columns) > 1 and sorted(columns) == list(range(min(columns), max(columns) + 1))
        if min(columns) in (0, 1)
    }


def _meaning(stem: str, role: Role) -> str | None:
    """What columns with this name are: ids or texts to find, or ids that were found."""
    spellings = {stem, f"{stem}s", f"{stem}_id", f"{stem}_ids"}
    if spellings & {*RETURNED_IDS} or possible_meaning(stem) == "retrieved":
        return "retrieved"
    if spellings & {*QUOTE} or possible_meaning(stem) == "quote":
        return "quote"
    if spellings & {*ROW["item"]} or possible_meaning(stem) == "item":
        return "retrieved" if role == "run" else "item"
    return None


def _refuse_numbers(table: Table, others: list[str], columns: list[str]) -> None:
    """Refuse grades that stand beside numbered columns: which belongs to which is a guess."""
    cells = table.open().select(pl.col(others).cast(pl.String)).collect()
    if holds_grades(pl.concat([cells[one].alias("cell") for one in others])):
        raise InvalidInput(
            f"{table.name} has numbers in {', '.join(others[:3])} beside {', '.join(columns[:3])}, "
            "which may be the grades of these; write one row for each, with the columns question, "
            "chunk_id and grade."
        )


def _as_one(table: Table, columns: list[str], what: str) -> Table:
    if what != "quote":
        _refuse_several(table, columns)
    one = pl.concat_list(map(cell_texts, columns)).list.drop_nulls()
    shown = f"{columns[0]}, …, {columns[-1]}" if len(columns) > 2 else " and ".join(columns)
    return table.merged(columns, one, _CALLED[what], f"The columns {shown} are taken as one.")


def _refuse_several(table: Table, columns: list[str]) -> None:
    cells = table.open().select(pl.col(columns).cast(pl.String)).collect()
    for name in columns:
        several = cells[name].str.contains(_SEVERAL).fill_null(False).arg_true()
        if len(several):
            raise InvalidInput(
                f"A cell of {name!r} holds several ids at {table.where(int(several[0]))}, and "
                f"{', '.join(columns[:2])}, … hold one each; write one id into each cell, or all "
                "of a question into one column."
            )


def pages_as_items(table: Table, role: Role) -> Table:
    """The table with its pages as ids that should be found, where it has nothing else to find."""
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
        # A list of one: the name of a file may hold signs that divide ids.
        item = pl.concat_list(item).list.drop_nulls()
    note = f"Each row names a page: {document!r} and {page!r} together."
    return table.merged((document, page), item, _PAGES, note)


def _refuse_half(table: Table, document: str, page: str) -> None:
    cells = table.open().select(cell_texts(document), cell_texts(page)).collect()
    half = (cells[document].is_null() != cells[page].is_null()).arg_true()
    if len(half):
        row = int(half[0])
        lacking = document if cells[document][row] is None else page
        raise InvalidInput(
            f"A page is named by {document!r} and {page!r} together, and {lacking!r} is blank at "
            f"{table.where(row)}; fill it in, or leave both out."
        )
