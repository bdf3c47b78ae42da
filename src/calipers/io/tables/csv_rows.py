"""Rows of CSV and TSV files: large ones in blocks, and those with quotation marks inside of cells.

The table library maps a file into memory, and reads far ahead of who takes what it read. Marks in
cells that have none around them, such as ``5" pipe``, it refuses with the whole file; Python's own
reader and pandas take them as they are.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.files.open import HEAD, Source
from calipers.io.files.write import unguarded
from calipers.names import BEIR_JUDGEMENTS
from calipers.prefetch import ahead

LONGEST_ROW = 1 << 28
"""More bytes behind a quotation mark that nobody closes are no cell."""
SAID = re.compile(rb"sep=([\t !#-~])\s*\Z", re.IGNORECASE)
"""The first line with which a spreadsheet says what divides its cells."""

Blocks = Callable[[], Iterator[pl.DataFrame]]


def csv_columns(source: Source, separator: str) -> dict[str, pl.DataType]:
    """The names of the columns, each once; all hold texts."""
    header = _header(source)
    return dict(pl.read_csv(header, separator=separator, infer_schema=False, n_rows=0).schema)


def csv_blocks(source: Source, separator: str) -> Iterator[pl.DataFrame]:
    """The rows with every cell a text, some at a time."""
    schema = csv_columns(source, separator)

    def parsed(block: bytes) -> pl.DataFrame:
        if not block:
            return pl.DataFrame(schema=schema)
        found = pl.read_csv(block, separator=separator, has_header=False, schema=schema)
        # A line with nothing in it is no row, as everywhere.
        if b"\n\n" in block or b"\n\r\n" in block or block[:1] in b"\r\n":
            found = found.filter(~pl.all_horizontal(pl.all().is_null()))
        # Hardly any file has a guard.
        if b"'" in block and not schema.keys() >= BEIR_JUDGEMENTS:
            found = found.select(unguarded(pl.all()))
        return found

    blocks = _whole_rows(source.blocks(as_is=True), source.name)
    first = next(blocks).removeprefix(_header(source))
    return ahead(parsed, chain((first,), blocks))


def _header(source: Source) -> bytes:
    """The first row."""
    header = next(_whole_rows(iter(source.head.splitlines(keepends=True)), source.name))
    if len(header) >= HEAD - 3:
        raise UnreadableFile(
            f"The first line of {source.name} is longer than {HEAD >> 10} kB; it must hold the "
            "names of the columns."
        )
    return header


def lazily(schema: Mapping[str, pl.DataType], frames: Blocks) -> pl.LazyFrame:
    """The table that some blocks make together."""
    from polars.io.plugins import register_io_source

    def taken(
        columns: list[str] | None, _: pl.Expr | None, most: int | None, __: int | None
    ) -> Iterator[pl.DataFrame]:
        for frame in frames():
            part = frame if columns is None else frame.select(columns)
            yield part if most is None else part.head(most)
            if most is not None:
                most -= part.height
                if most <= 0:
                    return

    return register_io_source(taken, schema=dict(schema))


def _whole_rows(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Blocks of lines as blocks of rows: a cell between quotation marks may go on in the next."""
    rest = b""
    for block in blocks:
        whole = rest + block if rest else block
        end = len(whole)
        is_open = whole.count(b'"') % 2
        while is_open and end:
            begin = whole.rfind(b"\n", 0, end - 1) + 1
            is_open ^= whole.count(b'"', begin, end) % 2
            end = begin
        rest = whole[end:]
        if len(rest) > LONGEST_ROW:
            break
        if end:
            yield whole[:end] if rest else whole
    if rest:
        raise UnreadableFile(
            f"A quotation mark is not closed in {name}, in one of its last {len(rest):,} bytes; "
            "put marks around the whole cell, and write those inside of it twice."
        )


def line_of(source: Source, separator: str, row: int) -> str:
    """The line on which the n-th row of data ends; quoted cells may hold line ends."""
    seen = -3 if SAID.match(source.head.split(b"\n")[0]) else -2
    for line, cells in _cells(source, separator):
        seen += any(cells)
        if seen == row:
            return f"{source.name}:{line}"
    return source.name


def fault_in(source: Source, width: int, separator: str) -> str | None:
    """The first line that cannot be read as a row, in words; None where all can."""
    for number, line in source.lines():
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return (
                f"{source.name}:{number}:{error.start + 1} is not valid UTF-8 (byte "
                f"{line[error.start]:#04x}); save the file as UTF-8."
            )
    for number, cells in _cells(source, separator):
        if len(cells) > width:
            return (
                f"{source.name}:{number} has {len(cells)} cells, and the header has "
                f"{width}; put quotation marks around a cell that holds {separator!r}."
            )
    return None


def _cells(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, and the line on which it ends."""
    lines = (
        f"{part}\n"
        for _, line in source.lines()
        for part in line.decode(errors="replace").split("\r")
    )
    with long_cells():
        reader = csv.reader(lines, delimiter=separator)
        for cells in reader:
            yield reader.line_num, cells


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
