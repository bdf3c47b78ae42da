"""File formats: a class that recognises, reads and, if possible, writes each.

The format of a tool declares how rows are recognised (by their keys), the type of a row, and how a
row becomes a record. JSON, JSON lines, tables and lists of dictionaries all use it, so that a
format is written once. A format of another package is the same kind of class; see ``registry``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile, is_command_line
from calipers.frozen import dataclass
from calipers.io.files.probe import Probe
from calipers.io.records.entries import Remarks
from calipers.io.records.explode import build_records
from calipers.io.records.json_files import (
    BROKEN,
    RawRecords,
    explain_broken,
    explain_mismatch,
    opened,
)
from calipers.io.records.schema import At, JsonRecord, Place, PlainRecord
from calipers.io.tables.cells import cell_value, in_order
from calipers.io.tables.columns import TAG
from calipers.io.tables.scan import InputTable, explained
from calipers.io.tables.usual_names import IGNORED
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import Run
from calipers.names import NEGATIVES, PARALLEL, plain_name

Parts = Iterable[Dataset]
"""The datasets to write, in portions."""


@dataclass(frozen=True)
class Output:
    """One way of writing a format."""

    name: str
    title: str
    """What is written, in words."""
    holds: frozenset[str]
    """The facets (see ``entries.FACETS``) that survive."""
    endings: tuple[str, ...] = ()
    """The file extensions that select this output."""
    can_be_packed: bool = True
    """Whether it can be written compressed, to a path that ends in .gz."""


class Format(ABC):
    """One format: its names, how it is recognised, read and written."""

    name: str
    title: str
    """A description of a file in this format."""
    example: str = ""
    kept: frozenset[str] = frozenset()
    """The keys whose values reach the record; by default those of its struct."""
    results_field: str = ""
    """The format's own name for ``retrieved``, if different."""
    truth_field: str = ""
    """The format's own name for ``ground_truth``, if different."""
    no_truth: str = ""
    """Why it holds no ground truth, if it looks as if it did."""
    judges_results: bool = False
    """Whether it judges results, so that nothing else has a judgement."""
    known_by: tuple[Set[str], ...] = ()
    """Sets of keys that identify the format: no other has all keys of one set."""
    only: Role | None = None
    """The part it holds, if another format looks the same and holds the other part."""
    fallback: int = 0
    """Its turn if no other format recognises the file: 1 is first; 0 is no fallback."""
    outputs: tuple[Output, ...] = ()
    """The ways of writing it; empty if it is only read."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        struct = vars(cls).get("row", vars(cls).get("whole"))
        if "kept" not in vars(cls) and hasattr(struct, "__struct_encode_fields__"):
            cls.kept = frozenset(struct.__struct_encode_fields__)

    @property
    def fields(self) -> Mapping[str, str]:
        """Our names for the two parts, each with the format's own."""
        named = {"retrieved": self.results_field, "ground_truth": self.truth_field}
        return {ours: theirs for ours, theirs in named.items() if theirs}

    @abstractmethod
    def detect(self, probe: Probe) -> bool:
        """Whether a file looks like this format."""

    def yields(self, probe: Probe) -> bool:
        """Whether a file that it recognises may be an export of another tool, if it reads so."""
        del probe
        return False

    def is_of_others(self, probe: Probe) -> bool:
        """Whether a file that it recognises by some name has the other names of another format."""
        del probe
        return False

    @abstractmethod
    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read a file for a role."""

    def write(
        self, output: Output, parts: Parts, path: Path, remarks: Remarks
    ) -> list[Path]:
        """Write datasets in one of the outputs, and return the files written."""
        del parts, path, remarks
        raise InvalidInput(f"{output.title} cannot be written; it can only be read.")


class Writer(NamedTuple):
    """A format and the requested output."""

    file_format: Format
    output: Output


def wrong_format(probe: Probe, title: str) -> InvalidInput:
    """The error for a file that is not in the format it was read as."""
    return InvalidInput(
        f"{probe.name} cannot be read as {title}: it is not of that shape."
    )


def dataset_of(
    file_format: Format,
    records: Iterator[PlainRecord | JsonRecord],
    place: Place,
    probe: Probe,
    notes: Iterable[str] = (),
    proposal: str = "",
) -> Dataset:
    """All records as a dataset; results beyond the memory budget go to disk.

    ``proposal`` has the options that name a missing part, where a field may be it.
    """
    dataset = build_records(
        records, place, probe.name, probe.name, file_format.fields, probe.room
    )
    truth = dataset.ground_truth
    run = dataset.run
    if truth is not None and run is not None:
        is_inferred = file_format.judges_results or are_the_judged(truth, run)
        truth = replace(truth, only_returned=truth.only_returned or is_inferred)
    if truth is not None:
        notes = [*notes, *truth.notes, *like_ranks(truth)]
        called = file_format.fields.get("ground_truth")
        if called is not None and truth.kinds == {"quote"}:
            said = sentence(_QUOTES, column=named(repr(called)))
            truth = replace(truth, said_to_be_quotes=said)
            notes.append(said)
        truth = replace(truth, notes=tuple(notes))
    elif run is not None:
        run = replace(run, notes=(*run.notes, *notes))
    return Dataset(truth, run, file_format.title, file_format.no_truth, proposal)


_QUOTES = (
    "The texts in {column.text} are taken as quotes: one is found where the text of a result "
    "holds it."
)


def like_ranks(truth: GroundTruth) -> list[str]:
    """A note where the grades of each query are 1, 2, … n, as ranks are; else none."""
    if truth.grades.max(initial=0) < _FEWEST_RANKS:
        return []  # the usual case
    grades = truth.targets.select("query", "grade")
    each = grades.group_by("query").agg(
        rows=pl.len(),
        first=pl.col("grade").min(),
        last=pl.col("grade").max(),
        different=pl.col("grade").n_unique(),
    )
    counts = (each["first"] == 1) & (each["last"] == each["rows"])
    are_counted = counts & (each["different"] == each["rows"])
    if each.height < _FEWEST_JUDGED or each["rows"].min() != each["rows"].max():
        return []
    if int(each["rows"][0]) < _FEWEST_RANKS or not are_counted.all():
        return []
    option = "--rel 2" if is_command_line() else "rel=2"
    return [
        sentence(
            "The grades of each query are {grades.text}, and the highest counts most; if they "
            "are ranks, write them the other way round. {option.text} counts from "
            "{least.count} on.",
            grades=named(_counted(int(each["rows"][0]))),
            option=named(option),
            least=Fact(about="setting", count=2),
        )
    ]


def _counted(last: int) -> str:
    """The numbers from 1 to the last, in words.

    >>> _counted(3), _counted(10)
    ('1, 2 and 3', '1, 2, … 10')
    """
    return "1, 2 and 3" if last == 3 else f"1, 2, … {last}"


_FEWEST_RANKS = 3
"""Targets of a query from which on grades 1, 2, 3 may be ranks."""


def are_the_judged(truth: GroundTruth, run: Run) -> bool:
    """Whether each query has judgements of exactly what it returned, some of them 0.

    Then the judgements were made of these results, and say nothing of what was not returned.
    """
    if truth.n_queries < _FEWEST_JUDGED or (truth.grades > 0).all():
        return False
    if truth.kinds != {"item"} or not run.has("item"):
        return False
    pairs = ["query", "item"]
    judged = truth.targets.select(pairs).unique().with_row_index("__row")
    seen = np.zeros(judged.height, dtype=np.bool_)
    # Block by block, however large the run is; its ranks do not matter.
    for block in run.scan():
        returned = block.select(pairs).unique()
        met = judged.join(returned, on=pairs, how="inner")["__row"].to_numpy()
        if len(met) < returned.height:
            return False
        seen[met] = True
    return bool(seen.all())


_FEWEST_JUDGED = 2
"""Queries from which on it is no chance that all that was judged was returned."""


def is_of_spark(value: object) -> bool:
    """Whether a value is a Spark DataFrame."""
    return str(getattr(type(value), "__module__", "")).startswith("pyspark.")


RESULTS = "retrieved"
TRUTH = "ground_truth"

PathPlace = Callable[[str], str]
"""Maps a path inside an object to its place in words."""
Rows = Iterator[tuple[At, Any]]
_ROWS_AT_ONCE = 2_000
"""Rows of a table that are decoded together."""


class RowFormat(Format):
    """A format of rows, in JSON and in tables."""

    row: Any
    """The type of a row: a struct, or plain dictionaries."""
    one_each: bool = False
    """Whether every row is one record; else rows are grouped first."""
    beside: tuple[str, ...] = ()
    """Further columns of a table, in plain names, that ``resolved`` merges with the targets."""
    strict: Any = None
    """The type of a row with only the format's fields; any other row is ``resolved`` first."""

    def recognise(self, keys: frozenset[str]) -> bool:
        """Whether these are the keys of the format's rows."""
        return any(own <= keys for own in self.known_by)

    @abstractmethod
    def records(self, rows: Rows) -> Iterator[PlainRecord | JsonRecord]:
        """Yield the records made from all rows, each with the fields of our JSON."""

    def resolved(self, row: Any, at: At) -> Any:
        """Rename the fields of a row to the format's; an unknown one that may matter is refused."""
        del at
        return row

    def detect(self, probe: Probe) -> bool:
        """Whether the rows of a file, or of a list in it, have the keys of this format."""
        return any(self.recognise(keys) for keys in probe.row_keys.values())

    def read(self, probe: Probe, role: Role) -> Dataset:
        """The records in a table, a list, lines, or the list under a key."""
        del role
        if probe.table is not None:
            return read_rows(self, probe, probe.table)
        if probe.look is None:
            raise wrong_format(probe, self.title)
        owner = next(
            (key for key, keys in probe.row_keys.items() if self.recognise(keys)), None
        )
        return read_records(self, probe, probe.records(owner))

    @cached_property
    def not_text(self) -> frozenset[str]:
        """The fields that are never plain text, so that text in a table cell is JSON."""
        if not isinstance(self.row, type) or not issubclass(self.row, msgspec.Struct):
            return frozenset()
        hints = get_type_hints(self.row)
        renamed = {f.name: f.encode_name for f in msgspec.structs.fields(self.row)}
        return frozenset(
            renamed[name] for name, hint in hints.items() if str not in _parts(hint)
        )


