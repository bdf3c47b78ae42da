"""Tables that name pages: a document and its page, in two columns, are one thing to find."""

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.columns import renaming
from calipers.io.tables.scan import Table, cell_texts, explained
from calipers.model.matched import Role
from calipers.model.pages import MARK
from calipers.names import RESULT, plain_name

_FILES = ("document", "file", "file_name", "filename", "file_path", "source", "path", "pdf", "url")
"""What the column of documents may be called, where another has the page."""
_CALLED = "expected_ids"
"""What the pages are called, so that they are understood as ids that should be found."""


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
    return table.merged((document, page), item, _CALLED, note)


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
