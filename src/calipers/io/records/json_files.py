"""JSON and JSON lines: the shape of a file, its first record, and its records with their places."""

import json
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source, line_and_column
from calipers.io.records.records import Place

Shape = Literal["list", "lines", "object"]

_ANYTHING = msgspec.json.Decoder()
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for text that is no JSON, or is nested beyond its limit."""
_POSITION = re.compile(r"byte (\d+)")


@dataclass(frozen=True)
class Look:
    """The shape of a JSON file, and its first record (or, for one object, that object)."""

    shape: Shape
    first: Mapping[str, msgspec.Raw]

    @property
    def keys(self) -> frozenset[str]:
        """The keys by which a form is recognised."""
        return frozenset(self.first)


@dataclass(frozen=True)
class RawRecords:
    """Records as they stand in the file, one after the other, and where each stands."""

    items: Iterator[bytes | msgspec.Raw]
    place: Place
    line: Callable[[int], int | None] = lambda _: None
    """The line of a record, where each has its own."""


def opening(source: Source) -> Literal["list", "object"] | None:
    """What the content begins as; None where it is no JSON that holds anything."""
    begin = source.head.lstrip()[:1]
    return "list" if begin == b"[" else "object" if begin == b"{" else None


def look(source: Source) -> Look:
    """What the file is, from its beginning where that is enough."""
    if opening(source) == "list":
        return Look("list", as_object(_first_of_list(source)))
    first = first_line(source)
    whole = as_object(first)
    if whole and goes_on(source, first):
        return Look("lines", whole)
    return Look("object", decoded(source.read(), source, decoder=_OBJECT))


def raw_records(source: Source, seen: Look, key: str | None = None) -> RawRecords:
    """The records of a list, of lines, of the list under a key, or the one object itself."""
    if seen.shape == "lines":
        return _lines(source)
    content = source.read()
    if seen.shape == "list":
        listed = decoded(content, source, decoder=_RAW_LIST)
        return RawRecords(iter(listed), lambda i: f"{source.name} $[{i}]")
    if key is None:
        # A file of one line may be meant as JSON lines with a single record.
        line = "" if b"\n" in content.strip() else ":1"
        return RawRecords(iter((content,)), lambda _: f"{source.name}{line} $")
    value = decoded(content, source, decoder=_OBJECT).get(key)
    if value is None or not bytes(value).lstrip().startswith(b"["):
        raise InvalidInput(f"The records are no list at {source.name} $.{key}; they must be one.")
    records = _RAW_LIST.decode(value)
    return RawRecords(iter(records), lambda i: f"{source.name} $.{key}[{i}]")


def decoded(
    content: bytes | msgspec.Raw,
    source: Source,
    line: int | None = None,
    decoder: msgspec.json.Decoder[Any] = _ANYTHING,
) -> Any:
    """A JSON value, as plain Python or as far as the decoder goes; or where it is broken."""
    try:
        return decoder.decode(content)
    except BROKEN as error:
        raise UnreadableFile(explain_broken(str(error), bytes(content), source, line)) from None


def is_list_of_objects(raw: msgspec.Raw | None) -> bool:
    """Whether a value that is not decoded yet begins as a list of objects does."""
    begin = bytes(memoryview(raw)[:64]) if raw is not None else b""
    return begin[:1] == b"[" and begin[1:].lstrip()[:1] == b"{"


def first_keys(raw: msgspec.Raw) -> frozenset[str]:
    """The keys of the first object of a list that is not decoded yet."""
    return frozenset(as_object(msgspec.json.decode(raw, type=list[msgspec.Raw])[0]))


def plain_records(source: Source, seen: Look) -> tuple[Iterator[dict[str, Any]], Place]:
    """The records as plain Python, one after the other, and where each stands."""
    raw = raw_records(source, seen)

    def rows() -> Iterator[dict[str, Any]]:
        for number, one in enumerate(raw.items):
            yield as_record(decoded(one, source, raw.line(number)), raw.place(number))

    return rows(), raw.place


def as_record(value: Any, place: str) -> dict[str, Any]:
    """What was decoded, if it is an object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"A record is {value!r:.60} at {place}; it must be an object.")
    return value


def _lines(source: Source) -> RawRecords:
    numbers = array("q")

    def items() -> Iterator[bytes]:
        for number, line in source.lines():
            if line.strip():
                numbers.append(number)
                yield line

    return RawRecords(items(), lambda i: f"{source.name}:{numbers[i]} $", lambda i: numbers[i])


def _first_of_list(source: Source) -> bytes:
    """The text of the first value of a list; the whole file is read only for a very long one."""
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
    """Whether anything stands after the first line."""
    lines = (line for _, line in source.lines() if line.strip())
    return next(lines, b"").strip() == first and next(lines, None) is not None


def as_object(text: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The values of an object, not decoded any further; none where it is not one."""
    try:
        return _OBJECT.decode(text)
    except BROKEN:
        return {}


def explain_broken(message: str, content: bytes, source: Source, line: int | None = None) -> str:
    """Where JSON stops being JSON, as line and column."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        at, column = line_and_column(content, error.start)
        return (
            f"{source.name}:{line or at}:{column} is not valid UTF-8 (byte "
            f"{content[error.start]:#04x}); save the file as UTF-8."
        )
    if "recursion" in message:
        return (
            f"The JSON in {source.name}{f':{line}' if line else ''} is nested too deeply: found "
            "more than a thousand levels; no form has more than a dozen, so write it again."
        )
    found = _POSITION.search(message)
    position = int(found[1]) if found else len(content.rstrip())
    at, column = line_and_column(content, position)
    what = "ends in the middle of a value" if "truncated" in message else "is not valid JSON"
    if "trailing characters" in message:
        what = "goes on after the end of its value"
    return (
        f"The JSON in {source.name}:{line or at}:{column} {what}; "
        "check the file at that place, or write it again."
    )


def explain_mismatch(message: str, place: str, example: str) -> str:
    """msgspec's complaint as our sentence, with the whole path."""
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