class EachRow(RowFormat):
    """A format in which every row is one record."""

    one_each = True

    @abstractmethod
    def record(self, row: Any, at: At) -> PlainRecord | JsonRecord:
        """Convert a row to a record with the fields of our JSON."""

    def records(self, rows: Rows) -> Iterator[PlainRecord | JsonRecord]:
        """Yield the records, row by row."""
        for at, row in rows:
            yield self.record(row, at)


class WholeFormat(Format):
    """A format whose file is one JSON object."""

    whole: Any
    """The type of the object."""

    def recognise(self, first: Mapping[str, object]) -> bool:
        """Whether the object is in this format; its values may not be decoded yet."""
        return any(own <= first.keys() for own in self.known_by)

    @abstractmethod
    def records(self, whole: Any, place: PathPlace) -> Iterator[tuple[str, PlainRecord]]:
        """Yield the records with their places; ``place`` turns a path into one."""

    def detect(self, probe: Probe) -> bool:
        """Whether a file is one object with the keys of this format."""
        look = probe.look
        return look is not None and look.shape == "object" and self.recognise(look.first)

    def read(self, probe: Probe, role: Role) -> Dataset:
        """The records of the object: JSON text, or a dictionary in memory."""
        del role
        if probe.look is None or probe.look.shape != "object":
            raise wrong_format(probe, self.title)
        value = probe.source.read() if probe.given is None else probe.given
        name = probe.name
        try:
            if isinstance(value, bytes):
                whole = msgspec.json.decode(value, type=self.whole)
            else:
                whole = msgspec.convert(value, self.whole)
        except msgspec.ValidationError as error:
            raise InvalidInput(
                explain_mismatch(str(error), f"{name} $", self.example)
            ) from None
        except BROKEN as error:
            raise UnreadableFile(
                explain_broken(str(error), value, probe.source)
            ) from None
        places: list[str] = []

        def records() -> Iterator[PlainRecord]:
            for place, record in self.records(whole, lambda path: f"{name} {path}"):
                places.append(place)
                yield record

        return dataset_of(self, records(), places.__getitem__, probe)


