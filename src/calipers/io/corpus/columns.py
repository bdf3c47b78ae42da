"""The columns of a corpus, whatever other people call them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.run import version_text
from calipers.names import CHUNK, START_AND_END, lowered

CORPUS_SCHEMA: dict[str, pl.DataType] = {
    "id": pl.String(),
    "document": pl.String(),
    "text": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
    "version": pl.String(),
    "title": pl.String(),
}

_TOLD = ("version", "title")
"""What may stand beside a text, and is told of it."""


def name_columns(names: Iterable[str]) -> dict[str, str]:
    """Which column plays which part: ours to theirs. Each column plays one part only.

    >>> name_columns(["doc_id", "contents", "path"])
    {'text': 'contents', 'id': 'doc_id', 'document': 'path'}
    >>> name_columns(["doc_id", "chunk_id", "Text"])
    {'text': 'Text', 'id': 'chunk_id', 'document': 'doc_id'}
    """
    return dict(_named(tuple(names)))


@lru_cache(maxsize=64)  # The objects of a JSON lines file mostly have the same names.
def _named(names: tuple[str, ...]) -> dict[str, str]:
    lower = lowered(names)
    found: dict[str, str] = {}
    for ours, others in CHUNK.items():
        for other in others:
            if other in lower and lower[other] not in found.values():
                found[ours] = lower[other]
                break
    return found


def no_text(place: str, names: Iterable[str]) -> str:
    """The sentence for rows in which no column is the text."""
    return (
        f"The corpus has no text at {place}: found the columns {', '.join(map(str, names))}; a "
        "chunk or document has its text in a column 'text' (or contents, content, chunk, "
        "page_content), and mostly an 'id'; rename the column."
    )


def rows_from_mappings(
    mappings: Iterable[tuple[str, Mapping[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Corpus rows from JSON objects, each with the place it came from."""
    for place, given in mappings:
        inner = given.get("metadata")
        # What stands outside wins over what a splitter wrote into the metadata.
        merged = {**inner, **given} if isinstance(inner, Mapping) else given
        parts = name_columns(merged)
        if "text" not in parts:
            raise InvalidInput(no_text(place, merged))
        row = {ours: merged[theirs] for ours, theirs in parts.items()}
        if START_AND_END in merged and "start" not in parts:
            row["start"] = _start_of_pair(merged[START_AND_END])
        yield _checked(row, place)


def _start_of_pair(pair: Any) -> Any:
    # A splitter that cannot find the chunk in its document writes (0, 0).
    found = isinstance(pair, list | tuple) and len(pair) == 2 and list(pair) != [0, 0]
    return pair[0] if found else None


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
    for name in ("id", "document"):
        value = row.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise InvalidInput(_wrong(name, value, place, "a text or a whole number"))
        row[name] = None if value is None else str(value)
    text = row["text"]
    if not isinstance(text, str):
        raise InvalidInput(_wrong("text", text, place, "a text"))
    for name in ("start", "end"):
        value = row.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidInput(_wrong(name, value, place, "a whole number"))
        if value is not None and abs(value) >= 1 << 63:
            raise InvalidInput(_wrong(name, value, place, "a number of 64 bits"))
    row["id"] = place if row["id"] is None else row["id"]
    for name in _TOLD:
        row[name] = version_text(row.get(name))
    return row


def _wrong(name: str, value: Any, place: str, allowed: str) -> str:
    return (
        f"The {name} of a chunk has the wrong type at {place}: found {str(value)[:60]!r} "
        f"({type(value).__name__}); it must be {allowed}."
    )


def read_frame(frame: pl.DataFrame, name: str, offset: int) -> pl.DataFrame:
    """A batch of a table with our columns and types; ``offset`` rows came before it."""
    parts = name_columns(frame.columns)
    if "text" not in parts:
        raise InvalidInput(no_text(name, frame.columns))
    columns = {ours: _cast(frame[theirs], ours, name, offset) for ours, theirs in parts.items()}
    if "start" not in parts and START_AND_END in frame.columns:
        starts = [_start_of_pair(pair) for pair in frame[START_AND_END].to_list()]
        columns["start"] = pl.Series("start", starts, pl.Int64)
    numbers = range(offset + 1, offset + frame.height + 1)
    places = pl.Series("id", [f"{name}, row {number}" for number in numbers], pl.String)
    columns["id"] = columns["id"].fill_null(places) if "id" in columns else places
    return whole_schema(pl.DataFrame(columns))


def _cast(column: pl.Series, ours: str, name: str, offset: int) -> pl.Series:
    dtype = CORPUS_SCHEMA[ours]
    if ours in _TOLD:
        # A field of that name may hold something else: then nothing is known of it.
        nothing = pl.Series(ours, [None], dtype).new_from_index(0, len(column))
        return nothing if column.dtype.is_nested() else column.cast(dtype, strict=False).alias(ours)
    whole = column.dtype.is_integer()
    text = column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    fits = text or (whole and ours != "text")
    if not fits and column.dtype.is_float() and ours in ("start", "end"):
        fits = True  # pandas makes floats of whole numbers beside gaps
    wanted = "whole numbers" if dtype.is_numeric() else "texts"
    if not fits:
        raise InvalidInput(
            f"The column {column.name!r} of {name} has the wrong type: found {column.dtype}; the "
            f"{ours} of a chunk must be {wanted}; write the column again with that type."
        )
    cast = column.cast(dtype, strict=False)
    bad = cast.is_null() if ours == "text" else cast.is_null() & column.is_not_null()
    if column.dtype.is_float():
        bad |= (cast.cast(pl.Float64) != column).fill_null(False)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise InvalidInput(
            f"The column {column.name!r} holds {column[row]!r} at {name}, row {offset + row + 1}; "
            f"the {ours} of a chunk must be {'a whole number' if dtype.is_numeric() else 'a text'}."
        )
    return cast.alias(ours)


def whole_schema(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with every corpus column in order, null where it has none."""
    missing = [
        pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in CORPUS_SCHEMA.items()
        if name not in frame.columns
    ]
    return frame.with_columns(missing).select(CORPUS_SCHEMA.keys())
