"""Forms in JSON and tables: how rows, or one object, of any tool become our records.

A tool's form says how its rows are recognised (by their keys), what type a row has, and how a
row is turned into a record. JSON, JSON lines, tables and lists of dictionaries all come here,
so that a form is written once and read from everywhere.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, get_args, get_type_hints

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.format import Format, RecordStream, Unread, note_unread, once_each, wrong_form
from calipers.io.records import json_files
from calipers.io.records.gather import ReadyResults
from calipers.io.records.json_files import BROKEN, RawRecords, explain_broken, explain_mismatch
from calipers.io.records.records import Place, Record
from calipers.io.tables.scan import Table, explained
from calipers.model.matched import Dataset, Role

TRUTH = "ground_truth"

At = Callable[[], str]
"""The place of a row in words, worked out only when it is needed."""
PathPlace = Callable[[str], str]
"""Turns a path inside an object into words."""
Rows = Iterator[tuple[At, Any]]
_ROWS_AT_ONCE = 2_000
"""Rows of a table that are decoded together."""


class RowFormat(Format):
    """A form of rows, in JSON and in tables."""

    row: ClassVar[Any]
    """The type of a row: a struct, or plain dictionaries."""
    one_each: ClassVar[bool] = False
    """Whether every row is one record; else rows are gathered first."""
    of_ids: ClassVar[tuple[str, ...]] = ()
    """The fields that may be ids in one cell of a table, with a sign between them."""
    list_of_results: ClassVar[str] = ""
    """The field that lists results as ``Result`` has them, which a table may hold as columns."""
    strict: ClassVar[Any] = None
    """The type of a row with no field but the form's, where others are looked at by ``check``."""

    def recognise(self, keys: frozenset[str]) -> bool:
        """Whether these are the keys of its rows."""
        return any(own <= keys for own in self.known_by)

    @abstractmethod
    def records(self, rows: Rows) -> Iterator[Record]:
        """The records that all rows make together."""

    def left_out(self, row: Any) -> tuple[str, ...]:
        """The kept keys whose values do not reach the record of this row all the same."""
        del row
        return ()

    def passes_over(self, name: str) -> bool:
        """Whether a result may have a field of this name, whatever it holds, and nobody cares."""
        del name
        return False

    def check(self, row: Any, place: str) -> None:
        """Refuse a row, at a place in words, for a field that is not the form's."""

    def fields_without_id(self, row: Any) -> Iterable[str]:
        """The fields of results that carry no id, in a row with fields that are not the form's."""
        del row
        return ()

    def detect(self, sight: Sight) -> bool:
        """Whether the rows of a file, or of a list in it, have the keys of this form."""
        return any(self.recognise(keys) for keys in sight.row_keys.values())

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset | RecordStream:
        """The records in a table, a list, lines, or the list under a key."""
        del role
        if sight.table is not None:
            return stream_table(self, sight.table, watch)
        if sight.look is None:
            raise wrong_form(sight, self.title)
        owner = next((key for key, keys in sight.row_keys.items() if self.recognise(keys)), None)
        said = sight.columns_said
        if said.named and owner is None:
            rows, place = json_files.plain_records(sight.source, sight.look)
            return stream_rows(
                self, (said.renamed(row, sight.name) for row in rows), place, sight.name, watch
            )
        raw = json_files.raw_records(sight.source, sight.look, owner)
        return _stream_json(self, sight.source, raw, watch)

    @cached_property
    def not_text(self) -> frozenset[str]:
        """The fields that cannot be a plain text, so that text in a table cell is JSON there."""
        if not isinstance(self.row, type) or not issubclass(self.row, msgspec.Struct):
            return frozenset()
        hints = get_type_hints(self.row)
        renamed = {f.name: f.encode_name for f in msgspec.structs.fields(self.row)}
        return frozenset(renamed[name] for name, hint in hints.items() if str not in _parts(hint))