def read_records(
    file_format: RowFormat,
    probe: Probe,
    raw: RawRecords,
    notes: Iterable[str] = (),
    proposal: str = "",
) -> Dataset:
    """Read records from JSON or memory."""
    decoders = {
        kind: msgspec.json.Decoder(kind) for kind in (file_format.row, file_format.strict)
    }

    def typed(item: Any, number: int, kind: Any) -> Any:
        if not isinstance(item, bytes | msgspec.Raw):
            return _converted(item, kind)
        try:
            return decoders[kind].decode(item)
        except msgspec.ValidationError:
            raise
        except BROKEN as error:
            said = explain_broken(str(error), bytes(item), raw.source, raw.line(number))
            raise UnreadableFile(said) from None

    def row_of(item: Any, number: int) -> Any:
        """Decode a row; only one with unknown fields is decoded twice."""
        if file_format.strict is None:
            return typed(item, number, file_format.row)
        try:
            return typed(item, number, file_format.strict)
        except msgspec.ValidationError as error:
            given = opened(item)
            made = (
                file_format.resolved(given, partial(raw.place, number))
                if given
                else given
            )
            if made is given and "contains unknown field" not in str(error):
                raise
        return _converted(made, file_format.row)

    def rows() -> Rows:
        for number, item in enumerate(raw.items):
            at = partial(raw.place, number)
            if not isinstance(item, bytes | msgspec.Raw):
                item = _filled(item, file_format, at)
            try:
                row = row_of(item, number)
            except msgspec.ValidationError as error:
                raise InvalidInput(
                    explain_mismatch(str(error), at(), file_format.example)
                ) from None
            yield at, row

    records = file_format.records(rows())
    where = raw.place if file_format.one_each else lambda _: probe.name
    return dataset_of(file_format, records, where, probe, notes, proposal)


