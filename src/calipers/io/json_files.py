"""JSON and JSON lines: our records, and plain mappings of query to items."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io import mappings
from calipers.io.records import Record, build, explain_mismatch
from calipers.io.source import Source, line_and_column
from calipers.model.dataset import Dataset, Role

_RECORD = msgspec.json.Decoder(Record)
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_POSITION = re.compile(r"byte (\d+)")


def detect_list(source: Source) -> bool:
    """A JSON file that begins with a list."""
    return source.head.lstrip()[:1] == b"["


def detect_lines(source: Source) -> bool:
    """Lines that each hold one JSON object: the first line is whole by itself."""
    head = source.head.lstrip()
    if head[:1] != b"{":
        return False
    first, newline, rest = head.partition(b"\n")
    if not newline or rest.lstrip()[:1] not in (b"{", b""):
        return not newline and is_record(first)
    return is_json(first)


def detect_mapping(source: Source) -> bool:
    """One JSON object over the whole file."""
    return source.head.lstrip()[:1] == b"{" and not detect_lines(source)


def is_json(text: bytes) -> bool:
    """Whether the text is one whole JSON value."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def is_record(text: bytes) -> bool:
    """Whether the text is one of our records, so that one line alone is a JSON lines file."""
    try:
        _RECORD.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def read_list(source: Source) -> Dataset:
    """Records in a JSON list."""
    content = source.read()
    try:
        raws = _RAW_LIST.decode(content)
    except msgspec.DecodeError as error:
        raise UnreadableFile(explain_broken(str(error), content, source)) from None

    def place(number: int) -> str:
        return f"{source.name} $[{number}]"

    return build(_decoded(raws, place), place, source.name, source.name)


def read_lines(source: Source) -> Dataset:
    """Records on lines of their own."""
    lines: list[int] = []

    def records() -> Iterator[Record]:
        for number, line in source.lines():
            if not line.strip():
                continue
            lines.append(number)
            try:
                yield _RECORD.decode(line)
            except msgspec.ValidationError as error:
                where = f"{source.name}:{number} $"
                raise InvalidInput(explain_mismatch(str(error), where)) from None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise UnreadableFile(explain_broken(str(error), line, source, number)) from None

    def place(number: int) -> str:
        return f"{source.name}:{lines[number]} $"

    return build(records(), place, source.name, source.name)


def read_mapping(source: Source, role: Role) -> Dataset:
    """One object: a single record, or a mapping of query to items."""
    content = source.read()
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(explain_broken(str(error), content, source)) from None
    if "query" in value and is_record(content):
        return build([_RECORD.decode(content)], lambda _: f"{source.name} $", source.name)
    return mappings.read(value, role, source.name)


def _decoded(raws: list[msgspec.Raw], place: Any) -> Iterator[Record]:
    for number, raw in enumerate(raws):
        try:
            yield _RECORD.decode(raw)
        except msgspec.ValidationError as error:
            raise InvalidInput(explain_mismatch(str(error), place(number))) from None


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
    found = _POSITION.search(message)
    position = int(found[1]) if found else len(content.rstrip())
    at, column = line_and_column(content, position)
    what = "ends in the middle of a value" if "truncated" in message else "is not valid JSON"
    if "trailing" in message:
        what = "goes on after the end of its value"
    return (
        f"The JSON in {source.name}:{line or at}:{column} {what}; "
        "check the file at that place, or write it again."
    )
