"""The corpus a retriever searches: documents or chunks, read in batches, never as a whole."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.io.files.open import Source, not_utf8
from calipers.io.files.probe import Probe
from calipers.io.records.documents import as_result, is_document
from calipers.io.records.json_files import Look
from calipers.io.tables.scan import InputTable, explained, from_other_library, in_memory
from calipers.model.arrays import frame_of_columns
from calipers.names import CHUNK, METADATA, START_AND_END, plain_name

CORPUS_SCHEMA: dict[str, pl.DataType] = {
    "id": pl.String(),
    "document": pl.String(),
    "text": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
    "title": pl.String(),
}


def name_columns(names: Iterable[str]) -> dict[str, str]:
    """Map our fields to columns; each column is used once.

    >>> name_columns(["doc_id", "contents", "path"])
    {'text': 'contents', 'id': 'doc_id', 'document': 'path'}
    >>> name_columns(["Doc ID", "chunkId", "Text"])
    {'text': 'Text', 'id': 'chunkId', 'document': 'Doc ID'}
    """
    return dict(_named(tuple(names)))


@lru_cache(maxsize=64)  # The objects of a JSON lines file mostly have the same names.
def _named(names: tuple[str, ...]) -> dict[str, str]:
    plain = {plain_name(name): name for name in reversed(names)}
    plain |= {
        name.strip().lower(): name for name in reversed(names)
    }  # id is another than _id
    found: dict[str, str] = {}
    for ours, others in CHUNK.items():
        free = (
            plain[other]
            for other in others
            if other in plain and plain[other] not in found.values()
        )
        if (theirs := next(free, None)) is not None:
            found[ours] = theirs
    return found


def no_text(place: str, names: Iterable[str]) -> str:
    """The error for rows without a text column."""
    return (
        f"The corpus has no text at {place}: rename its column to 'text' (or contents, content, "
        f"chunk, page_content); found the columns {', '.join(map(str, names))[:60]}."
    )


def rows_from_mappings(
    mappings: Iterable[tuple[str, Mapping[str, object]]],
) -> Iterator[dict[str, object]]:
    """Yield corpus rows from JSON objects or rows of tables, each given with its place."""
    for place, given in mappings:
        inner = given.get("metadata")
        # Outer fields win over what a splitter wrote into the metadata.
        merged = {**inner, **given} if isinstance(inner, Mapping) else given
        parts = name_columns(merged)
        if "text" not in parts:
            raise InvalidInput(no_text(place, merged))
        row = {ours: merged[theirs] for ours, theirs in parts.items()}
        if START_AND_END in merged and "start" not in parts:
            row["start"] = _start_of_pair(merged[START_AND_END])
        yield _checked(row, place)


def _start_of_pair(pair: Any) -> Any:
    # A splitter that does not find the chunk in its document writes (0, 0).
    found = isinstance(pair, list | tuple) and len(pair) == 2 and list(pair) != [0, 0]
    return pair[0] if found else None


def _checked(row: dict[str, object], place: str) -> dict[str, object]:
    for name in ("id", "document"):
        value = row.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise InvalidInput(_wrong(name, value, place, "a text or a whole number"))
        row[name] = None if value is None else str(value)
    if not isinstance(row["text"], str):
        raise InvalidInput(_wrong("text", row["text"], place, "a text"))
    for name in ("start", "end"):
        if (value := row.get(name)) is not None:
            row[name] = _whole(value)
            if row[name] is None:
                raise InvalidInput(
                    _wrong(name, value, place, "a whole number of 64 bits")
                )
    row["id"] = place if row["id"] is None else row["id"]
    row["title"] = _plain_text(row.get("title"))
    return row


def _plain_text(value: object) -> str | None:
    """A title as text; None where a field of that name holds something else."""
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if plain else None


def _whole(value: Any) -> int | None:
    """A whole number, also as the text of a CSV cell or as a float, as pandas has beside gaps."""
    try:
        found = None if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    same = found is not None and (isinstance(value, str) or found == value)
    return found if same and abs(found or 0) < 1 << 63 else None


def _wrong(name: str, value: object, place: str, allowed: str) -> str:
    return (
        f"The {name} of a chunk has the wrong type at {place}: found {str(value)[:60]!r} "
        f"({type(value).__name__}); it must be {allowed}."
    )


TEXT_ENDINGS = (".txt", ".md", ".markdown")
ROWS = 1_000
ROWS_AT_ONCE = 20_000
CHARACTERS_AT_ONCE = 4_000_000
"""A batch is full at either limit, which keeps memory bounded."""

Placed = tuple[str, Mapping[str, object]]


def texts_in(folder: Path) -> Iterator[Path]:
    """Yield the text files in a folder and its subfolders, sorted, without hidden ones."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(where, name)
            is_text = name.lower().endswith(TEXT_ENDINGS) and not name.startswith(".")
            if is_text and not path.is_fifo():  # a pipe nobody writes into never ends
                yield path


