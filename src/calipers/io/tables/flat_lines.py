"""Flat records of JSON, one on each line, as a table that is read in blocks.

All cells are texts, as in a CSV file; what must be a number is made one later. A file whose cells
hold lists or objects is no such table. Blocks of plain records are decoded all at once; a block
with anything odd in it is read line by line, which gives the same texts and says where it is wrong.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.records.json_files import BROKEN, as_record, decoded
from calipers.io.tables.columns import Columns, renaming
from calipers.io.tables.csv_rows import lazily
from calipers.io.tables.scan import Table

LEAST = 4 << 20
"""Files with fewer bytes are read whole, which keeps the kinds of their values."""
FIRST = 1000
"""So many records show which fields there are, and whether they are flat."""
_WHOLE = 1 << 53
_PLAIN = str | int | float | None


def flat_lines(source: Source, said: Columns) -> Table | None:
    """The table in a large file of flat records; None where it is small or not flat."""
    if not source.path.is_file() or source.path.stat().st_size < LEAST:
        return None
    keys: dict[str, None] = {}
    for number, (_, row) in enumerate(_records(source.lines(), source)):
        if number == FIRST:
            break
        if any(isinstance(value, list | dict) for value in row.values()):
            return None
        keys.update(dict.fromkeys(row))
    names = list(keys)
    scores = [key for key, meaning in renaming(names).items() if meaning == "score"]
    table = Table(
        lambda: lazily(dict.fromkeys(names, pl.String()), lambda: _frames(source, names)),
        source.name,
        lambda row: _place(source, row),
        frozenset(names),
        listed=tuple(names),
        pieces=lambda: (frame.lazy() for frame in _frames(source, names, scores)),
    )
    return table.renamed(said)


def _frames(
    source: Source, keys: Sequence[str], numbers: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    """The records in blocks: all at once where they are plain, else one after the other.

    Of the fields that are ``numbers``, decimals stay what they are: most become numbers again.
    """
    fields = [
        (f"field_{i}", _PLAIN, msgspec.field(default=None, name=k)) for i, k in enumerate(keys)
    ]
    plain = msgspec.defstruct("Plain", fields, gc=False, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(plain)
    before = 0
    for block in source.blocks():
        lines = block.removesuffix(b"\n").count(b"\n") + 1
        rows = _plain_rows(block, lines, decoder)
        if rows is None:
            yield _carefully(block, before, keys, source)
        else:
            names = plain.__struct_fields__
            columns = (list(map(attrgetter(name), rows)) for name in names)
            yield pl.DataFrame(
                [
                    as_texts(values, decimals=key in numbers).alias(key)
                    for key, values in zip(keys, columns, strict=True)
                ]
            )
        before += lines


def _plain_rows(block: bytes, lines: int, decoder: Any) -> list[Any] | None:
    """The records of a block with one on each line; None where anything about them is odd.

    The decoder ends a record where it ends, not where its line does. No flat record goes on in a
    line that begins with a brace: where all lines do, and are as many as the records, each holds
    one.
    """
    if not block.startswith(b"{") or block.endswith(b"\n\n"):
        return None
    signs = np.frombuffer(block.removesuffix(b"\n"), np.uint8)
    if (signs[np.flatnonzero(signs == ord("\n")) + 1] != ord("{")).any():
        return None
    try:
        rows: list[Any] = decoder.decode_lines(block)
    except (*BROKEN, msgspec.ValidationError):
        return None
    return rows if len(rows) == lines else None


def as_texts(values: list[Any], *, decimals: bool = False) -> pl.Series:
    """Texts and numbers as texts, as Python writes them; ``decimals`` alone may stay numbers.

    >>> as_texts([1, None, 2.0, 0.5, 1e-7, "a"]).to_list()
    ['1', None, '2', '0.5', '1e-07', 'a']
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {str}:
        return pl.Series(values, dtype=pl.String)
    if kinds == {int}:
        try:
            return pl.Series(values, dtype=pl.Int64).cast(pl.String)
        except (OverflowError, TypeError):
            kinds = set()
    if kinds != {float}:
        return pl.Series(list(map(_text, values)), dtype=pl.String)
    numbers = pl.Series(values, dtype=pl.Float64)
    if decimals:
        return numbers
    size = numbers.abs()
    # Whole numbers lose their point; very small and very large ones have an exponent.
    other = ((numbers == numbers.floor()) | (size < 1e-4) | (size >= _WHOLE)).arg_true()
    return numbers.cast(pl.String).scatter(other, list(map(_text, numbers.gather(other))))


def _carefully(block: bytes, before: int, keys: Sequence[str], source: Source) -> pl.DataFrame:
    cells: dict[str, list[str | None]] = {key: [] for key in keys}
    lines = enumerate(block.removesuffix(b"\n").split(b"\n"), before + 1)
    for line, row in _records(lines, source):
        for key, column in cells.items():
            value = row.get(key)
            if isinstance(value, bool | list | dict):
                raise InvalidInput(
                    f"The field {key!r} holds {value!r:.60} at {source.name}:{line}, and a text "
                    "or a number in the records before; give all records the same form."
                )
            column.append(_text(value))
        if len(row) > len(cells) or any(key not in cells for key in row):
            _check_new(row, keys, source, line)
    return pl.DataFrame([pl.Series(key, one, dtype=pl.String) for key, one in cells.items()])


def _records(
    lines: Iterable[tuple[int, bytes]], source: Source
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        if line.strip():
            yield number, as_record(decoded(line, source, number), f"{source.name}:{number} $")


def _text(value: str | float | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        # An id such as 7.0 was a whole number before a missing value made its column floats.
        return str(int(value))
    return str(value)


def _check_new(row: dict[str, Any], keys: Sequence[str], source: Source, line: int) -> None:
    """Refuse a field that matters and that the first records do not have."""
    new = [key for key in row if key not in keys and renaming([key])]
    if new:
        raise InvalidInput(
            f"The field {new[0]!r} is at {source.name}:{line}, and not in the first {FIRST:,} "
            "records, which show what the file holds; write it into all of them (null where it is "
            "empty)."
        )


def _place(source: Source, row: int) -> str:
    for number, (line, _) in enumerate(_records(source.lines(), source)):
        if number == row:
            return f"{source.name}:{line} $"
    return source.name
