"""What a retriever searches in: documents or chunks, read in batches and never held as a whole."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.corpus import files as corpus_files
from calipers.io.corpus.columns import read_frame, rows_from_mappings
from calipers.io.files.open import Progress, Source
from calipers.io.records.documents import as_result, is_document
from calipers.io.tables.scan import from_other_library
from calipers.names import ID, METADATA, TEXT

ROWS_AT_ONCE = 20_000
CHARACTERS_AT_ONCE = 4_000_000
"""A batch is handed on when it has grown to either; what is held in memory stays near that."""

Scan = Callable[[], Iterator[pl.DataFrame]]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Chunks or documents with their text; ``batches`` may be asked for as often as needed."""

    name: str
    scan: Scan

    def batches(self) -> Iterator[pl.DataFrame]:
        """Tables of id, document, text, start, end, named, of a size that fits any machine.

        A row that names no document (``named`` is false) counts as one of its own, with its id as
        the name. ``end`` follows from start and text; what a file says about it is not used.
        """
        empty = True
        for batch in _regrouped(self.scan()):
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


def open_corpus(value: Any, progress: Progress | None = None) -> Corpus:
    """A corpus from a folder, a file, a table, a mapping of id to text, or a list of mappings.

    A folder is read for its .txt and .md files, each a document named by its path in the
    folder; without any, for its JSON lines, CSV and Parquet files.

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
            raise UnreadableFile(f"There is no corpus {path}, neither file nor folder; check it.")
        source = Source(path, progress)
        return Corpus(source.name, corpus_files.scan_of(source))
    if isinstance(value, Mapping):
        return _of_rows(lambda: corpus_files.keyed(value, "corpus"))
    if isinstance(value, pl.LazyFrame):
        return Corpus("corpus", lambda: corpus_files.scan_table(value, "corpus"))
    if isinstance(value, pl.DataFrame):
        return Corpus("corpus", lambda: iter((read_frame(value, "corpus", 0),)))
    if isinstance(value, list | tuple):
        rows = [(f"corpus[{number}]", _as_mapping(one, number)) for number, one in enumerate(value)]
        return _of_rows(lambda: rows)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        frame = from_other_library(value, "corpus")
        return Corpus("corpus", lambda: iter((read_frame(frame, "corpus", 0),)))
    raise InvalidInput(
        f"The corpus is a {type(value).__name__}; it can be a path, a table, a mapping of id to "
        "text, or a list of mappings with id and text."
    )


def _as_mapping(one: Any, number: int) -> Mapping[str, Any]:
    if isinstance(one, Mapping):
        return one
    if isinstance(one, str):
        return {"text": one}
    if is_document(one):
        # What only a corpus takes for an id, such as a title, may stand in the metadata.
        inner = next((getattr(one, name) for name in METADATA if hasattr(one, name)), None)
        return {**(inner or {}), **as_result(one)}
    fields = (*ID, *TEXT, "metadata")
    found = {name: getattr(one, name) for name in fields if getattr(one, name, None) is not None}
    if not found:
        raise InvalidInput(
            f"corpus[{number}] is a {type(one).__name__}; it can be a mapping with a text, a "
            "text, or an object with page_content or text."
        )
    return found


def _of_rows(rows: Callable[[], Iterable[tuple[str, Mapping[str, Any]]]]) -> Corpus:
    return Corpus("corpus", lambda: corpus_files.in_tables(rows_from_mappings(rows())))


def _folder(folder: Path) -> Corpus:
    texts, tables = corpus_files.files_in(folder)
    if texts:
        return Corpus(str(folder), lambda: corpus_files.scan_texts(folder, texts))
    if tables:
        scans = [corpus_files.scan_of(Source(path)) for path in tables]
        return Corpus(str(folder), lambda: (batch for scan in scans for batch in scan()))
    raise UnreadableFile(
        f"The folder {folder} holds no document that can be read: found no .txt, .md, .jsonl, "
        ".csv or .parquet file in it or below; name the folder of the documents."
    )


def _regrouped(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows in batches neither tiny nor huge, whatever came in."""
    waiting: list[pl.DataFrame] = []
    rows = characters = 0
    for batch in batches:
        while batch.height:
            lengths = batch["text"].str.len_chars().cum_sum()
            fitting = int((lengths <= CHARACTERS_AT_ONCE - characters).sum())
            take = min(fitting, ROWS_AT_ONCE - rows)
            if not take and waiting:
                yield pl.concat(waiting)
                waiting, rows, characters = [], 0, 0
                continue
            take = max(1, take)  # A document larger than a batch comes alone.
            waiting.append(batch[:take])
            rows, characters = rows + take, characters + int(lengths[take - 1])
            batch = batch[take:]
    if waiting:
        yield pl.concat(waiting)