def scan_texts(folder: Path, paths: list[Path]) -> Iterator[pl.DataFrame]:
    """Yield each file as one document, named by its path in the folder."""

    def rows() -> Iterator[dict[str, Any]]:
        for path in paths:
            name = path.relative_to(folder).as_posix()
            yield {"id": name, "document": name, "text": read_text(path), "start": 0}

    yield from in_tables(rows())


def read_text(path: Path) -> str:
    """Read a text file; line ends are kept, a byte order mark is dropped."""
    source = Source(path)
    content = source.read()
    if b"\x00" in content[:1024]:
        raise UnreadableFile(
            f"The file {path} is binary although its name says text; save it as UTF-8 text, or "
            "move it out of the corpus."
        )
    if said := not_utf8(content, str(path)):
        raise UnreadableFile(said)
    return content.decode()


def scan_of(source: Source) -> Callable[[], Iterator[pl.DataFrame]]:
    """The reader for one file, by its content."""
    probe = Probe(source)
    probe.check()
    if probe.look is not None:
        return lambda: in_tables(rows_from_mappings(_chunks(probe)))
    table = probe.table
    text = name_columns(table.columns).get("text") if table is not None else None
    if table is not None and text is not None:
        # In a text table an empty cell is an empty text; in a binary one null stays null.
        filled = table.then(lambda rows: rows.with_columns(pl.col(text).fill_null("")))
        return lambda: scan_table(filled if probe.is_text else table)
    if source.path.name.lower().endswith(TEXT_ENDINGS):
        name = source.path.name
        row = {"id": name, "document": name, "start": 0}
        return lambda: in_tables(iter(({**row, "text": read_text(source.path)},)))
    if table is not None and table.fault is InputTable.fault:
        raise InvalidInput(no_text(source.name, table.names()))
    first = source.head.split(b"\n")[0][:80].decode(errors="replace")
    raise UnreadableFile(
        f"The corpus {source.name} is in no format that can be read (it begins "
        f"{first!r:.30}); give a folder of .txt or .md files, or JSON lines, CSV or "
        "Parquet with a column 'text'."
    )


def _chunks(probe: Probe) -> Iterator[Placed]:
    """Yield the chunks of a list, of lines, or of one object of id to text."""
    raw = probe.records()
    shape = cast(Look, probe.look).shape
    for number, one in enumerate(raw.plain()):
        place = raw.place(number).removesuffix(" $")
        if shape != "object" or "text" in name_columns(one):
            yield place, one
            continue
        # A LlamaIndex dataset holds its corpus beside its queries.
        inner = one.get("corpus", one)
        if not isinstance(inner, dict):
            raise InvalidInput(f"{probe.name} $.corpus must be an object of id to text.")
        yield from keyed(inner, f"{probe.name} $")


def in_tables(
    rows: Iterable[dict[str, Any]], most: int | None = None
) -> Iterator[pl.DataFrame]:
    """Yield rows in batches of so many characters as tables; a longer document is its own batch."""
    some: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        length = len(row["text"])
        if some and (
            len(some) >= ROWS_AT_ONCE
            or characters + length > (most or CHARACTERS_AT_ONCE)
        ):
            yield _table(some)
            some = []
            characters = 0
        some.append(row)
        characters += length
    if some:
        yield _table(some)


def _table(rows: list[dict[str, object]]) -> pl.DataFrame:
    columns = {name: [row.get(name) for row in rows] for name in CORPUS_SCHEMA}
    return frame_of_columns(columns, CORPUS_SCHEMA)


