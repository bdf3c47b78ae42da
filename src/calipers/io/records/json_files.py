"""JSON and JSON lines: detect the shape of a file, read its records and tables.

A table is one object as written by pandas' ``to_json`` and ``to_dict``, or flat records, one per
line, which are read in blocks if the file is large.
"""

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source, line_and_column, not_utf8
from calipers.io.records.records import Place
from calipers.io.tables.columns import Columns, is_long, renaming
from calipers.io.tables.scan import InputTable, lazily

Shape = Literal["list", "lines", "object"]

_ANYTHING = msgspec.json.Decoder()
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for text that is not JSON, or is nested too deeply."""
_POSITION = re.compile(r"byte (\d+)")


@dataclass(frozen=True)
class Look:
    """The shape of a JSON file, and its first record (or, for one object, that object)."""

    shape: Shape
    first: Mapping[str, Any]
    """Its values are not decoded yet if it comes from a file."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys by which a format is recognised, up to the most that a record may have."""
        return frozenset(map(str, islice(self.first, MOST_COLUMNS)))


@dataclass(frozen=True)
class RawRecords:
    """The records of a file in order, with the place of each."""

    items: Iterable[Any]
    """Not decoded yet if they come from a file."""
    place: Place
    line: Callable[[int], int | None] = lambda _: None
    """The line of a record, if each has its own."""
    source: Source | None = None

    def plain(self) -> Iterator[dict[str, Any]]:
        """Yield the records as plain Python."""
        for number, one in enumerate(self.items):
            known = not isinstance(one, bytes | msgspec.Raw)
            value = one if known else decoded(one, self.source, self.line(number))
            yield as_record(value, self.place(number))


def opening(source: Source) -> Literal["list", "object"] | None:
    """Whether the content begins as a list or an object; None if it is neither."""
    begin = source.head.lstrip()[:1]
    return "list" if begin == b"[" else "object" if begin == b"{" else None


def look(source: Source) -> Look:
    """Detect the shape of a file, from its beginning where possible."""
    if opening(source) == "list":
        return Look("list", as_object(_first_of_list(source)))
    first = first_line(source)
    whole = as_object(first)
    if whole and goes_on(source, first):
        return Look("lines", whole)
    return Look("object", decoded(source.read(), source, decoder=_OBJECT))


def raw_records(source: Source, seen: Look, key: str | None = None) -> RawRecords:
    """The records of a list, of lines, of the list under a key, or a single object."""
    if seen.shape == "lines":
        return _lines(source)
    content = source.read()
    if seen.shape == "list":
        listed = decoded(content, source, decoder=_RAW_LIST)
        return RawRecords(iter(listed), lambda i: f"{source.name} $[{i}]", source=source)
    if key is None:
        # A file of one line may be JSON lines with a single record.
        line = "" if b"\n" in content.strip() else ":1"
        return RawRecords(iter((content,)), lambda _: f"{source.name}{line} $", source=source)
    value = decoded(content, source, decoder=_OBJECT).get(key)
    if value is None or not bytes(value).lstrip().startswith(b"["):
        raise InvalidInput(f"The records are no list at {source.name} $.{key}; they must be one.")
    records = _RAW_LIST.decode(value)
    return RawRecords(iter(records), lambda i: f"{source.name} $.{key}[{i}]", source=source)


def decoded(
    content: bytes | msgspec.Raw,
    source: Source | None,
    line: int | None = None,
    decoder: msgspec.json.Decoder[Any] = _ANYTHING,
) -> Any:
    """Decode a JSON value, or raise an error that says where it is broken."""
    try:
        return decoder.decode(content)
    except BROKEN as error:
        raise UnreadableFile(explain_broken(str(error), bytes(content), source, line)) from None


def is_list_of_objects(value: Any) -> bool:
    """Whether a value, decoded or not, begins as a list of objects."""
    if isinstance(value, msgspec.Raw):
        begin = bytes(memoryview(value)[:64])
        return begin[:1] == b"[" and begin[1:].lstrip()[:1] == b"{"
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def first_object(listed: Any) -> Mapping[str, Any]:
    """The first object of a list, decoded or not."""
    if not isinstance(listed, msgspec.Raw):
        first: Mapping[str, Any] = listed[0]
        return first
    return as_object(msgspec.json.decode(listed, type=list[msgspec.Raw])[0])


def opened(value: Any) -> Any:
    """A value, decoded if it is not yet; None if it is broken."""
    try:
        return msgspec.json.decode(value) if isinstance(value, bytes | msgspec.Raw) else value
    except BROKEN:
        return None


