"""Flat records of JSON, one on each line, as a table that is read in blocks.

All cells are texts, as in a CSV file; what must be a number is made one later. A file whose cells
hold lists or objects is no such table. Of a million records read whole, the time is half as much
again, and the memory nearly twice as much.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.records.json_files import BROKEN, explain_broken
from calipers.io.tables.columns import Columns, renaming
from calipers.io.tables.scan import Table

LEAST = 4 << 20
"""Files with fewer bytes are read whole, which keeps the kinds of their values."""
FIRST = 1000
"""So many records show which fields there are, and whether they are flat."""
_WHOLE = 1 << 53


def flat_lines(source: Source, said: Columns) -> Table | None:
    """The table in a large file of flat records; None where it is small or not flat."""
    if not source.path.is_file() or source.path.stat().st_size < LEAST:
        return None
    keys: dict[str, None] = {}
    for number, (_, row) in enumerate(_records(source)):
        if number == FIRST:
            break
        if any(isinstance(value, list | dict) for value in row.values()):
            return None
        keys.update(dict.fromkeys(row))
    table = Table(
        lambda: _lazy(source, tuple(keys)),
        source.name,
        lambda row: _place(source, row),
        frozenset(keys),
        listed=tuple(keys),
    )
    return table.renamed(said)


def _lazy(source: Source, keys: tuple[str, ...]) -> pl.LazyFrame:
    from polars.io.plugins import register_io_source

    def frames(
        columns: list[str] | None, _: pl.Expr | None, most: int | None, __: int | None
    ) -> Iterator[pl.DataFrame]:
        for frame in _frames(source, keys):
            part = frame if columns is None else frame.select(columns)
            if most is None:
                yield part
                continue
            yield part.head(most)
            most -= part.height
            if most <= 0:
                return

    return register_io_source(frames, schema=dict.fromkeys(keys, pl.String()))


def _frames(source: Source, keys: tuple[str, ...], rows: int = 100_000) -> Iterator[pl.DataFrame]:
    cells: dict[str, list[str | None]] = {key: [] for key in keys}
    for line, row in _records(source):
        for key, column in cells.items():
            column.append(_text(row.get(key), key, source, line))
        if len(row) > len(cells) or any(key not in cells for key in row):
            _check_new(row, keys, source, line)
        if len(column) == rows:
            yield _frame(cells)
            cells = {key: [] for key in keys}
    yield _frame(cells)


def _frame(cells: dict[str, list[str | None]]) -> pl.DataFrame:
    return pl.DataFrame([pl.Series(key, one, dtype=pl.String) for key, one in cells.items()])


def _records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    decode = msgspec.json.Decoder().decode
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            row = decode(line)
        except BROKEN as error:
            raise UnreadableFile(explain_broken(str(error), line, source, number)) from None
        if not isinstance(row, dict):
            raise InvalidInput(
                f"A record is {row!r:.60} at {source.name}:{number} $; it must be an object."
            )
        yield number, row


def _text(value: Any, key: str, source: Source, line: int) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | list | dict):
        raise InvalidInput(
            f"The field {key!r} holds {value!r:.60} at {source.name}:{line}, and a text or a "
            "number in the records before; give all records the same form."
        )
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        # An id such as 7.0 was a whole number before a missing value made its column floats.
        return str(int(value))
    return str(value)


def _check_new(row: dict[str, Any], keys: tuple[str, ...], source: Source, line: int) -> None:
    """Refuse a field that matters and that the first records do not have."""
    new = [key for key in row if key not in keys and renaming([key])]
    if new:
        raise InvalidInput(
            f"The field {new[0]!r} is at {source.name}:{line}, and not in the first {FIRST:,} "
            "records, which show what the file holds; write it into all of them (null where it is "
            "empty)."
        )


def _place(source: Source, row: int) -> str:
    for number, (line, _) in enumerate(_records(source)):
        if number == row:
            return f"{source.name}:{line} $"
    return source.name
