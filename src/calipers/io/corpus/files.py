"""The files a corpus can be in: text and Markdown, JSON lines, CSV, Parquet, Arrow."""

import csv
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.corpus.columns import CORPUS_SCHEMA, name_columns, read_frame, rows_from_mappings
from calipers.io.files.open import Source
from calipers.io.files.parquet_size import check_parquet
from calipers.io.records.json_files import BROKEN, as_object, first_line, goes_on, opening
from calipers.io.tables.scan import explained, in_batches, scan_cells

TEXT_ENDINGS = (".txt", ".md", ".markdown")
TABLE_ENDINGS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".csv.gz")
ROWS = 1_000

Placed = tuple[str, Mapping[str, Any]]


def files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The text files and the tables of a folder and of those below it, sorted; no hidden ones."""
    texts: list[Path] = []
    tables: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            if name.lower().endswith(TEXT_ENDINGS):
                texts.append(Path(where, name))
            elif name.lower().endswith(TABLE_ENDINGS):
                tables.append(Path(where, name))
    # A benchmark in BEIR's layout keeps its queries and judgements beside its corpus.
    named = [path for path in tables if path.name.lower().startswith("corpus.")]
    asked = any(path.name.lower().startswith("queries.") for path in tables)
    # Its note about itself (README.md) is no document.
    return [] if named and asked else texts, named or tables


def scan_texts(folder: Path, paths: list[Path]) -> Iterator[pl.DataFrame]:
    """Each file as one document, named by its path in the folder."""

    def rows() -> Iterator[dict[str, Any]]:
        for path in paths:
            name = path.relative_to(folder).as_posix()
            yield {"id": name, "document": name, "text": read_text(path), "start": 0}

    yield from in_tables(rows(), rows_at_once=50)


def read_text(path: Path) -> str:
    """The characters of a text file; line ends as they are, a byte order mark left out."""
    source = Source(path)
    content = source.read()
    if b"\x00" in content[:1024]:
        raise UnreadableFile(
            f"The file {path} is binary although its name says text; save it as UTF-8 text, or "
            "move it out of the corpus."
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableFile(
            f"{path}:{line} is not valid UTF-8 (byte {content[error.start]:#04x}); save the file "
            "as UTF-8."
        ) from None


def scan_of(source: Source) -> Callable[[], Iterator[pl.DataFrame]]:
    """How to read one file, by its content."""
    head = source.head
    if head[:4] == b"PAR1":
        check_parquet(source.path)
        return lambda: _scan_parquet(source)
    if head[:6] == b"ARROW1":
        return lambda: scan_table(pl.scan_ipc(source.path, glob=False), source.name)
    source.check_has_content()
    begins_as = opening(source)
    if begins_as == "object" and _is_lines(source):
        return lambda: in_tables(rows_from_mappings(_lines(source)))
    if begins_as is not None:
        return lambda: in_tables(rows_from_mappings(_whole_json(source)))
    separator = _separator(head)
    if separator is not None:
        return lambda: _scan_csv(source, separator)
    if source.path.name.lower().endswith(TEXT_ENDINGS):
        name = source.path.name
        row = {"id": name, "document": name, "start": 0}
        return lambda: in_tables(iter(({**row, "text": read_text(source.path)},)))
    first = head.split(b"\n")[0][:80].decode(errors="replace")
    raise UnreadableFile(
        f"The corpus {source.name} is in no form that can be read; its first line is {first!r}. A "
        "corpus is a folder of .txt or .md files, or a JSON lines, CSV or Parquet file with a "
        "column 'text'."
    )


def in_tables(rows: Iterator[dict[str, Any]], rows_at_once: int = ROWS) -> Iterator[pl.DataFrame]:
    """Rows a few at a time as tables."""
    while some := list(islice(rows, rows_at_once)):
        columns = {name: [row.get(name) for row in some] for name in CORPUS_SCHEMA}
        try:
            yield pl.DataFrame(columns, schema=CORPUS_SCHEMA)
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"A chunk of the corpus holds an unpaired surrogate: found {error.object[:60]!r}; "
                "texts must be valid Unicode."
            ) from None


def scan_table(lazy: pl.LazyFrame, name: str) -> Iterator[pl.DataFrame]:
    """A table in batches, with our columns."""
    seen = 0
    with explained(name, what="corpus"):
        for batch in in_batches(lazy, ROWS):
            yield read_frame(batch, name, seen)
            seen += batch.height


def _scan_parquet(source: Source) -> Iterator[pl.DataFrame]:
    lazy = pl.scan_parquet(source.path, glob=False)
    if source.progress is None:
        yield from scan_table(lazy, source.name)
        return
    rows, size, seen = lazy.select(pl.len()).collect().item(), source.path.stat().st_size, 0
    for batch in scan_table(lazy, source.name):
        seen += batch.height
        source.progress(size * seen // rows, size)
        yield batch


def _scan_csv(source: Source, separator: str) -> Iterator[pl.DataFrame]:
    with explained(source.name, what="corpus"):
        lazy, _ = scan_cells(source, separator)
        names = name_columns(lazy.collect_schema().names())
    # An empty cell is an empty text; elsewhere it is nothing.
    if "text" in names:
        lazy = lazy.with_columns(pl.col(names["text"]).fill_null(""))
    return scan_table(lazy, source.name)


def _separator(head: bytes) -> str | None:
    line = re.split(rb"[\r\n]", head, maxsplit=1)[0].decode(errors="replace")
    for separator in ("\t", ",", ";"):
        with suppress(csv.Error):
            if "text" in name_columns(next(csv.reader([line], delimiter=separator), [])):
                return separator
    return None


def _is_lines(source: Source) -> bool:
    line = first_line(source)
    first = as_object(line)
    # One line alone is a chunk if it has a text; else it may be an object of id to text.
    return bool(first) and ("text" in name_columns(first) or goes_on(source, line))


def _lines(source: Source) -> Iterator[Placed]:
    for number, line in source.lines():
        if not line.strip():
            continue
        place = f"{source.name}:{number}"
        try:
            value = msgspec.json.decode(line)
        except BROKEN as error:
            raise UnreadableFile(
                f"The line {place} is not valid JSON ({error}); check it, or write it again."
            ) from None
        yield place, _object(value, place)


def _whole_json(source: Source) -> Iterator[Placed]:
    """A JSON list of chunks, or one object of id to text; read as a whole, as JSON must be."""
    try:
        value = msgspec.json.decode(source.read())
    except BROKEN as error:
        raise UnreadableFile(
            f"{source.name} is not valid JSON ({error}); check it, or write it again."
        ) from None
    if isinstance(value, dict):
        # A LlamaIndex dataset holds its corpus beside its queries.
        inner = value.get("corpus", value)
        if not isinstance(inner, dict):
            raise InvalidInput(f"{source.name} $.corpus must be an object of id to text.")
        yield from keyed(inner, f"{source.name} $")
        return
    for number, one in enumerate(value):
        place = f"{source.name} $[{number}]"
        yield place, _object(one, place)


def keyed(value: Mapping[Any, Any], name: str) -> Iterator[Placed]:
    """The chunks of an object of id to text, or to what else is known of each."""
    for key, one in value.items():
        inner = one if isinstance(one, Mapping) else {"text": one}
        yield f"{name}[{key!r}]", {**inner, "id": key}


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(
            f"A chunk is not an object at {place}: found {str(value)[:60]!r}; a chunk is "
            '{"id": …, "text": …}.'
        )
    return value
