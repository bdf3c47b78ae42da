"""Forms with one record per query: how a row of any tool becomes one of our records.

A tool's form says how its rows are recognised (by their keys), what type a row has, and how a
row is turned into a record. JSON, JSON lines, tables and lists of dictionaries all come here,
so that a form is written once and read from everywhere.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.form import Form
from calipers.io.json_files import RawRecords, explain_broken
from calipers.io.mismatch import explain_mismatch
from calipers.io.records import Place, Record
from calipers.io.source import Source
from calipers.io.stream import RecordStream, Unread

At = Callable[[], str]
"""The place of a row in words, worked out only when it is needed."""
Rows = Iterator[tuple[At, Any]]


@dataclass(frozen=True, kw_only=True)
class RowFormat(Form):
    """One tool's form: how its rows are recognised, and how they become records."""

    recognise: Callable[[frozenset[str]], bool]
    """Whether these are the keys of its rows."""
    row: Any
    """The type of a row: a struct, or plain dictionaries."""
    records: Callable[[Rows], Iterator[Record]]
    one_each: bool = True
    """Whether every row is one record; else rows are gathered first."""
    left_out: Callable[[Any], tuple[str, ...]] | None = None
    """The kept keys whose values do not reach the record of this row all the same."""
    strict: Any = None
    """The type of a row with no field but the form's, where others are looked at by ``check``."""
    check: Callable[[Any, str], None] = lambda _row, _place: None
    """Refuses a row, at a place in words, for a field that is not the form's."""

    @cached_property
    def not_text(self) -> frozenset[str]:
        """The fields that cannot be a plain text, so that text in a table cell is JSON there."""
        if not isinstance(self.row, type) or not issubclass(self.row, msgspec.Struct):
            return frozenset()
        hints = get_type_hints(self.row)
        renamed = {f.name: f.encode_name for f in msgspec.structs.fields(self.row)}
        return frozenset(renamed[name] for name, hint in hints.items() if str not in _parts(hint))


def each(convert: Callable[[Any, At], Record]) -> Callable[[Rows], Iterator[Record]]:
    """Records made row by row."""

    def records(rows: Rows) -> Iterator[Record]:
        for at, row in rows:
            yield convert(row, at)

    return records


def stream_json(form: RowFormat, source: Source, raw: RawRecords, watch: bool) -> RecordStream:
    """Records from JSON; ``watch`` counts the keys that are not carried over."""
    unread, unused = Unread(), Unread()
    decode = _decoder(form)
    keys = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def rows() -> Rows:
        for number, item in enumerate(raw.items):
            try:
                row = decode(item, partial(raw.place, number))
            except msgspec.ValidationError as error:
                where = raw.place(number)
                raise InvalidInput(explain_mismatch(str(error), where, form.example)) from None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                line = raw.line(number) if raw.line else None
                raise UnreadableFile(
                    explain_broken(str(error), bytes(item), source, line)
                ) from None
            if watch:
                note_unread(unread, form.kept, keys.decode(item))
            if form.left_out is not None and (watch or form.why_left_out):
                unused.update(form.left_out(row))
            yield partial(raw.place, number), row

    return _stream(form, rows(), raw.place, source.name, unread, unused)


def stream_rows(
    form: RowFormat, rows: Iterable[Mapping[str, Any]], place: Place, name: str, watch: bool = False
) -> RecordStream:
    """Records from dictionaries: a list in memory, or the rows of a table."""
    unread, unused = Unread(), Unread()

    def converted() -> Rows:
        for number, values in enumerate(rows):
            if not isinstance(values, Mapping):
                raise InvalidInput(
                    f"A record is a {type(values).__name__} at {place(number)}; it must be "
                    f"{form.example}."
                )
            present = {key: one for key, one in values.items() if one is not None}
            try:
                row = _converted(form, present, partial(place, number))
            except msgspec.ValidationError as error:
                where = place(number)
                raise InvalidInput(explain_mismatch(str(error), where, form.example)) from None
            if watch:
                note_unread(unread, form.kept, values)
            if form.left_out is not None and (watch or form.why_left_out):
                unused.update(form.left_out(row))
            yield partial(place, number), row

    return _stream(form, converted(), place, name, unread, unused)


def _decoder(form: RowFormat) -> Callable[[bytes | msgspec.Raw, At], Any]:
    """Decodes a row of JSON; only one with fields beside the form's is looked at twice."""
    loose = msgspec.json.Decoder(form.row)
    strict = msgspec.json.Decoder(form.strict) if form.strict is not None else loose

    def decode(item: bytes | msgspec.Raw, at: At) -> Any:
        try:
            return strict.decode(item)
        except msgspec.ValidationError as error:
            if form.strict is None or not _names_unknown_field(error):
                raise
        row = loose.decode(item)
        form.check(msgspec.json.decode(item), at())
        return row

    return decode


def _converted(form: RowFormat, values: Mapping[str, Any], at: At) -> Any:
    try:
        return msgspec.convert(values, form.strict if form.strict is not None else form.row)
    except msgspec.ValidationError as error:
        if form.strict is None or not _names_unknown_field(error):
            raise
    row = msgspec.convert(values, form.row)
    form.check(values, at())
    return row


def _names_unknown_field(error: msgspec.ValidationError) -> bool:
    return "contains unknown field" in str(error)


def _stream(
    form: RowFormat, rows: Rows, place: Place, name: str, unread: Unread, unused: Unread
) -> RecordStream:
    where = place if form.one_each else lambda _: name
    return RecordStream(form.records(rows), where, name, form, unread, unused)


def cell(value: Any, form: RowFormat, key: str) -> Any:
    """A table cell as the form has it: JSON text decoded, absent struct fields left out."""
    if isinstance(value, str) and key in form.not_text:
        return decoded_text(value)
    return _unnested(value)


def decoded_text(text: str) -> Any:
    """What a table cell holds as JSON, or as Python prints it; else the text as it is.

    >>> decoded_text('["a"]'), decoded_text("['a']"), decoded_text("[a]")
    (['a'], ['a'], '[a]')
    """
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        pass
    try:
        # Lists written to CSV by Python's own str().
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _unnested(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unnested(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and set(one) == {"key", "value"} for one in value):
            return {one["key"]: _unnested(one["value"]) for one in value}
        return [_unnested(one) for one in value]
    return value


def note_unread(unread: Unread, kept: frozenset[str], values: Mapping[str, Any]) -> None:
    """Count the keys that hold something and are not carried over."""
    for key, value in values.items():
        if key not in kept:
            held = bytes(value) if isinstance(value, msgspec.Raw) else value
            if held not in (None, "", b"null", b'""', b"[]", b"{}", [], {}):
                unread[key] += 1


def _parts(hint: Any) -> set[Any]:
    """The types that a field's annotation allows at its top level."""
    if getattr(hint, "__origin__", None) in (list, dict):
        return {hint.__origin__}
    inner = [one for one in get_args(hint) if one is not NoneType]
    return set().union(*map(_parts, inner)) if inner else {hint}
