"""Read tables lazily from CSV and TSV, Parquet, Arrow, or memory.

This module gives the columns and rows of a table, and the line of each row; ``registry`` detects
its format. Polars maps a file into memory and reads far ahead, so a large CSV file is read here
block by block. Polars refuses a single quotation mark in an unquoted cell, such as ``5" pipe``,
with the whole file; so the line is searched that has it.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from calipers.errors import CalipersError, InvalidInput, UnreadableFile, said_by
from calipers.frozen import dataclass
from calipers.io.files.open import HEAD, Source, not_utf8
from calipers.io.files.write import unguarded
from calipers.io.tables.columns import Columns, judged_together
from calipers.io.tables.usual_names import IGNORED, as_meant, is_long
from calipers.names import BEIR_JUDGEMENTS
from calipers.prefetch import ahead

LONGEST_ROW = 1 << 28
"""Most bytes after an unclosed quotation mark before the file is refused."""
SAID = re.compile(rb"sep=([\t !#-~])\s*\Z", re.IGNORECASE)
"""The first line in which a spreadsheet declares its separator."""

Blocks = Callable[[], Iterator[pl.DataFrame]]


def csv_columns(source: Source, separator: str) -> dict[str, pl.DataType]:
    """The columns of the file with their type, always text."""
    table = pl.read_csv(
        _header(source), separator=separator, infer_schema=False, n_rows=0
    )
    return {as_meant(name): kind for name, kind in table.schema.items()}


def csv_blocks(source: Source, separator: str) -> Iterator[pl.DataFrame]:
    """Yield the rows in blocks, every cell a text."""
    schema = csv_columns(source, separator)

    def parsed(block: bytes) -> pl.DataFrame:
        if not block:
            return pl.DataFrame(schema=schema)
        found = pl.read_csv(block, separator=separator, has_header=False, schema=schema)
        # A line with nothing in it is no row, as everywhere.
        if b"\n\n" in block or b"\n\r\n" in block or block[:1] in b"\r\n":
            found = found.filter(~pl.all_horizontal(pl.all().is_null()))
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
    """A lazy table over blocks."""
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
    """Regroup blocks of lines into blocks of rows: a quoted cell may continue in the next block."""
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
    """A description of the first line that cannot be read as a row, or None."""
    for number, line in source.lines():
        if said := not_utf8(line, source.name, number):
            return said
    for number, cells in _cells(source, separator):
        if len(cells) > width:
            return (
                f"{source.name}:{number} has {len(cells)} cells, and the header has "
                f"{width}; put quotation marks around a cell that holds {separator!r}."
            )
    odd = (number for number, line in source.lines() if line.count(b'"') % 2)
    if (first := next(odd, None)) is not None:
        return (
            f"A quotation mark is not closed, or stands inside of a cell, from {source.name}:"
            f"{first} on; put marks around the whole cell, and write those inside of it twice."
        )
    return None


def _cells(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, and the line on which it ends."""
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


