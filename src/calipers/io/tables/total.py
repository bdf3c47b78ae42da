"""A last row that sums a table up, as spreadsheets have it."""

import polars as pl

from calipers.errors import SumRow
from calipers.io.tables.cells import number_in
from calipers.io.tables.profile import SOME
from calipers.io.tables.scan import ROW, InputTable
from calipers.names import total_in


def refuse_total(frame: pl.DataFrame, table: InputTable) -> None:
    """Refuse a last row that sums the table up: it is no question.

    It is called a total, and in place of an id it has nothing, a number as no other row, or
    the number of the rows or questions above.
    """
    named = [name for name in ("query_text", "query") if name in frame.columns]
    if frame.height < 2:
        return
    last = frame.tail(1)
    total = next(filter(None, (total_in(last[name][0]) for name in named)), None)
    if total is None:
        return
    above = frame.head(-1)
    counts = {above.height, *(above[name].n_unique() for name in named)}
    items = [frame[name] for name in ("item", "quote") if name in frame.columns]
    if all(_ends_in_no_id(column, counts) for column in items):
        raise SumRow(table.name, table.where(int(last[ROW][0])), total)


def _ends_in_no_id(column: pl.Series, counts: set[int]) -> bool:
    """Whether the last cell is empty, a count, or a number in a column of other ids."""
    *cells, last = column.tail(SOME).to_list()
    if last is None or last == [] or not str(last).strip():
        return True
    others = [cell for cell in cells if cell is not None]
    if not _is_number(last):
        return False
    return number_in(str(last)) in counts or not any(map(_is_number, others))


def _is_number(cell: object) -> bool:
    """Whether a cell is one number."""
    return not isinstance(cell, list) and number_in(str(cell)) is not None
