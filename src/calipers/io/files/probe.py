"""Look at a file or folder: its shape, before its format is recognised."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.io.build import MemoryBudget
from calipers.io.files.open import Source
from calipers.io.records import json_files
from calipers.io.records.json_files import Look, RawRecords
from calipers.io.tables.columns import TAG, Columns, tag_text
from calipers.io.tables.scan import InputTable, delimited, explained, header, in_memory
from calipers.io.tables.usual_names import is_flat_table, is_long
from calipers.names import NEGATIVES, PARALLEL, plain_name

STREAM_MARK = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream."""
SPREADSHEET = "spreadsheet"
HEAD_ROWS = 1_000
"""Rows or records on which a mapping of columns is tried."""
LARGEST_OBJECT = 32 << 20
"""Bytes of a JSON object on which one is tried."""
MOST_KEYS = 100
"""Keys of one object that are searched for a list of records."""


_ABOUT_TARGETS = ("grade", *PARALLEL, *NEGATIVES)
"""Fields whose lists are about the targets."""


def _is_about_targets(name: str, held: object) -> bool:
    """Whether a field lists what is about the targets: their grades, or what is not relevant."""
    if not isinstance(held, list):
        return False
    if name in _ABOUT_TARGETS or not held or not isinstance(held[0], int | float):
        return name in _ABOUT_TARGETS
    from calipers.io.records.parallel import says_grades

    return says_grades(name)


