"""JSON and JSON lines: detect the shape of a file, read its records and tables.

A table is flat records, one per line, which are read in blocks if the file is large.
"""

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.io.files.open import Source, line_and_column, not_utf8
from calipers.io.records.schema import Place
from calipers.io.tables.columns import Columns
from calipers.io.tables.scan import InputTable, lazily
from calipers.io.tables.usual_names import is_long, renaming
from calipers.names import plain_name

Shape = Literal["list", "lines", "object", "values"]
"""``values`` are objects one after another, each on several lines, as programs print them."""

_ANYTHING = msgspec.json.Decoder()
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for text that is not JSON, or is nested too deeply."""
_BLANKS = re.compile(r"\s*")
_POSITION = re.compile(r"byte (\d+)")


@dataclass(frozen=True)
class Look:
    """The shape of a JSON file, and its first record (or, for one object, that object)."""

    shape: Shape
    first: Mapping[str, object]
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

    def plain(self) -> Iterator[dict[str, object]]:
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
    content = source.read()
    try:
        return Look("object", _OBJECT.decode(content))
    except BROKEN as error:
        values = _values(content) if "trailing characters" in str(error) else []
        if len(values) < 2:
            raise UnreadableFile(explain_broken(str(error), content, source)) from None
    return Look("values", as_object(values[0]))


def _values(content: bytes) -> list[bytes]:
    """The objects that stand one after another in a text; none if there is anything else."""
    text = content.decode(errors="replace")
    decoder = json.JSONDecoder()
    values: list[bytes] = []
    at = 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        values.append(text[at:end].encode())
        blanks = _BLANKS.match(text, end)
        at = end if blanks is None else blanks.end()
    return values if all(value.startswith(b"{") for value in values) else []


def raw_records(source: Source, seen: Look, key: str | None = None) -> RawRecords:
    """The records of a list, of lines, of the list under a key, or a single object."""
    if seen.shape == "lines":
        return _lines(source)
    content = source.read()
    if seen.shape == "values":
        return RawRecords(
            _values(content), lambda i: f"{source.name} $[{i}]", source=source
        )
    if seen.shape == "list":
        listed = decoded(content, source, decoder=_RAW_LIST)
        return RawRecords(iter(listed), lambda i: f"{source.name} $[{i}]", source=source)
    if key is None:
        # A file of one line may be JSON lines with a single record.
        line = "" if b"\n" in content.strip() else ":1"
        return RawRecords(
            iter((content,)), lambda _: f"{source.name}{line} $", source=source
        )
    value = decoded(content, source, decoder=_OBJECT).get(key)
    if value is None or not bytes(value).lstrip().startswith(b"["):
        raise InvalidInput(
            f"The records are no list at {source.name} $.{key}; they must be one."
        )
    records = _RAW_LIST.decode(value)
    return RawRecords(
        iter(records), lambda i: f"{source.name} $.{key}[{i}]", source=source
    )


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
        raise UnreadableFile(
            explain_broken(str(error), bytes(content), source, line)
        ) from None


def is_list_of_objects(value: object) -> bool:
    """Whether a value, decoded or not, begins as a list of objects."""
    if isinstance(value, msgspec.Raw):
        begin = bytes(memoryview(value)[:64])
        return begin[:1] == b"[" and begin[1:].lstrip()[:1] == b"{"
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def first_object(listed: object) -> Mapping[str, object]:
    """The first object of a list, decoded or not; empty if the list begins with another value."""
    if isinstance(listed, msgspec.Raw):
        return as_object(msgspec.json.decode(listed, type=list[msgspec.Raw])[0])
    first = listed[0] if isinstance(listed, list | tuple) and listed else None
    return first if isinstance(first, Mapping) else {}


def opened(value: object) -> Any:
    """A value, decoded if it is not yet; None if it is broken."""
    try:
        return (
            msgspec.json.decode(value)
            if isinstance(value, bytes | msgspec.Raw)
            else value
        )
    except BROKEN:
        return None


def as_record(value: object, place: str) -> Any:
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
            "more than a thousand levels; no format has more than a dozen, so write it again."
        )
    found = _POSITION.search(message)
    position = int(found[1]) if found else len(content.rstrip())
    at, column = line_and_column(content, position)
    what = (
        "ends in the middle of a value" if "truncated" in message else "is not valid JSON"
    )
    if "trailing characters" in message:
        what = "goes on after the end of its value"
    return (
        f"The JSON in {name}:{line or at}:{column} {what}; "
        "check the file at that place, or write it again."
    )


def explain_mismatch(message: str, place: str, example: str) -> str:
    """Rewrite msgspec's error, with the full path."""
    what, of_name, path = message.partition(" - at `key` in `$")
    if of_name:
        return (
            f"The name of a value is no text at {place}{path.rstrip('`')}; "
            "write every name as a text."
        )
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
        return (
            f"A list is too long at {place}{path}: at most {most:,} values are allowed."
        )
    wanted, _, found = expected.partition(", got ")
    return (
        f"A value has the wrong type at {place}{path}: found {found or what}; "
        f"{'expected ' + wanted if found else 'see the documented format'}."
    )


MOST_COLUMNS = 200