def plain_records(
    source: Source, seen: Look, key: str | None = None
) -> tuple[Iterator[dict[str, Any]], Place]:
    """The records as plain Python, and the place of each."""
    raw = raw_records(source, seen, key)
    return raw.plain(), raw.place


def as_record(value: Any, place: str) -> Any:
    """The value if it is an object; else refuse it."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"A record is {value!r:.60} at {place}; it must be an object.")
    return value


def _lines(source: Source) -> RawRecords:
    numbers = array("q")

    def items() -> Iterator[bytes]:
        for number, line in source.lines():
            if line.strip():
                numbers.append(number)
                yield line

    return RawRecords(
        items(), lambda i: f"{source.name}:{numbers[i]} $", lambda i: numbers[i], source
    )


def _first_of_list(source: Source) -> bytes:
    """The text of the first value of a list; the whole file is read only if it is very long."""
    text = source.head.lstrip()[1:].decode(errors="replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        values = decoded(source.read(), source, decoder=_RAW_LIST)
        return bytes(values[0]) if values else b""
    return text[:end].encode()


def first_line(source: Source) -> bytes:
    """The first line that is not blank."""
    line, newline, _ = source.head.lstrip().partition(b"\n")
    if newline:
        return line.strip()
    return next((text for _, text in source.lines() if text.strip()), b"").strip()


def goes_on(source: Source, first: bytes) -> bool:
    """Whether anything follows the first line."""
    lines = (line for _, line in source.lines() if line.strip())
    return next(lines, b"").strip() == first and next(lines, None) is not None


def as_object(text: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The undecoded values of an object; empty if the text is not one."""
    try:
        return _OBJECT.decode(text)
    except BROKEN:
        return {}


def explain_broken(
    message: str, content: bytes, source: Source | None, line: int | None = None
) -> str:
    """The error for broken JSON, with its line and column."""
    name = "data" if source is None else source.name
    if said := not_utf8(content, name, line):
        return said
    if "recursion" in message:
        return (
            f"The JSON in {name}{f':{line}' if line else ''} is nested too deeply: found "
            "more than a thousand levels; no form has more than a dozen, so write it again."
        )
    found = _POSITION.search(message)
    position = int(found[1]) if found else len(content.rstrip())
    at, column = line_and_column(content, position)
    what = "ends in the middle of a value" if "truncated" in message else "is not valid JSON"
    if "trailing characters" in message:
        what = "goes on after the end of its value"
    return (
        f"The JSON in {name}:{line or at}:{column} {what}; "
        "check the file at that place, or write it again."
    )


def explain_mismatch(message: str, place: str, example: str) -> str:
    """Rewrite msgspec's error, with the full path."""
    what, _, path = message.partition(" - at `$")
    path = path.rstrip("`")
    if "missing required field" in what:
        field_name = what.split("`")[1]
        return (
            f"A required field is missing at {place}{path}: no {field_name!r}; a record is "
            f"{example}."
        )
    expected = what.removeprefix("Expected ").replace("`", "")
    if "of length <= " in expected:
        most = int(expected.rpartition(" ")[2])
        return f"A list is too long at {place}{path}: at most {most:,} values are allowed."
    wanted, _, found = expected.partition(", got ")
    return (
        f"A value has the wrong type at {place}{path}: found {found or what}; "
        f"{'expected ' + wanted if found else 'see the documented format'}."
    )


MOST_COLUMNS = 200
SPLIT = frozenset({"columns", "data"})
"""The keys under which pandas keeps a table with ``orient="split"``."""
SCHEMA = frozenset({"schema", "data"})
"""The same for ``orient="table"``."""