@dataclass(frozen=True, eq=False)
class Probe:
    """A probe of a file; each property is computed once, when needed."""

    source: Source
    columns_said: Columns = field(default_factory=Columns)
    """The user's column mapping."""
    given: Any = None
    """A value in memory instead of a file: records, a mapping, or a table."""
    room: MemoryBudget | None = None
    """The memory for results in records."""
    trial: bool = False
    """Whether a mapping of columns is tried, so that a refusal need not propose one."""

    def saying(self, columns: Columns) -> "Probe":
        """The same with other columns said by the user."""
        return Probe(self.source, columns, self.given, self.room, self.trial)

    def as_written(self) -> "Probe":
        """The same with the names that the file has, whatever the user says."""
        # A second probe would decode a large object once more.
        return self.saying(Columns()) if self.columns_said else self

    def head(self) -> "Probe | None":
        """The first rows or records, to try a mapping on; None if they cannot be had apart."""
        return (
            None
            if (given := self._head()) is None
            else replace(self, given=given, trial=True)
        )

    def _head(self) -> Any:
        table = self._table()
        if table is not None:
            with explained(table.name, table.fault):
                frame = table.rows(pl.all(), most=HEAD_ROWS)
            input_table = in_memory(frame.lazy(), self.name)
            return replace(
                input_table,
                decimal_comma=table.decimal_comma,
                ordered=table.ordered,
                trial=True,
            )
        look = self._json_look
        if records := self.lists_as_records():
            return records[:HEAD_ROWS]
        if look is None or self.given is not None:
            return self.given
        if look.shape == "object":
            if self.source.path.stat().st_size > LARGEST_OBJECT:
                return None
            return msgspec.json.decode(self.source.read())
        raw = json_files.raw_records(self.source, look, None)
        return list(islice(raw.plain(), HEAD_ROWS))

    @property
    def name(self) -> str:
        """The path as shown to the user."""
        return self.source.name

    @cached_property
    def folder(self) -> Path | None:
        """The path if it is a folder, else None."""
        return (
            self.source.path if self.given is None and self.source.path.is_dir() else None
        )

    @cached_property
    def look(self) -> Look | None:
        """The shape and the first record of JSON."""
        seen = self._json_look
        if seen is None:
            return None
        said = self.columns_said
        if said.named or said.ignored or said.tags or said.perhaps:
            first = seen.first
            if any("." in theirs for theirs in said.named.values()):
                first = {key: json_files.opened(held) for key, held in first.items()}
            return replace(seen, first=said.renamed(first, self.name))
        return seen

    @cached_property
    def _json_look(self) -> Look | None:
        if isinstance(self.given, Mapping):
            return Look("object", self.given)
        if isinstance(self.given, list | tuple):
            first = self.given[0] if self.given else None
            return Look("list", first if isinstance(first, Mapping) else {})
        if (
            self.given is not None
            or self.folder
            or self._binary
            or json_files.opening(self.source) is None
        ):
            return None
        return json_files.look(self.source)

    @property
    def holds_lists(self) -> bool:
        """Whether it is a JSON list whose first value is no object."""
        look = self._json_look
        return look is not None and look.shape == "list" and not look.first

    def lists_as_records(self) -> list[object]:
        """The records that are written as lists; none if there are none."""
        if not self.holds_lists:
            return []
        from calipers.io.records.lists_as_records import as_records, lists_in

        return as_records(lists_in(self.source) if self.given is None else self.given)

    @cached_property
    def table(self) -> InputTable | None:
        """The table in a Parquet, Arrow, CSV or TSV file, or in a folder that holds one."""
        found = self._table()
        return None if found is None else found.renamed(self.columns_said)

    def _table(self) -> InputTable | None:
        if isinstance(self.given, InputTable):
            return self.given
        if self.folder:
            return _folder_table(self.folder)
        if self._binary == SPREADSHEET:
            from calipers.io.files.excel import sheet_table

            return sheet_table(self.source, self.columns_said)
        if self._binary:
            return in_memory(_binary_table(self.source, self._binary), self.name)
        if self._json_look is not None:
            return None
        return (
            delimited(self.source) if self._encoded is None else delimited(self._encoded)
        )

    @property
    def is_decoded(self) -> bool:
        """Whether it is a table in another encoding than UTF-8, and is read in that."""
        return self._encoded is not None

    @cached_property
    def _encoded(self) -> Source | None:
        """The file in the detected encoding if it is a table that is not UTF-8; else None."""
        encoding = encoding_of(self.source.head)
        if encoding is None or self.source.encoding != "utf-8":
            return None
        encoded = replace(self.source, encoding=encoding)
        try:
            found = header(encoded)
        except UnreadableFile:
            return None
        if found is None:
            return None
        said = self.columns_said.rename(found[0], self.name)
        # Two marks say that it is UTF-16; anything else may be no text at all.
        known = encoding == "utf-16" or is_long(said.get(name, name) for name in found[0])
        return encoded if known or _has_even_rows(encoded, *found) else None

    @cached_property
    def flat(self) -> InputTable | None:
        """The table in flat JSON records with a query and an item."""
        look = self.look
        if look is None:
            return None
        owner = None
        listed = self.given if isinstance(self.given, list | tuple) else ()
        if not all(isinstance(row, Mapping) for row in listed):
            return None
        if not is_flat_table(look.keys):
            owners = [
                key for key, keys in self.row_keys.items() if key and is_flat_table(keys)
            ]
            if len(owners) != 1:
                return None
            owner = owners[0]
        given = {
            plain_name(key): json_files.opened(one) for key, one in look.first.items()
        }
        has_text = any(isinstance(one, str) for one in given.values())
        if look.shape == "object" and owner is None and not has_text:
            return None
        if any(_is_about_targets(*field) for field in given.items()):
            return None  # lists about the targets, which only records merge with them
        if look.shape == "lines":
            large = json_files.flat_lines(self.source, self.columns_said)
            if large is not None:
                return replace(large, said=self.columns_said)
        raw = self.records(owner)
        table = in_memory(
            json_files.frame_of_rows(
                [*map(_tags_as_columns, raw.plain())], self.name
            ).lazy(),
            self.name,
        )
        return replace(table, where=raw.place, quoted=True, said=self.columns_said)

    def records(
        self, owner: str | None = None, names: Mapping[str, str] | None = None
    ) -> RawRecords:
        """The records of a list, of lines, or of the list under a key.

        Fields are renamed as the user says, and by ``names``.
        """
        said = self.columns_said
        if names:
            # A field that the user named may be a part of the record: its name there counts.
            parts = {ours: said.named.get(name, name) for ours, name in names.items()}
            rest = {
                ours: name
                for ours, name in said.named.items()
                if ours not in names.values()
            }
            said = replace(said, named={**parts, **rest})
        if self.given is None:
            raw = json_files.raw_records(self.source, cast(Look, self.look), owner)
        elif isinstance(self.given, Mapping):
            path = f"{self.name} $" if owner is None else f"{self.name} $.{owner}"
            listed = [self.given] if owner is None else self.given[owner]
            raw = RawRecords(listed, lambda i: path if owner is None else f"{path}[{i}]")
        else:
            raw = RawRecords(self.given, lambda i: f"{self.name}[{i}]")
        if not (said.named or said.ignored or said.tags or said.perhaps or said.grades):
            return raw
        return replace(raw, items=(said.renamed(row, self.name) for row in raw.plain()))

    @cached_property
    def row_keys(self) -> dict[str | None, frozenset[str]]:
        """The keys of a record, by the key of the list that holds it."""
        if self.table is not None:
            return {None: self.table.columns}
        if self.look is None:
            return {}
        keys: dict[str | None, frozenset[str]] = {None: self.look.keys}
        if self.look.shape == "object":
            # An object with more keys maps queries to items.
            for key, listed in islice(self.look.first.items(), MOST_KEYS):
                if json_files.is_list_of_objects(listed):
                    keys[key] = frozenset(map(str, json_files.first_object(listed)))
        return keys

    @cached_property
    def is_text(self) -> bool:
        """Whether it is a file of text that is not JSON."""
        if self.given is not None or self.folder or self._binary:
            return False
        return json_files.opening(self.source) is None

    @cached_property
    def _binary(self) -> str | None:
        if self.given is not None:
            return None
        head = self.source.head
        if head[:4] == b"PAR1":
            return "parquet"
        if head[:6] == b"ARROW1":
            return "arrow"
        if head[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            from calipers.io.files.excel import is_spreadsheet

            return SPREADSHEET if is_spreadsheet(self.source) else None
        return "stream" if head[:4] == STREAM_MARK else None

    def check(self) -> None:
        """Refuse an empty file, and one that is neither text nor a known binary format."""
        if self.given is not None:
            return
        if not self.folder and not self._binary and self._encoded is None:
            self.source.check_has_content()


def _binary_table(source: Source, kind: str) -> pl.LazyFrame:
    with explained(source.name):
        if kind == "parquet":
            from calipers.io.files.parquet import check_parquet

            if source.path.is_file():
                check_parquet(source.path)
            return pl.scan_parquet(source.place, glob=False)
        if kind == "arrow":
            return pl.scan_ipc(source.place, glob=False)
        return _stream_table(source.place)


def _stream_table(place: Path | bytes) -> pl.LazyFrame:
    """An Arrow stream, which can only be read whole, so it is read when needed."""
    if not isinstance(place, Path):
        return pl.read_ipc_stream(place).lazy()
    schema = pl.read_ipc_stream(place, n_rows=0).schema
    return pl.defer(partial(pl.read_ipc_stream, place), schema=schema)


def _folder_table(folder: Path) -> InputTable | None:
    """The table in a folder: a Hugging Face dataset saved to disk, or AutoRAG's questions."""
    if (folder / "dataset_dict.json").is_file():
        splits = _listed(
            folder, "dataset_dict.json", lambda about: map(str, about["splits"])
        )
        if len(splits) != 1:
            raise InvalidInput(
                f"{folder} holds several splits: {', '.join(splits)}; name the one you mean, such "
                f"as {folder / splits[0]}."
            )
        return _folder_table(folder / splits[0])
    if (folder / "state.json").is_file():
        names = _listed(
            folder,
            "state.json",
            lambda about: (data_file["filename"] for data_file in about["_data_files"]),
        )
        files = [folder / name for name in names]
        with explained(str(folder)):
            return in_memory(
                pl.concat([_stream_table(file) for file in files]), str(folder)
            )
    questions = folder / "qa.parquet"
    if questions.is_file():
        return in_memory(_binary_table(Source(questions), "parquet"), str(questions))
    return None


def _listed(folder: Path, name: str, listed: Callable[[Any], Iterable[str]]) -> list[str]:
    """What a file of a saved dataset lists: its splits, or its parts."""
    try:
        found = [*listed(msgspec.json.decode((folder / name).read_bytes()))]
    except (*json_files.BROKEN, LookupError, TypeError):
        found = []
    if not found or not all(isinstance(one, str) for one in found):
        raise UnreadableFile(
            f"The dataset {folder} is damaged: {name} does not list its parts; save it to disk "
            "again."
        )
    return found


def _has_even_rows(encoded: Source, names: list[str], separator: str) -> bool:
    """Whether the first lines have as many cells as the header, which has several names."""
    lines = encoded.head.decode(errors="replace").splitlines()[:_LOOKED_AT]
    rows = [row for row in csv.reader(lines, delimiter=separator) if any(row)]
    printable = all(name.isprintable() for name in names)
    even = all(len(row) == len(names) for row in rows[:-1])
    return printable and even and len(names) > 1 and len(rows) > 2


_LOOKED_AT = 20
"""Lines whose number of cells is compared."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SIGNS = "€‚„…‘’“”•–—™¡§©«®°±²³´·»¿\N{NO-BREAK SPACE}×÷"
_UNLIKELY = "ÿþðÞÐ"
"""Letters that are rare in texts and common in files that are not text."""


def encoding_of(head: bytes) -> str | None:
    """The encoding of the first bytes if they are not UTF-8; None if they are, or if unclear.

    >>> encoding_of("Größe;Straße".encode("cp1252")), encoding_of("Größe".encode())
    ('cp1252', None)
    """
    if head.startswith(UTF_16):
        return "utf-16"
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The last character may be cut off.
        if error.start >= len(head) - 3 and error.reason == "unexpected end of data":
            return None
    else:
        return None
    try:
        text = head.decode("cp1252")
    except UnicodeDecodeError:
        return None
    foreign = {one for one in text if ord(one) > 127}
    usual = all(
        (one.isalpha() and one not in _UNLIKELY) or one in _SIGNS for one in foreign
    )
    return "cp1252" if usual and b"\x00" not in head else None


def _tags_as_columns(row: Mapping[str, object]) -> Mapping[str, object]:
    """A record as the row of a table, with a column ``tag.NAME`` for each of its tags.

    >>> _tags_as_columns({"query": "q", "tags": {"asked": 3, "kind": "how"}})
    {'query': 'q', 'tag.asked': '3', 'tag.kind': 'how'}
    """
    tags = row.get("tags")
    if not isinstance(tags, Mapping):
        return row
    rest = {key: value for key, value in row.items() if key != "tags"}
    return {**rest, **{f"{TAG}{name}": tag_text(tags[name]) for name in tags}}