def rows_of_columns(
    value: Mapping[Any, Any], name: str, said: Columns | None = None
) -> list[object]:
    """The records in an object of columns, ``{"question": […], "chunk_id": […]}``.

    pandas and ``datasets`` write such objects, and Chroma where it is asked several questions. None
    where it is another object, such as a mapping of queries; refused where the columns differ in
    length.
    """
    keys = list(map(str, value)) if 1 < len(value) <= MOST_COLUMNS else []
    if not keys or keys != list(value):
        return []
    asked = next((key for key in keys if plain_name(key) in _QUESTIONS), None)
    renamed = said.fresh().rename(keys, name) if said else {}
    called = [renamed.get(key, key) for key in keys]
    if not is_long([*called, *([] if asked is None else ["query"])]):
        return []
    columns = {key: opened(one) for key, one in value.items()}
    if asked is not None and isinstance(columns[asked], list):
        columns = {"query" if key == asked else key: columns[key] for key in columns}
    columns = {
        key: column
        for key, column in columns.items()
        # Chroma lists in one of them which of the others it included.
        if column is not None and not (key == "included" and _are_names(column, keys))
    }
    if all(isinstance(column, Mapping) for column in columns.values()):
        rows = [list(column) for column in columns.values()]
        if not rows[0] or any(row != rows[0] for row in rows):
            return []
        columns = {key: list(column.values()) for key, column in columns.items()}
    lists = all(isinstance(column, list | tuple) for column in columns.values())
    if not lists or not is_long(renamed.get(key, key) for key in columns):
        return []
    lengths = {key: len(column) for key, column in columns.items()}
    if len({*lengths.values()}) > 1:
        listed = ", ".join(f"{key} {length:,}" for key, length in lengths.items())
        raise InvalidInput(
            f"{name} holds a table column by column, and its columns differ in length: "
            f"{listed:.200}; give one value for each row."
        )
    every = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in every]


_QUESTIONS = frozenset({"queries", "query_texts"})
"""Names of a column of questions that no record has."""


def _are_names(column: object, keys: Sequence[str]) -> bool:
    """Whether a value lists names of columns."""
    return isinstance(column, list) and {*map(str, column)} <= {*keys}


def frame_of_rows(rows: Sequence[Mapping[str, object]], name: str) -> pl.DataFrame:
    """A table from flat records."""
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    try:
        return pl.DataFrame(
            [
                pl.Series(key, _of_one_kind(values), strict=False)
                for key, values in columns.items()
            ]
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"The records of {name} mix kinds of values in a field ({str(error)[:80]}); give it "
            "one kind in all of them."
        ) from None


def _of_one_kind(values: Sequence[object]) -> Sequence[object]:
    """The values of a column; beside lists, one value is a list of one."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or not kinds & {list, tuple, dict}:
        return values
    plain = [value for value in values if not isinstance(value, list | tuple)]
    if dict in kinds or any(
        set(str(one)) & {*";|\n"} for one in plain if one is not None
    ):
        raise TypeError("lists or objects beside single values")
    return [
        [value] if value is not None and value in plain else value for value in values
    ]


LEAST = 4 << 20
"""Files with fewer bytes are read whole, which keeps the types of their values."""
FIRST = 1000
"""Records that are sampled to find the fields, and whether they are flat."""


def flat_lines(source: Source, columns: Columns) -> InputTable | None:
    """The table in a large file of flat records, every cell a text; None if small or not flat."""
    if not source.path.is_file() or source.path.stat().st_size < LEAST:
        return None
    keys: dict[str, None] = {}
    for _, row in islice(_records(source.lines(), source), FIRST):
        if any(isinstance(value, list | dict) for value in row.values()):
            return None
        keys.update(dict.fromkeys(row))
    names = list(keys)
    table = InputTable(
        lambda: lazily(dict.fromkeys(names, pl.String()), lambda: _frames(source, names)),
        source.name,
        lambda row: _place(source, row),
        frozenset(names),
        listed=tuple(names),
        pieces=lambda: (frame.lazy() for frame in _frames(source, names)),
        quoted=True,
    )
    return table.renamed(columns)


def _frames(source: Source, keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield the records in blocks of texts; a block that is not plain is checked line by line."""
    schema = dict.fromkeys(keys, pl.String())
    before = 1
    for block in source.blocks():
        try:
            frame = pl.read_ndjson(block, schema=schema)
        except pl.exceptions.PolarsError:
            _check_lines(block, before, schema, source)
            raise
        plain = block.count(b'":') == frame.height * len(keys) and b"[" not in block
        if not plain or any(column.null_count() for column in frame):
            _check_lines(block, before, schema, source)
        before += block.count(b"\n")
        yield frame


def _check_lines(
    block: bytes, before: int, schema: Mapping[str, object], source: Source
) -> None:
    """Refuse a field that matters and is not in the first records, and lists where texts were."""
    for line, row in _records(enumerate(block.split(b"\n"), before), source):
        for key, value in row.items():
            if isinstance(value, list | dict) if key in schema else renaming([key]):
                raise InvalidInput(
                    f"The field {key!r} is {value!r:.60} at {source.name}:{line}, and not so in "
                    f"the first {FIRST:,} records, which show what the file holds; give all "
                    "records the same format."
                )


def _records(
    lines: Iterable[tuple[int, bytes]], source: Source
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        if line.strip():
            yield (
                number,
                as_record(decoded(line, source, number), f"{source.name}:{number} $"),
            )


def _place(source: Source, row: int) -> str:
    line = next(islice(_records(source.lines(), source), row, None), None)
    return source.name if line is None else f"{source.name}:{line[0]} $"