def scan_table(table: InputTable) -> Iterator[pl.DataFrame]:
    """Yield a table in batches, with our columns."""
    with explained(table.name, table.fault, what="corpus"):
        batches = (
            batch.iter_rows(named=True) for batch in table.batches(table.names(), ROWS)
        )
        rows = enumerate((row for batch in batches for row in batch), 1)
        placed = ((f"{table.name}, row {number}", row) for number, row in rows)
        yield from in_tables(rows_from_mappings(placed))


def keyed(value: Mapping[object, object], name: str) -> Iterator[Placed]:
    """Yield the chunks of an object of id to text, or to the fields of each."""
    for key, one in value.items():
        inner = one if isinstance(one, Mapping) else {"text": one}
        yield f"{name}[{key!r}]", {**inner, "id": key}


Scan = Callable[[], Iterator[pl.DataFrame]]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Chunks or documents with their text; ``batches`` may be called repeatedly."""

    name: str
    scan: Scan

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield tables of id, document, text, start, end and named, small enough for any machine.

        A row without a document (``named`` is false) is its own document, with its id as the name.
        ``end`` is computed from start and text; the file's own value is not used.
        """
        empty = True
        for batch in self.scan():
            empty = False
            yield batch.with_columns(
                start=pl.when(pl.col("document").is_null())
                .then(pl.col("start").fill_null(0))
                .otherwise(pl.col("start")),
                document=pl.col("document").fill_null(pl.col("id")),
                named=pl.col("document").is_not_null(),
            ).with_columns(end=pl.col("start") + pl.col("text").str.len_chars())
        if empty:
            raise InvalidInput(
                f"The corpus {self.name} is empty: found no chunk or document in it; "
                "check that it is the right one."
            )


def open_corpus(value: object) -> Corpus:
    """Open a corpus: a folder, a file, a table, a mapping of id to text, or a list of mappings.

    A folder is read for its .txt and .md files, each a document named by its path in the folder.

    >>> corpus = open_corpus({"gil": "The GIL is a lock."})
    >>> next(corpus.batches()).row(0, named=True)["end"]
    18
    """
    if isinstance(value, Corpus):
        return value
    if isinstance(value, str | os.PathLike):
        path = Path(value)
        if path.is_dir():
            return _folder(path)
        if not path.exists():
            raise UnreadableFile(
                f"There is no corpus {path}, neither file nor folder; check it."
            )
        source = Source(path)
        return Corpus(source.name, scan_of(source))
    if isinstance(value, Mapping):
        return _of_rows(lambda: keyed(value, "corpus"))
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return Corpus("corpus", lambda: scan_table(in_memory(value.lazy(), "corpus")))
    if isinstance(value, list | tuple):
        rows = [
            (f"corpus[{number}]", _as_mapping(one, number))
            for number, one in enumerate(value)
        ]
        return _of_rows(lambda: rows)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        frame = from_other_library(value, "corpus")
        return Corpus("corpus", lambda: scan_table(in_memory(frame.lazy(), "corpus")))
    raise InvalidInput(
        f"The corpus is a {type(value).__name__}; it can be a path, a table, a mapping of id to "
        "text, or a list of mappings with id and text."
    )


def _as_mapping(one: object, number: int) -> Mapping[str, object]:
    if isinstance(one, Mapping):
        return one
    if isinstance(one, str):
        return {"text": one}
    if is_document(one):
        # Ids that only a corpus accepts, such as a title, may be in the metadata.
        inner = next(
            (getattr(one, name) for name in METADATA if hasattr(one, name)), None
        )
        return {**(inner or {}), **as_result(one)}
    raise InvalidInput(
        f"corpus[{number}] is a {type(one).__name__}; it can be a mapping with a text, a text, or "
        "a document of LangChain, LlamaIndex or Haystack."
    )


def _of_rows(rows: Callable[[], Iterable[tuple[str, Mapping[str, object]]]]) -> Corpus:
    return Corpus("corpus", lambda: in_tables(rows_from_mappings(rows())))


def _folder(folder: Path) -> Corpus:
    # A BEIR folder has its texts in one file, and its README.md is no document.
    if (rows := next(folder.glob("corpus.*"), None)) is not None:
        raise UnreadableFile(f"Name the file of the corpus, {rows}, and not its folder.")
    texts = list(texts_in(folder))
    if not texts:
        raise UnreadableFile(
            f"The folder {folder} holds no document: found no .txt or .md file in it or below; "
            "name the folder of the documents, or one file with all texts."
        )
    return Corpus(str(folder), lambda: scan_texts(folder, texts))