@contextmanager
def long_cells() -> Iterator[None]:
    """Lift Python's global limit of 128 kB per cell, which is too short for texts."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


SMALL = 32 << 20
"""Largest file that is read whole and kept."""
MOST_COLUMNS = 5_000
"""Polars needs about 20 kB per column, even if empty."""
SOME_ROWS = 10_000
STRETCH = 24 << 20
"""Rows of a Parquet file to read together: at least so many, up to so many bytes."""
ROW = "__row"
"""The column with the number of each row."""
SEPARATORS = ("\t", ",", ";", "|")

Where = Callable[[int], str]
JUDGED_ROW = ("item", "rank", "grade")
"""The columns of a row with one result, its place and its judgement."""


@dataclass(frozen=True)
class InputTable:
    """A lazily read table with its name and the place of each row."""

    open: Callable[[], pl.LazyFrame]
    name: str
    where: Where
    columns: frozenset[str]
    """The names of the columns."""
    fault: Callable[[], str | None] = lambda: None
    """A description of the error in the file, where polars cannot name the line."""
    decimal_comma: bool = False
    """Whether 1,5 may mean 1.5, as in files separated by semicolons."""
    notes: tuple[str, ...] = ()
    """Notes on how it was read, where that is not obvious."""
    listed: tuple[str, ...] = ()
    """The columns in order, if known before the table is opened."""
    pieces: Callable[[], Iterator[pl.LazyFrame]] | None = None
    """The same table some rows at a time, where polars would read far ahead."""
    ordered: bool = True
    """Whether the order of its rows has a meaning."""
    said: Columns = field(default_factory=Columns)
    """The user's column mapping."""
    quoted: bool = False
    """Whether texts are in quotes, as in JSON, so that an id may be called none."""
    inferred: bool = False
    """Whether columns were merged that nobody said belong together."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """What columns that were merged or renamed are called in the file."""
    trial: bool = False
    """Whether it is the head of a table, on which a mapping is tried."""

    def names(self) -> list[str]:
        """The columns in their order."""
        return list(self.listed) or self.open().collect_schema().names()

    def rows(self, *columns: Any, most: int | None = None) -> pl.DataFrame:
        """Some columns, or expressions over them; of the first rows only if ``most`` is given."""
        lazy = self.open().select(*columns)
        return (lazy if most is None else lazy.head(most)).collect()

    def then(
        self, step: Callable[[pl.LazyFrame], pl.LazyFrame], **changes: Any
    ) -> "InputTable":
        """The same table after one more row-wise step."""
        pieces = self.pieces
        return replace(
            self,
            open=lambda: step(self.open()),
            pieces=None if pieces is None else lambda: map(step, pieces()),
            **changes,
        )

    def merged(
        self,
        columns: Sequence[str],
        called: str,
        note: str | None,
        one: pl.Expr | None = None,
    ) -> "InputTable":
        """The same table with several columns merged into a list, or into ``one``, with a note."""
        kept = [name for name in self.names() if name not in columns]
        if one is None:
            one = pl.concat_list(map(cell_texts, columns)).list.drop_nulls()
        return self.then(
            lambda rows: rows.select(*kept, one.alias(called)),
            columns=frozenset((*kept, called)),
            listed=(*kept, called),
            notes=self.notes if note is None else (*self.notes, note),
            shown={**self.shown, called: range_of(columns)},
        )

    def with_row_for_each(
        self, results: Sequence[str], judgements: Sequence[str], left: Sequence[str] = ()
    ) -> "InputTable":
        """The same table with a row for each result that is not blank, its rank and its grade.

        The columns in ``left`` are left out.
        """
        found = [one for one in self.names() if one not in (*results, *judgements, *left)]
        names = {one: f"{one}{IGNORED}" if one in JUDGED_ROW else one for one in found}
        whole = self.rows(pl.all()).rename(names, strict=False).with_row_index("__place")
        item, order, grade = JUDGED_ROW
        parts = [
            whole.select(
                "__place",
                *names.values(),
                cell_texts(result).alias(item),
                pl.lit(rank).alias(order),
                pl.col(judgement).cast(pl.String).alias(grade),
            )
            for rank, (result, judgement) in enumerate(
                zip(results, judgements, strict=True), 1
            )
        ]
        rows = pl.concat(parts).drop_nulls(item).sort("__place", order)
        places = rows["__place"].to_list()
        frame = rows.drop("__place")
        return replace(
            self,
            open=frame.lazy,
            pieces=None,
            where=lambda row: self.where(places[row]),
            columns=frozenset(frame.columns),
            listed=tuple(frame.columns),
            shown={**self.shown, item: range_of(results), grade: range_of(judgements)},
            inferred=True,
        )

    def batches(self, columns: list[str], rows: int) -> Iterator[pl.DataFrame]:
        """Yield some columns of the table in batches of rows."""
        if self.pieces is None:
            return in_batches(self.open().select(columns), rows)
        return (piece.select(columns).collect() for piece in self.pieces())

    def renamed(self, columns: Columns) -> "InputTable":
        """The same table with its columns renamed as the user says."""
        listed = list(self.listed) or sorted(self.columns)
        table = replace(self, said=columns) if columns.grades or columns.named else self
        named = columns.columns_for(listed, self.name)
        if paired := judged_together(named):
            table = table.with_row_for_each(*(named.pop(field) for field in paired))
        for ours, theirs in named.items():
            if len(theirs) > 1:
                table = table.merged(theirs, ours, f"{ours} ← {', '.join(theirs)}.")
        for ours, said in columns.named.items():
            column, dot, inside = said.partition(".")
            if dot and column in table.columns and said not in table.columns:
                table = table._with_field(column, inside, ours)
                columns.seen[self.name].append(said)
        names = columns.rename(sorted(table.columns), self.name)
        columns.seen[self.name] = [*dict.fromkeys((*listed, *columns.seen[self.name]))]
        if not names:
            return table
        return table.then(
            lambda rows: rows.rename(names),
            columns=frozenset(names.get(column, column) for column in table.columns),
            listed=tuple(names.get(one, one) for one in table.listed),
        )

    def _with_field(self, column: str, inside: str, called: str) -> "InputTable":
        """The same table with a field of a struct column as a column of its own."""
        value = pl.col(column)
        for step in inside.split("."):
            value = value.struct.field(step)
        names = (*self.names(), called)
        return self.then(
            lambda rows: rows.with_columns(value.alias(called)),
            columns=frozenset(names),
            listed=names,
        )


def range_of(columns: Sequence[str]) -> str:
    """Several columns in a few words.

    >>> range_of(["result 1", "result 2", "result 3"])
    'result 1, …, result 3'
    """
    return (
        " and ".join(columns) if len(columns) < 3 else f"{columns[0]}, …, {columns[-1]}"
    )


def cell_texts(*columns: str) -> pl.Expr:
    """The stripped texts of columns; empty ones become null."""
    return pl.col(*columns).cast(pl.String).str.strip_chars().replace("", None)


def in_memory(lazy: pl.LazyFrame, name: str) -> InputTable:
    """A table from memory, whose rows have numbers instead of lines."""
    with explained(name):
        columns = frozenset(lazy.collect_schema().names())
    return InputTable(lambda: lazy, name, lambda row: f"{name}, row {row + 1}", columns)


@contextmanager
def explained(
    name: str, fault: Callable[[], str | None] | None = None, what: str = "table"
) -> Iterator[None]:
    """Turn errors of polars into ours."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = str(error).partition("\n")[0]
        if isinstance(error, pl.exceptions.PanicException) or _DAMAGED.search(first):
            first = "it is damaged"
        raise UnreadableFile(
            (fault() if fault else None)
            or f"The {what} {name} cannot be read: {first}; write it again, or check its format."
        ) from error


