"""CSV with quotation marks inside of cells that have none around them, such as ``5" pipe``.

Python's own reader and pandas take them as they are; the table library refuses the whole file.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from calipers.errors import UnreadableFile

LONGEST_CELL = 1 << 30


def read_loosely(content: bytes, separator: str, name: str) -> pl.LazyFrame | None:
    """The table, where only Python's reader takes it; None where the table library does."""
    if b'"' not in content:
        return None
    try:
        pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        return _by_python(content, separator, name)
    return None


def _by_python(content: bytes, separator: str, name: str) -> pl.LazyFrame | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None  # whoever reads it says where
    rows: list[list[str | None]] = []
    with long_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            header = next(reader)
            for cells in reader:
                if len(cells) > len(header):
                    return None  # said with its line by whoever reads it
                if cells:
                    filled: list[str | None] = [one or None for one in cells]
                    rows.append(filled + [None] * (len(header) - len(cells)))
        except csv.Error as error:
            raise UnreadableFile(
                f"A quotation mark is not closed before {name}:{reader.line_num}, or a text goes "
                f"on behind it ({error}); put marks around the whole cell, and write those inside "
                "of it twice."
            ) from None
    return pl.LazyFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")


@contextmanager
def long_cells() -> Iterator[None]:
    """Let cells be as long as texts are: Python's own limit is 128 kB, and is one for all."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
