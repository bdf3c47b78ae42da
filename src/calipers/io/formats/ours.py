"""Our own form: ``query``, ``retrieved``, ``ground_truth``, as people write it.

The question and its id have other common names too. A record may hold any further fields; a key
that is nearly one of ours was meant to be it (``calipers.io.records.fields``).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.format import (
    TRUTH,
    EachRow,
    Output,
    Parts,
    RecordStream,
    stream_rows,
    stream_table,
)
from calipers.io.records import json_files
from calipers.io.records.entries import EVERYTHING, Remarks
from calipers.io.records.fields import is_near, other_names, resolve_record
from calipers.io.records.records import EXAMPLE, MOST, At, Id, Place, Record, Result, Target
from calipers.io.tables.columns import Columns, renaming, unknown_fields
from calipers.io.tables.scan import InputTable
from calipers.model.matched import Dataset, Role


class Handwritten(Record):
    """A record whose question may be called ``question`` or ``text``, and its id ``_id``.

    BEIR writes ``_id`` and ``text``, others ``query_id`` or ``qid``. The first name that is there
    counts. A latency may be given in seconds.
    """

    query: Id | None = None  # type: ignore[assignment]
    question: str | None = None
    text: str | None = None
    beir_id: Id | dict[str, Any] | None = msgspec.field(default=None, name="_id")
    """Also what databases put there, which is no id of a question."""
    query_id: Id | None = None
    qid: Id | None = None
    latency_s: float | None = None


class Asked(msgspec.Struct):
    """The part of such a record that is asked, for those who need no more of it."""

    query: Id | None = None
    id: Id | None = None
    question: str | None = None
    text: str | None = None
    beir_id: Id | dict[str, Any] | None = msgspec.field(default=None, name="_id")
    query_id: Id | None = None
    qid: Id | None = None


def question_and_id(row: Handwritten | Asked) -> tuple[Id | None, Id | None]:
    """The question and its id, under whichever of their names they are given.

    >>> question_and_id(Asked(text="Who?", beir_id="q1"))
    ('Who?', 'q1')
    """
    question, name = row.query, row.id
    if question is None:
        question = row.text if row.question is None else row.question
    if name is None and not isinstance(row.beir_id, dict):
        name = row.beir_id
    if name is None:
        name = row.qid if row.query_id is None else row.query_id
    return question, name


_StrictResult = msgspec.defstruct("_StrictResult", [], bases=(Result,), forbid_unknown_fields=True)
_StrictTarget = msgspec.defstruct("_StrictTarget", [], bases=(Target,), forbid_unknown_fields=True)
_Results = Annotated[list[Id | _StrictResult], MOST] | dict[str, float]  # type: ignore[valid-type]
_Targets = Annotated[list[Id | _StrictTarget], MOST] | dict[str, float]  # type: ignore[valid-type]

StrictRecord = msgspec.defstruct(
    "StrictRecord",
    [
        ("retrieved", _Results | None, None),
        ("ground_truth", _Targets | None, None),
        ("forbidden", list[Id | _StrictTarget] | None, None),  # type: ignore[valid-type]
        ("stages", dict[str, _Results] | None, None),
    ],
    bases=(Handwritten,),
    forbid_unknown_fields=True,
)
"""A record with no field but ours: it is tried first, as most records are such."""


OURS_ALONE = frozenset(
    {"id", "query", "retrieved", "ground_truth", "tags", "stages", "latency_ms", "error"}
)
"""Names of fields that no other form recognises its records by."""


def is_ours_alone(sight: Sight) -> bool:
    """Whether a file is plainly ours, so that no other form need be asked: the usual case."""
    look = sight.look
    if look is None or look.shape == "object":
        return False
    return look.keys <= OURS_ALONE and bool(look.keys & {"retrieved", "ground_truth"})


class Ours(EachRow):
    """Records of query, retrieved and ground truth."""

    name = "ours"
    title = "records of query, retrieved and ground_truth"
    row = Handwritten
    strict = StrictRecord
    example = EXAMPLE
    of_ids = ("retrieved", "ground_truth")
    list_of_results = "retrieved"
    outputs: ClassVar[tuple[Output, ...]] = (
        Output("jsonl", "our JSON lines", EVERYTHING, (".jsonl", ".ndjson")),
        Output("json", "our JSON list", EVERYTHING, (".json",)),
    )

    def recognise(self, keys: frozenset[str]) -> bool:
        """``retrieved`` or ``ground_truth``; what old ragas calls so is something else."""
        if "retrieval_gt" in keys or keys >= {"status", "retrieved", "targets"}:
            return False  # AutoRAG's, with a column that the user named; scores of queries
        if "contexts" not in keys:
            return bool(keys & {"retrieved", "ground_truth"})
        from calipers.io.formats.ragas import is_old

        return bool(keys & {"retrieved", "ground_truth"}) and not is_old(keys)

    def detect(self, sight: Sight) -> bool:
        """Records with our names, or with objects under other usual names for the two parts."""
        return super().detect(sight) or any(nested_names(one) for one in first_records(sight))

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset | RecordStream:
        """The records; what should be found may have another name beside ``retrieved``."""
        if sight.table is not None:
            return self.read_table(sight.table, role, watch)
        if sight.look is not None and not super().detect(sight):
            for owner, first in zip(sight.row_keys, first_records(sight), strict=True):
                if names := nested_names(first):
                    rows, place = json_files.plain_records(sight.source, sight.look, owner)
                    return stream_nested(self, rows, place, sight.name, names, sight.columns_said)
        keys = sight.row_keys.get(None, frozenset())
        theirs = truth_beside_results(keys, role)
        if theirs is None or sight.look is None:
            stream = super().read(sight, role, watch)
            if isinstance(stream, RecordStream):
                stream.notes += passed_over(keys - self.kept)
            return stream
        said = replace(sight.columns_said, named={**sight.columns_said.named, TRUTH: theirs})
        rows, place = json_files.plain_records(sight.source, sight.look)
        lists = (listed_truth(said.renamed(row, sight.name)) for row in rows)
        stream = stream_rows(self, lists, place, sight.name, watch)
        stream.notes.append(taken_as_truth(theirs))
        return stream

    def read_table(self, table: InputTable, role: Role, watch: bool) -> Dataset | RecordStream:
        """The same in a table; one of ids or texts that should be found is read as any other."""
        from calipers.io.tables.resolve import holds_plain_targets, numbered_as_one

        if holds_plain_targets(table):
            from calipers.io.formats.table import read_handwritten

            return read_handwritten(table, role)
        if TRUTH not in table.columns:
            table = numbered_as_one(table, role)
        theirs = truth_beside_results(table.columns, role)
        if theirs is None:
            stream = stream_table(self, table, watch)
            stream.notes += passed_over(table.columns - self.kept)
        else:
            stream = stream_table(self, table.renamed(Columns({TRUTH: theirs})), watch)
            stream.notes.append(taken_as_truth(theirs))
        return stream

    def record(self, row: Handwritten, at: At) -> Record:
        """The record under our names; without a question it is an error."""
        question, row.id = question_and_id(row)
        question = row.id if question is None else question
        if question is None:
            raise InvalidInput(
                f"A required field is missing at {at()}: no 'query'; a record is {EXAMPLE}."
            )
        row.query = question
        if row.latency_ms is None and row.latency_s is not None:
            row.latency_ms = 1000 * row.latency_s
        return row

    def left_out(self, row: Handwritten) -> tuple[str, ...]:
        """The other names under which a record holds something else."""
        question = row.query if row.query is not None else row.question
        return tuple(
            name
            for name, value, ours in (
                ("question", row.question, row.query),
                ("text", row.text, question),
                ("_id", row.beir_id, row.id),
            )
            if value is not None and (ours is not None or isinstance(value, dict))
        )

    def passes_over(self, name: str, beside: Collection[str]) -> bool:
        """Any name that is neither nearly one of ours, nor another for one that is lacking."""
        lacking = [ours for ours in Result.__struct_fields__ if ours not in beside]
        return not any(name in other_names(ours) or is_near(name, ours) for ours in lacking)

    def resolved(self, row: Any, at: At) -> Any:
        """The record with fields of other usual names under ours, at any depth."""
        return resolve_record(row, at) if isinstance(row, Mapping) else row

    def fields_without_id(self, row: Any) -> Iterable[str]:
        """The fields of its results that carry no id."""
        listed = row.get("retrieved")
        for one in listed if isinstance(listed, list | tuple) else ():
            if isinstance(one, Mapping) and one.get("id") is None:
                yield from map(str, one)

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """One record per line, or a JSON list with one record on each line."""
        from calipers.io.files.write import opened
        from calipers.io.records.entries import records

        first, between, last = (b"", b"\n", b"\n")
        if output.name == "json":
            first, between, last = (b"[\n", b",\n", b"\n]\n")
        with opened(path) as file:
            for number, one in enumerate(records(parts, remarks)):
                file.write((between if number else first) + msgspec.json.encode(one))
            file.write(last)
        return [path]


def first_records(sight: Sight) -> Iterator[Mapping[str, Any]]:
    """The first record of a file, and of each list in it, decoded."""
    look = sight.look
    if look is None or sight.table is not None:
        return
    for key in sight.row_keys:
        raw = look.first if key is None else json_files.first_object(look.first[key])
        yield {name: json_files.opened(one) for name, one in raw.items()}


def nested_names(first: Mapping[str, Any]) -> dict[str, str]:
    """What a record calls its two parts, where they hold objects under other usual names.

    >>> nested_names({"question": "Who?", "expected": [{"id": "a", "rel": 1}], "results": ["a"]})
    {'retrieved': 'results', 'ground_truth': 'expected'}
    """
    called = {ours: theirs for theirs, ours in renaming([*map(str, first)]).items()}
    parts = {"retrieved": called.get("retrieved"), TRUTH: called.get("item")}
    known = {ours: theirs for ours, theirs in parts.items() if theirs is not None}
    objects = [one for theirs in known.values() for one in _values(first[theirs])]
    if "query" not in called or not any(isinstance(one, Mapping | list) for one in objects):
        return {}
    return known


def _values(value: Any) -> Sequence[Any]:
    """What a list holds; a mapping of ids to grades is one value."""
    return value if isinstance(value, list | tuple) else [value]


def stream_nested(
    form: EachRow,
    rows: Iterable[Mapping[str, Any]],
    place: Place,
    name: str,
    names: Mapping[str, str],
    said: Columns,
) -> RecordStream:
    """Records whose parts have other names, and a note of what they are taken for."""
    columns = replace(said, named={**names, **said.named})
    stream = stream_rows(form, (listed_truth(columns.renamed(r, name)) for r in rows), place, name)
    called = {"retrieved": "results", TRUTH: "targets"}
    stream.notes.append(
        ", ".join(f"{called[ours]} ← {theirs}" for ours, theirs in names.items()) + "."
    )
    return stream


def passed_over(fields: Iterable[str]) -> list[str]:
    """A note about fields that are not read, and by whose names a number might be another.

    >>> passed_over(["also_acceptable", "author"])
    ['Not read: also_acceptable.']
    """
    left = [one for one in sorted(fields) if MATTERS & set(one.lower().split("_"))]
    return [f"Not read: {', '.join(left)}."] if left else []


MATTERS = frozenset(
    {"acceptable", "alternative", "alternatives", "optional", "relevant", "latency"}
)


class PlainRecords(Ours):
    """Records of our form with neither results nor ground truth, or of no known form."""

    name = "records"
    fallback = 2
    outputs = ()

    def detect(self, sight: Sight) -> bool:
        """A list or lines of JSON, or one object with a query, or with the text of a question."""
        look = sight.look
        if look is None or look.shape != "object" or "query" in look.keys:
            return look is not None
        return "question" in look.keys and bytes(memoryview(look.first["question"])[:1]) == b'"'

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset | RecordStream:
        """The records; where they lack what they are taken for, a hint at what could be it."""
        stream = EachRow.read(self, sight, role, watch)
        if isinstance(stream, Dataset):
            return stream
        hint = unknown_fields(sight.look.keys if sight.look else (), role)
        return replace(stream, hint=hint)


def truth_beside_results(keys: Iterable[str], role: Role) -> str | None:
    """The field with ids that should be found, in records that list results and no ground truth.

    >>> truth_beside_results(["question", "expected_ids", "retrieved"], "both")
    'expected_ids'
    """
    known = list(keys)
    if role == "run" or "retrieved" not in known or "ground_truth" in known:
        return None
    names = {ours: theirs for theirs, ours in renaming(known).items()}
    if {"grade", "quote"} & names.keys():
        return None
    from calipers.io.tables.resolve import numbered_groups

    item = names.get("item")
    groups = numbered_groups(known).values()
    return next((",".join(one) for one in groups if item in one), item)


def listed_truth(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with a single id that should be found as a list of one."""
    single = isinstance(row.get(TRUTH), str | int)
    return {**row, TRUTH: [row[TRUTH]]} if single else row


def taken_as_truth(theirs: str) -> str:
    """The note about a field that has another name."""
    return f"The field {theirs!r} is taken as the ground truth."