def columns_of_object(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    """The table in an object, decoded or not; None if it is no table or broken JSON."""
    try:
        columns = _columns_of(value, name)
    except BROKEN:
        return None  # the reader reports where it is broken
    return None if columns is None else _frame(columns, name)


def _columns_of(value: Mapping[Any, Any], name: str) -> dict[str, list[Any]] | None:
    if SPLIT <= value.keys() <= SPLIT | {"index"}:
        names, rows = _decoded(value["columns"]), _decoded(value["data"])
        if not isinstance(names, list) or not isinstance(rows, list) or not _names_a_query(names):
            return None
        whole = all(isinstance(row, list) and len(row) == len(names) for row in rows)
        return {key: [row[i] for row in rows] for i, key in enumerate(names)} if whole else None
    if value.keys() == SCHEMA:
        rows = _decoded(value["data"])
        known = isinstance(rows, list) and rows and all(isinstance(one, dict) for one in rows)
        return _columns(rows) if known and _names_a_query(rows[0]) else None
    if 1 < len(value) <= MOST_COLUMNS and _names_a_query(list(map(str, value))):
        return _by_column({str(key): _decoded(one) for key, one in value.items()}, name)
    return _by_row(value)


def _by_column(value: dict[str, Any], name: str) -> dict[str, list[Any]] | None:
    if all(isinstance(one, Mapping) for one in value.values()):
        index = list(next(iter(value.values())))
        if not index or any(list(one) != index for one in value.values()):
            return None
        return _with_labels({key: list(one.values()) for key, one in value.items()}, index)
    if not all(isinstance(one, list | tuple) for one in value.values()):
        return None
    lengths = {key: len(one) for key, one in value.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise InvalidInput(
            f"{name} holds columns of different length: {listed[:200]}; give every column one "
            "value for each question."
        )
    return {key: list(one) for key, one in value.items()}


def _by_row(value: Mapping[Any, Any]) -> dict[str, list[Any]] | None:
    """The rows of ``orient="index"``, each under its label; each has the query as a text."""
    first = _decoded(next(iter(value.values()), None))
    # A mapping of items to scores has no query text, and many names to look through.
    if not isinstance(first, Mapping) or str not in set(map(type, first.values())):
        return None
    if not _names_a_query(first):
        return None
    asked = next(key for key, ours in renaming(sorted(first)).items() if ours == "query")
    rows = [_decoded(one) for one in value.values()]
    # Else it maps queries to items, one of which has the name of a column.
    if not all(isinstance(row, Mapping) and isinstance(row.get(asked), str) for row in rows):
        return None
    return _with_labels(_columns(rows), list(value))


def _with_labels(columns: dict[str, list[Any]], labels: list[Any]) -> dict[str, list[Any]]:
    """The columns with the row labels as ids, unless these are just row numbers."""
    asked = next(key for key, ours in renaming(sorted(columns)).items() if ours == "query")
    questions = columns[asked]
    numbered = all(str(label).isdigit() for label in labels)
    if numbered or "id" in columns or len(set(map(str, questions))) < len(questions):
        return columns
    return {"id": [str(label) for label in labels], **columns}


def frame_of_rows(rows: list[dict[str, Any]], name: str) -> pl.DataFrame:
    """A table from flat records."""
    return _frame(_columns(rows), name)


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}


def _frame(columns: dict[str, list[Any]], name: str) -> pl.DataFrame:
    try:
        return pl.DataFrame(
            [pl.Series(key, _of_one_kind(values), strict=False) for key, values in columns.items()]
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name} holds a table column by column, and a column mixes kinds of values "
            f"({str(error)[:80]}); write it as a list of records (orient='records' in pandas)."
        ) from None


def _of_one_kind(values: list[Any]) -> list[Any]:
    """The values of a column; beside lists, one value is a list of one."""
    kinds = {type(one) for one in values if one is not None}
    if len(kinds) < 2 or not kinds & {list, tuple, dict}:
        return values
    plain = [one for one in values if not isinstance(one, list | tuple)]
    if dict in kinds or any(set(str(one)) & {*";|\n"} for one in plain if one is not None):
        raise TypeError("lists or objects beside single values")
    return [[one] if one is not None and one in plain else one for one in values]


def _names_a_query(names: Iterable[Any]) -> bool:
    return all(isinstance(one, str) for one in names) and is_long(names)


def _decoded(value: Any) -> Any:
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


LEAST = 4 << 20
"""Files with fewer bytes are read whole, which keeps the types of their values."""
FIRST = 1000
"""Records that are sampled to find the fields, and whether they are flat."""
_WHOLE = 1 << 53
_PLAIN = str | int | float | None


def flat_lines(source: Source, said: Columns) -> InputTable | None:
    """The table in a large file of flat records; None if it is small or not flat."""
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
    table = InputTable(
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
    """Yield the records in blocks, decoded together if they are plain, else one by one.

    Decimals in the fields ``numbers`` are not turned into texts: most become numbers again.
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
    """The records of a block with one per line; None if anything is irregular.

    The decoder does not check that a record ends with its line. No flat record continues in a line
    that begins with a brace: if all lines do, and there are as many as records, each holds one.
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
    """Texts and numbers as texts, as Python writes them; a column of ``decimals`` may stay numeric.

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
    # Whole numbers lose their point; very small and very large ones get an exponent.
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
        # An id such as 7.0 was a whole number until a missing value turned its column into floats.
        return str(int(value))
    return str(value)


def _check_new(row: dict[str, Any], keys: Sequence[str], source: Source, line: int) -> None:
    """Refuse a field that matters and is missing in the first records."""
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
