"""A title above the header of a table, as spreadsheets have it."""

import csv
import re

import polars as pl

from calipers.io.tables.scan import SAID, SEPARATORS, InputTable
from calipers.io.tables.usual_names import is_long

_LOOKED_AT = 12
"""Rows among which the header of a table is looked for."""
_AS_WIDE = 3
"""Rows that are as wide as the header, with the header itself."""
_NO_NAME = re.compile(r"column \d+|Unnamed: \d+|_duplicated_\d+")
"""What a column is called whose header is empty."""
_SHOWN = 3
"""Names of columns that are shown."""


def header_below(table: InputTable | None, head: bytes, name: str) -> str | None:
    """What to do about a file whose header stands below its first row; None if it does not.

    ``table`` is given where its rows are no lines of text, as in a spreadsheet.
    """
    if table is not None:
        names = ["" if _NO_NAME.fullmatch(name) else name for name in table.names()]
        with_names = [names, *table.rows(pl.all(), most=_LOOKED_AT).iter_rows()]
        rows = [[str(cell or "").strip() for cell in row] for row in with_names]
        found = _header(rows, divided=True)
        where = (
            table.where(found[0] - 1).replace("the header", "the first") if found else ""
        )
    else:
        found = _in_text(head)
        where = f"{name}:{found[0] + 1}" if found else ""
    if found is None:
        return None
    names = found[1]
    more = ", …" if len(names) > _SHOWN else ""
    return (
        f"Take out what stands above the table in {name}: the names of its columns seem to be at "
        f"{where} ({', '.join(names[:_SHOWN]):.80}{more})."
    )


def _in_text(head: bytes) -> tuple[int, list[str]] | None:
    """The number of the line that holds the header below the first, and its names."""
    lines = head.decode(errors="replace").splitlines()[:_LOOKED_AT]
    if SAID.match(head.split(b"\n")[0]):
        return None  # what stands above the table names its separator
    for sign in SEPARATORS:
        # Line by line: a title may hold a quotation mark.
        rows = [next(csv.reader([line], delimiter=sign), []) for line in lines]
        found = _header([[cell.strip() for cell in row] for row in rows])
        if found is not None:
            return found
    return None


def _header(
    rows: list[list[str]], *, divided: bool = False
) -> tuple[int, list[str]] | None:
    """The first row that names a question and more columns than any row above it.

    Rows of a spreadsheet are ``divided`` for certain, whatever signs stand in a title.
    """
    widest = max(1, sum(map(bool, rows[0]))) if rows else 0
    for number, row in enumerate(rows[1:], 1):
        names = [cell for cell in row if cell]
        is_wider = len({*names}) == len(names) > widest
        if is_wider and (is_long(names) or _begins_a_table(rows, number, divided)):
            return number, names
        widest = max(widest, len(names))
    return None


def _begins_a_table(rows: list[list[str]], number: int, divided: bool) -> bool:
    """Whether a row below a title of one cell is as wide as the rows that follow it.

    One of these may lack its first cell, which is merged with the one above.
    """
    first = [cell for cell in rows[0] if cell]
    if len(first) != 1:
        return False
    if not divided and any(sign in first[0] for sign in SEPARATORS):
        return False
    widths = [sum(map(bool, row)) for row in rows[number : number + _AS_WIDE]]
    merged = [row for row in rows[number + 1 : number + _AS_WIDE] if row and not row[0]]
    even = {*widths} == {widths[0], widths[0] - 1} if merged else len({*widths}) == 1
    has_numbers = any(cell.replace(".", "").isdigit() for cell in rows[number])
    return len(widths) == _AS_WIDE and even and not has_numbers