class EachRow(RowFormat):
    """A form in which every row is one record."""

    one_each = True

    @abstractmethod
    def record(self, row: Any, at: At) -> Record:
        """A row as a record."""

    def records(self, rows: Rows) -> Iterator[Record]:
        """The records, row by row."""
        for at, row in rows:
            yield self.record(row, at)


class WholeFormat(Format):
    """A form that is one JSON object over the whole file."""

    whole: ClassVar[Any]
    """The type of the object."""

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """Whether the values under these keys are its own; they may not be decoded yet."""
        return any(own <= first.keys() for own in self.known_by)

    @abstractmethod
    def records(self, whole: Any, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """The records with their places; ``place`` turns a path into one."""

    def detect(self, sight: Sight) -> bool:
        """Whether a file is one object with the keys of this form."""
        look = sight.look
        return look is not None and look.shape == "object" and self.recognise(look.first)

    def read(self, sight: Sight, role: Role, watch: bool) -> RecordStream:
        """The records of the object in a file."""
        del role
        if sight.look is None or sight.look.shape != "object":
            raise wrong_form(sight, self.title)
        return stream_whole(self, sight.source.read(), sight.name, watch)


def _stream_json(form: RowFormat, source: Source, raw: RawRecords, watch: bool) -> RecordStream:
    """Records from JSON; ``watch`` counts the keys that are not carried over."""
    decoders = {kind: msgspec.json.Decoder(kind) for kind in (form.row, form.strict)}

    def read(item: bytes | msgspec.Raw, number: int, kind: Any) -> Any:
        try:
            return decoders[kind].decode(item)
        except msgspec.ValidationError:
            raise
        except BROKEN as error:
            line = raw.line(number)
            raise UnreadableFile(explain_broken(str(error), bytes(item), source, line)) from None

    return _stream(form, raw.items, raw.place, source.name, watch, read, msgspec.json.decode)


def stream_rows(
    form: RowFormat, rows: Iterable[Mapping[str, Any]], place: Place, name: str, watch: bool = False
) -> RecordStream:
    """Records from dictionaries: a list in memory, or the rows of a table."""

    def filled() -> Iterator[dict[str, Any]]:
        from calipers.io.tables.cells import in_order

        for number, values in enumerate(rows):
            if not isinstance(values, Mapping):
                raise InvalidInput(
                    f"A record is a {type(values).__name__} at {place(number)}; it must be "
                    f"{form.example}."
                )
            yield {
                key: in_order(one, key, key in (form.truth_field, TRUTH), partial(place, number))
                for key, one in values.items()
                if one is not None
            }

    return _stream(form, filled(), place, name, watch, _converted, dict)


def _converted(values: Mapping[str, Any], _: int, kind: Any) -> Any:
    try:
        return msgspec.convert(values, kind)
    except (AttributeError, TypeError):
        # A number of numpy where a list belongs: as one of Python it gets the usual sentence.
        plain = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in values.items()}
        return msgspec.convert(plain, kind)


def stream_table(form: RowFormat, table: Table, watch: bool = False) -> RecordStream:
    """The rows of a table in a tool's own form, as records."""
    from calipers.io.records.result_columns import results_by_row
    from calipers.io.tables.cells import Splitter, cell_value

    # A form without a struct may look at any column.
    every = watch or not hasattr(form.row, "__struct_fields__")
    names = [name for name in table.names() if every or name in form.kept]
    notes = list(table.notes)
    texts = set[str]()
    if form.of_ids:
        from calipers.io.tables.understand import columns_of_texts

        texts = columns_of_texts(table, form.of_ids, form.list_of_results, form.kept)
    notes += [
        f"The column {key!r} holds sentences and is taken as quotes, one in each cell: a quote is "
        "found where the text of a result holds it."
        for key in texts
    ]
    ready: dict[int, ReadyResults] = {}

    def rows() -> Iterator[dict[str, Any]]:
        splitters = {key: Splitter(key) for key in form.of_ids}
        seen = 0
        with explained(table.name, table.fault):
            for batch in table.batches(names, _ROWS_AT_ONCE):
                lists = None
                if form.list_of_results in batch.columns:
                    lists = results_by_row(batch[form.list_of_results], form.passes_over)
                if lists is not None:
                    batch = batch.drop(form.list_of_results)
                    ready.update({seen + row: one for row, one in lists.items()})
                for row in batch.iter_rows(named=True):
                    made = {k: cell_value(one, k in form.not_text) for k, one in row.items()}
                    for key in splitters.keys() & made.keys():
                        if not isinstance(row[key], str) or isinstance(
                            made[key], list | dict | set
                        ):
                            continue
                        if key in texts:
                            made[key] = [{"quote": row[key]}]
                        else:
                            made[key] = splitters[key].split(row[key], partial(table.where, seen))
                    seen += 1
                    yield made
        for splitter in splitters.values():
            notes.extend(splitter.notes())

    stream = stream_rows(form, rows(), lambda i: f"{table.where(i)} $", table.name, watch)
    return replace(stream, records=_with_results(stream.records, ready), notes=notes)


