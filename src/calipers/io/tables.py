"""Tables on their way in, lazily read: from CSV and TSV, Parquet, Arrow, or memory.

Which form a table has is decided elsewhere; here are its columns, its rows, and the line on
which a row stands.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.guard import unguarded
from calipers.io.source import Source
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.run import RUN_SCHEMA
from calipers.names import BEIR_JUDGEMENTS, QUERY_ID, QUERY_TEXT, ROW, lowered

LONGEST_CELL = 1 << 30
MOST_COLUMNS = 5_000
"""The table library takes some 20 kB for each, however little it holds."""
SEPARATORS = ("\t", ",", ";")

Where = Callable[[int], str]


@dataclass(frozen=True)
class Table:
    """A table on its way in: lazily read, with its name and the place of each row."""

    open: Callable[[], pl.LazyFrame]
    name: str
    where: Where
    columns: frozenset[str]
    """The names of the columns, as the file has them."""
    fault: Callable[[], str | None] = lambda: None
    """What is wrong with the file, where the table library cannot say on which line."""

    @cached_property
    def lazy(self) -> pl.LazyFrame:
        """The table itself, opened when somebody wants more than the names of its columns."""
        return self.open()


def in_memory(lazy: pl.LazyFrame, name: str) -> Table:
    """A table whose rows have numbers and no lines."""
    with explained(name):
        columns = frozenset(lazy.collect_schema().names())
    return Table(lambda: lazy, name, lambda row: f"{name}, row {row + 1}", columns)


@contextmanager
def explained(name: str, fault: Callable[[], str | None] | None = None) -> Iterator[None]:
    """Complaints of the table library as our sentence."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise UnreadableFile(
            (fault() if fault else None)
            or f"The table {name} cannot be read: {first}; write it again, or check its form."
        ) from error


def delimited(source: Source) -> Table | None:
    """The table in a CSV or TSV file; None where nothing divides its first line."""
    found = header(source)
    if found is None:
        return None
    names, separator = found
    if len(names) > MOST_COLUMNS:
        raise UnreadableFile(
            f"The table {source.name} has {len(names):,} columns in its first line, and "
            f"{MOST_COLUMNS:,} are allowed; keep those that are needed, or check what divides them."
        )

    def scan() -> pl.LazyFrame:
        lazy = _scan(source, separator)
        if frozenset(names) >= BEIR_JUDGEMENTS:
            return lazy
        return lazy.select(unguarded(pl.all()))

    def where(row: int) -> str:
        return _line_of(source, row, separator)

    fault = partial(_fault, source, len(names), separator)
    return Table(scan, source.name, where, frozenset(names), fault)


def header(source: Source) -> tuple[list[str], str] | None:
    """The names in the first line and what divides them; None where nothing does."""
    line = source.head.replace(b"\r\n", b"\n").split(b"\n")[0]
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    for separator in SEPARATORS:
        if separator in text:
            try:
                return next(csv.reader([text], delimiter=separator)), separator
            except csv.Error:  # a line end where none can be
                return None
    return None


def _scan(source: Source, separator: str) -> pl.LazyFrame:
    """The table, every cell a text; a compressed file is unpacked in memory."""
    with source.path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return pl.scan_csv(
        io.BytesIO(source.read()) if packed else source.path,
        separator=separator,
        infer_schema=False,
    )


def _line_of(source: Source, row: int, separator: str) -> str:
    """The line on which the n-th row of data ends; quoted cells may hold line ends."""
    text = source.read().decode(errors="replace")
    seen = -2
    with long_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for cells in reader:
            seen += bool(cells)
            if seen == row:
                return f"{source.name}:{reader.line_num}"
    return source.name


def _fault(source: Source, width: int, separator: str) -> str | None:
    """The first line that cannot be read as a row, in words; None where all can."""
    for number, line in source.lines():
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return (
                f"{source.name}:{number}:{error.start + 1} is not valid UTF-8 (byte "
                f"{line[error.start]:#04x}); save the file as UTF-8."
            )
    with long_cells():
        reader = csv.reader(io.StringIO(source.read().decode(), newline=""), delimiter=separator)
        for cells in reader:
            if len(cells) > width:
                return (
                    f"{source.name}:{reader.line_num} has {len(cells)} cells, and the header has "
                    f"{width}; put quotation marks around a cell that holds {separator!r}."
                )
    return None


@contextmanager
def long_cells() -> Iterator[None]:
    """Let cells be as long as texts are: Python's own limit is 128 kB, and is one for all."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def is_long(columns: Iterable[str]) -> bool:
    """Whether one of the columns names the query."""
    return "query" in renaming(sorted(columns)).values()


def renaming(columns: list[str]) -> dict[str, str]:
    """The columns that are understood, each with our name for it.

    Where one column is an id of the query and another its text, the id is the query.

    >>> renaming(["qid", "query", "docno", "rank", "note"])
    {'qid': 'query', 'query': 'query_text', 'docno': 'item', 'rank': 'rank'}
    """
    lower = lowered(columns)
    chosen: dict[str, str] = {}
    ident = next((name for name in QUERY_ID if name in lower), None)
    text = next((name for name in QUERY_TEXT if name in lower), None)
    if text and (ident or (text == "query_text" and "query" in lower)):
        chosen[lower[text]] = "query_text"
        chosen[lower[ident or "query"]] = "query"
    for ours in (*TARGET_SCHEMA, *RUN_SCHEMA):
        free = (lower[n] for n in ROW.get(ours, (ours,)) if n in lower and lower[n] not in chosen)
        theirs = next(free, None)
        if theirs is not None and ours not in chosen.values():
            chosen[theirs] = ours
    return {column: chosen[column] for column in columns if column in chosen}