def typed_rows(file_format: RowFormat, raw: RawRecords) -> Rows:
    """Yield the rows of JSON in the type of a format, each with its place."""
    for number, one in enumerate(raw.plain()):
        at = partial(raw.place, number)
        try:
            yield at, msgspec.convert(one, file_format.row)
        except msgspec.ValidationError as error:
            raise InvalidInput(
                explain_mismatch(str(error), at(), file_format.example)
            ) from None


def _filled(values: object, file_format: RowFormat, at: At) -> dict[str, object]:
    """A row in memory without empty fields; a set is refused as a ranking."""
    if not isinstance(values, Mapping):
        raise InvalidInput(
            f"A record is a {type(values).__name__} at {at()}; it must be {file_format.example}."
        )
    any_order = (file_format.truth_field, TRUTH)
    return {
        key: in_order(one, key, key in any_order, at)
        for key, one in values.items()
        if one is not None
    }


def _converted(values: Mapping[str, object], kind: Any) -> Any:
    try:
        return msgspec.convert(values, kind)
    except (AttributeError, TypeError):
        # A numpy number instead of a list: as a Python number it gets the usual error.
        return msgspec.convert({key: _plain(one) for key, one in values.items()}, kind)


def _plain(value: object) -> Any:
    """An array or table of numpy, pandas or polars as plain values; others as they are."""
    for name in ("tolist", "to_list", "to_dicts"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value


BESIDE = (*PARALLEL, *NEGATIVES)
"""Plain names of fields that list the grades of the targets, or what is not relevant."""


def has_lists_beside(table: InputTable) -> bool:
    """Whether columns of lists say more of the targets, which only records merge with them."""
    lists = (
        name for name, kind in table.open().collect_schema().items() if kind == pl.List
    )
    return any(_is_beside(name, BESIDE) for name in lists)


def _is_beside(name: str, known: Collection[str]) -> bool:
    """Whether a column says more of the targets, and is to be read."""
    return plain_name(name) in known and not name.endswith(IGNORED)


def read_rows(
    file_format: RowFormat, probe: Probe, table: InputTable, notes: Iterable[str] = ()
) -> Dataset:
    """Read the rows of a table in a tool's own format as records."""
    # A format without a struct may use any column.
    every = not hasattr(file_format.row, "__struct_fields__")
    tagged = "tags" in file_format.kept
    names = [
        name
        for name in table.names()
        if every
        or name in file_format.kept
        or _is_beside(name, file_format.beside)
        or (tagged and name.startswith(TAG))
    ]

    def value(key: str, cell: object) -> Any:
        if key == RESULTS and file_format.strict is not None and isinstance(cell, list):
            first = cell[0] if cell else None
            if not isinstance(first, dict) or "key" not in first:
                return cell  # its objects are decoded as they are, empty fields and all
        found = cell_value(cell, key in file_format.not_text)
        # An id such as 1.0 stays as it is written.
        is_id = isinstance(cell, str) and not isinstance(found, list | dict | set)
        return cell if is_id and key in (RESULTS, TRUTH) else found

    def rows() -> Iterator[dict[str, object]]:
        with explained(table.name, table.fault):
            for batch in table.batches(names, _ROWS_AT_ONCE):
                for row in batch.iter_rows(named=True):
                    yield {key: value(key, one) for key, one in row.items()}

    raw = RawRecords(rows(), lambda i: f"{table.where(i)} $")
    return read_records(file_format, probe, raw, [*table.notes, *notes])


def _parts(hint: Any) -> set[Any]:
    """The types that a field's annotation allows at its top level."""
    if getattr(hint, "__origin__", None) in (list, dict):
        return {hint.__origin__}
    inner = [one for one in get_args(hint) if one is not NoneType]
    return set().union(*map(_parts, inner)) if inner else {hint}