def _with_results(records: Iterator[Record], ready: dict[int, ReadyResults]) -> Iterator[Record]:
    """The records with what was taken out of their rows."""
    for number, record in enumerate(records):
        if number in ready:
            record.retrieved = ready.pop(number)  # type: ignore[assignment]
        yield record


def _stream(
    form: RowFormat,
    items: Iterable[Any],
    place: Place,
    name: str,
    watch: bool,
    read: Callable[[Any, int, Any], Any],
    values: Callable[[Any], dict[str, Any]],
) -> RecordStream:
    """Records of what ``read`` makes of each item, its number and the type of a row."""
    unread, unused = Unread(), Unread()
    fields: dict[str, None] = {}

    def row_of(item: Any, number: int) -> Any:
        """A row; only one with fields beside the form's is looked at twice."""
        if form.strict is not None:
            try:
                return read(item, number, form.strict)
            except msgspec.ValidationError as error:
                if "contains unknown field" not in str(error):
                    raise
        row = read(item, number, form.row)
        if form.strict is not None:
            given = values(item)
            form.check(given, place(number))
            fields.update(dict.fromkeys(form.fields_without_id(given)))
        if watch:
            note_unread(unread, form.kept, values(item))
        return row

    def rows() -> Rows:
        for number, item in enumerate(items):
            try:
                row = row_of(item, number)
            except msgspec.ValidationError as error:
                where = place(number)
                raise InvalidInput(explain_mismatch(str(error), where, form.example)) from None
            if watch or form.why_left_out:
                unused.update(form.left_out(row))
            yield partial(place, number), row

    where = place if form.one_each else lambda _: name
    stream = RecordStream(form.records(rows()), where, name, form, unread, unused, fields=fields)
    return once_each(stream) if form.merges_equal else stream


def _parts(hint: Any) -> set[Any]:
    """The types that a field's annotation allows at its top level."""
    if getattr(hint, "__origin__", None) in (list, dict):
        return {hint.__origin__}
    inner = [one for one in get_args(hint) if one is not NoneType]
    return set().union(*map(_parts, inner)) if inner else {hint}


def stream_whole(form: WholeFormat, value: Any, name: str, watch: bool = False) -> RecordStream:
    """Records from one object: JSON text, or a dictionary in memory."""
    try:
        if isinstance(value, bytes | msgspec.Raw):
            whole = msgspec.json.decode(value, type=form.whole)
        else:
            whole = msgspec.convert(value, form.whole)
    except msgspec.ValidationError as error:
        raise InvalidInput(explain_mismatch(str(error), f"{name} $", form.example)) from None
    except BROKEN as error:
        raise UnreadableFile(explain_broken(str(error), bytes(value), Source(Path(name)))) from None
    places: list[str] = []
    unread: Unread = Unread()
    if watch:
        top = value if isinstance(value, Mapping) else msgspec.json.decode(value)
        note_unread(unread, form.kept, top)

    def records() -> Iterator[Record]:
        for place, record in form.records(whole, lambda path: f"{name} {path}"):
            places.append(place)
            yield record

    return RecordStream(records(), places.__getitem__, name, form, unread)
