"""CSV and TSV as lazy tables of texts, and the line on which a row stands."""

import csv
import io

import polars as pl

from calipers.io.source import Source

SEPARATORS = ("\t", ",", ";")


def header(source: Source) -> tuple[list[str], str] | None:
    """The names in the first line and what divides them; None where nothing does."""
    line = source.head.replace(b"\r\n", b"\n").split(b"\n")[0]
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    for separator in SEPARATORS:
        if separator in text:
            return next(csv.reader([text], delimiter=separator)), separator
    return None


def scan(source: Source, separator: str) -> pl.LazyFrame:
    """The table, every cell a text; a compressed file is unpacked in memory."""
    with source.path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return pl.scan_csv(
        io.BytesIO(source.read()) if packed else source.path,
        separator=separator,
        infer_schema=False,
    )


def line_of(source: Source, row: int, separator: str) -> str:
    """The line on which the n-th row of data ends; quoted cells may hold line ends."""
    text = source.read().decode(errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    seen = -2
    for cells in reader:
        seen += bool(cells)
        if seen == row:
            return f"{source.name}:{reader.line_num}"
    return source.name


def fault(source: Source, width: int, separator: str) -> str | None:
    """The first line that cannot be read as a row, in words; None where all can."""
    for number, line in source.lines():
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return (
                f"{source.name}:{number}:{error.start + 1} is not valid UTF-8 (byte "
                f"{line[error.start]:#04x}); save the file as UTF-8."
            )
    reader = csv.reader(io.StringIO(source.read().decode(), newline=""), delimiter=separator)
    for cells in reader:
        if len(cells) > width:
            return (
                f"{source.name}:{reader.line_num} has {len(cells)} cells, and the header has "
                f"{width}; put quotation marks around a cell that holds {separator!r}."
            )
    return None


ARMED = r"^'*[=+\-@\t\r]"
"""A text that a spreadsheet would run, with any apostrophes that already disarm it."""


def disarmed(text: pl.Expr) -> pl.Expr:
    """An apostrophe before what a spreadsheet would run as a formula."""
    return pl.when(text.str.contains(ARMED)).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)


def rearmed(text: pl.Expr) -> pl.Expr:
    """The text as it was before :func:`disarmed`."""
    return (
        pl.when(text.str.contains(ARMED) & text.str.starts_with("'"))
        .then(text.str.slice(1))
        .otherwise(text)
    )
