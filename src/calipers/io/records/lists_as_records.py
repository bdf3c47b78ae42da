"""Records that are written as lists: ``["question", ["a", "b"], ["a"]]``.

Nothing says which value is what, so each gets the name of its column, ``column 1``, as a cell below
no name does. Where the first list holds the names, as in ranges of a spreadsheet, these are taken.
"""

from collections.abc import Sequence

from calipers.io.files.open import Source
from calipers.io.records.json_files import BROKEN, MOST_COLUMNS, opened
from calipers.io.tables.usual_names import is_long


def lists_in(source: Source) -> list[object]:
    """The values of a JSON list of lists, or the lists on each line; none if it is broken."""
    content = source.read().strip()
    whole = opened(content)
    if isinstance(whole, list) and all(isinstance(row, list) for row in whole):
        return whole
    try:
        lines = [opened(line) for line in content.splitlines() if line.strip()]
    except BROKEN:
        return []
    return lines if all(isinstance(row, list) for row in lines) else []


def as_records(rows: Sequence[object]) -> list[object]:
    """Records of lists with a text first, all of the same length; none if they are no such."""
    lists = [list(row) for row in rows if isinstance(row, list | tuple)]
    width = len(lists[0]) if lists else 0
    if len(lists) < max(1, len(rows)) or not 1 < width <= MOST_COLUMNS:
        return []
    if any(len(row) != width or not isinstance(row[0], str) for row in lists):
        return []
    names = [f"column {number}" for number in range(1, width + 1)]
    first = [cell for cell in lists[0] if isinstance(cell, str)]
    if len({*first}) == width and is_long(first):
        names = first
        lists = lists[1:]
    return [dict(zip(names, row, strict=True)) for row in lists]