_DAMAGED = re.compile(r"panic|unwrap\(\)|out-?of-?spec", re.IGNORECASE)
"""What polars says about a file that breaks the rules of its own format."""


def in_batches(lazy: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the table in batches: every row, or an error.

    Polars stops silently if a damaged part of a file makes it panic. So the rows are counted if the
    file states their number.
    """
    seen = 0
    plan = lazy.explain(optimized=False)
    stated = None
    if "Parquet SCAN" in plan or "Ipc SCAN" in plan:
        stated = lazy.select(pl.len()).collect().item()
    # Several or remote files would be opened again for every stretch.
    found = re.search(r"Parquet SCAN \[([^\n]*)\]", plan)
    alone = found is not None and Path(found[1]).is_file() and "FILTER" not in plan
    batches = (
        _stretches(lazy, stated, rows)
        if stated and alone
        else iter(lazy.collect_batches(chunk_size=rows, maintain_order=True))
    )
    for batch in batches:
        seen += batch.height
        yield batch
    if stated is not None and seen != stated:
        raise pl.exceptions.ComputeError(
            f"{seen:,} of its {stated:,} rows could be read (damaged, or of a type that is "
            "not supported)"
        )


def _stretches(lazy: pl.LazyFrame, stated: int, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a Parquet file in pieces, however large its row groups are.

    Reading batches would load several row groups at once.
    """
    start = 0
    size = min(rows, SOME_ROWS)
    while start < stated:
        batch = lazy.slice(start, size).collect(engine="streaming")
        if not batch.height:
            return  # the caller counts the rows and reports missing ones
        yield batch
        start += batch.height
        each = max(1, int(batch.estimated_size()) // batch.height)
        size = max(SOME_ROWS, min(STRETCH // each, 2 * rows))


def delimited(source: Source) -> InputTable | None:
    """The table in a CSV or TSV file; None if its first line has no separator."""
    found = header(source)
    if found is None:
        return None
    names, separator = found
    if len(names) > MOST_COLUMNS:
        raise UnreadableFile(
            f"The table {source.name} has more than {MOST_COLUMNS:,} columns in its first line, "
            "and no more are allowed; keep those that are needed, or check what divides them."
        )
    if len(set(names)) < len(names):
        twice = next((name for name in names if name and names.count(name) > 1), None)
        if twice is not None and is_long(names):
            raise InvalidInput(
                f"{source.name} has the column {twice!r} twice; give each column a name of its "
                "own, or write several ids into one cell with ';' between them."
            )

    blocks = partial(csv_blocks, source, separator) if _is_large(source) else None
    kept: list[pl.LazyFrame] = []

    def scan() -> pl.LazyFrame:
        if blocks is not None:
            return lazily(csv_columns(source, separator), blocks)
        if kept:
            return kept[0]
        content = source.read()
        if not source.is_plain or SAID.match(content[:HEAD].split(b"\n")[0]):
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            first, _, rest = content.partition(b"\n")
            content = rest if SAID.match(first) else content
        lazy = _cells_of(content, separator)
        # Few files have cells guarded by an apostrophe, and looking for them copies every column.
        if b"'" in content and not frozenset(names) >= BEIR_JUDGEMENTS:
            lazy = lazy.select(unguarded(pl.all()))
        if len(content) <= SMALL:
            kept.append(lazy)
        return lazy

    where = partial(line_of, source, separator)
    fault = partial(fault_in, source, len(names), separator)
    notes = () if source.encoding == "utf-8" else (_encoding_note(source),)
    # The second of two columns with the same name is renamed when the table is opened.
    listed = tuple(names) if len(set(names)) == len(names) else ()
    return InputTable(
        scan,
        source.name,
        where,
        frozenset(names),
        fault,
        separator == ";",
        notes,
        listed,
        None if blocks is None else lambda: (frame.lazy() for frame in blocks()),
    )


def _is_large(source: Source) -> bool:
    """Whether a file is read in blocks; if not plain UTF-8, it is decoded as a whole."""
    if SAID.match(source.head.split(b"\n")[0]):
        return False
    return source.is_large_and_packed or (
        source.is_plain and source.path.stat().st_size > SMALL
    )


def _encoding_note(source: Source) -> str:
    called = {"cp1252": "Windows-1252 (cp1252)", "utf-16": "UTF-16"}
    return (
        f"{source.name} is not UTF-8 and is read as {called[source.encoding]}; check that its "
        "letters are right, or save it as UTF-8."
    )


def header(source: Source) -> tuple[list[str], str] | None:
    """The names in the first line and their separator; None if there is none.

    Of several possible separators, the one that yields a query column is used.
    """
    lines = source.head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    said = SAID.match(lines[0])
    if said and len(lines) > 1:
        lines = lines[1:]
    try:
        text = lines[0].decode()
    except UnicodeDecodeError:
        return None

    def names(separator: str) -> list[str]:
        # A quoted name may continue in the next line.
        more = (f"{line.decode(errors='replace')}\n" for line in lines)
        return [
            as_meant(name.strip("\n"))
            for name in next(csv.reader(more, delimiter=separator), [])
        ]

    if said:
        separator = said[1].decode()
        return names(separator), separator
    if "|" in text and len(lines) > 1 and re.fullmatch(rb"[\s|:]*-[\s|:-]*", lines[1]):
        raise UnreadableFile(
            f"{source.name} is a Markdown table; take out its line of dashes, or save it as CSV."
        )
    possible = [
        (names(sign), sign) for sign in SEPARATORS if sign in text or '"' in text[:1]
    ]
    possible = [one for one in possible if len(one[0]) > 1 or one[1] in text]
    if not possible and is_long([text]):
        # A single column can only be a table that lacks the other columns.
        return [text], ","
    return next(
        (one for one in possible if is_long(one[0])), possible[0] if possible else None
    )


def _cells_of(content: bytes, separator: str) -> pl.LazyFrame:
    """The table in a text, every cell a text; what cannot be read fails when it is collected."""
    try:
        rows = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        return pl.scan_csv(content, separator=separator, infer_schema=False)
    renamed = {name: as_meant(name) for name in rows.columns if '"' in name}
    rows = rows.rename(renamed) if renamed else rows
    if b"\n\n" in content or b"\n\r\n" in content:
        # A line with nothing in it is no row, as everywhere.
        rows = rows.filter(~pl.all_horizontal(pl.all().is_null()))
    return rows.lazy()


def from_other_library(value: Any, name: str) -> pl.DataFrame:
    """Convert a table of pandas, Arrow or another library to polars."""
    try:
        return pl.DataFrame(value)
    except (CalipersError, MemoryError):
        raise
    except ImportError as error:
        # pandas exports text columns through pyarrow, which may not be installed.
        try:
            return pl.DataFrame(
                [
                    pl.Series(str(c), value[c].tolist(), strict=False)
                    for c in value.columns
                ]
            )
        except Exception:  # noqa: BLE001 - another library, which may raise anything
            raise InvalidInput(
                f"{name} is a {type(value).__module__.partition('.')[0]} table, and its library "
                f"cannot hand it over: {error}; install what it names (mostly pyarrow)."
            ) from None
    except Exception as error:  # noqa: BLE001 - two libraries, each with errors of its own
        why = f"{type(error).__name__}: {said_by(error).partition(chr(10))[0][:160]}"
        raise InvalidInput(
            f"{name} is a table that cannot be read{_of_column(value)}: {why}; give every column "
            "values of one type, and texts or numbers for ids."
        ) from None


def _of_column(value: Any) -> str:
    """The column that cannot be converted, if it is only one."""
    for column in getattr(value, "columns", ()):
        try:
            pl.DataFrame(value[[column]])
        except Exception:  # noqa: BLE001 - what went wrong is known, only not where
            return f" in its column {column!r:.60}"
    return ""
