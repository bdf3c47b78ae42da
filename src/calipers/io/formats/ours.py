"""Our own form: ``query``, ``retrieved``, ``ground_truth``, as people write it.

The question and its id have other common names too. A record may hold any further fields; a key
that is nearly one of ours was meant to be it (``calipers.io.formats.ours``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

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
from calipers.io.records.records import EXAMPLE, MOST, At, Id, Record, Result, Target
from calipers.io.tables.columns import Columns, renaming, unknown_fields
from calipers.io.tables.scan import Table
from calipers.model.matched import Dataset, Role

NEAR = 0.85
"""How alike two names must be: ``retreived`` is ``retrieved``, ``document_id`` not ``document``."""
_FIELDS: dict[type, dict[str, Any]] = {
    kind: get_type_hints(kind) for kind in (Record, Result, Target)
}


def check_spelling(record: Any, place: str) -> None:
    """Refuse a record in which a field of ours is misspelt, at any depth.

    >>> check_spelling({"query": "Who?", "retreived": ["c1"], "note": "mine"}, "evals.jsonl:3 $")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: A field is misspelt at evals.jsonl:3 $: found 'retreived'. Did \
you mean 'retrieved'? Rename it; fields of your own may have any name that is not nearly one of \
Calipers'.
    """
    if not isinstance(record, Mapping):
        return
    _check_fields(record, Record, place)
    _check_listed(record.get("retrieved"), Result, f"{place}.retrieved")
    _check_listed(record.get("ground_truth"), Target, f"{place}.ground_truth")
    _check_listed(record.get("forbidden"), Target, f"{place}.forbidden")
    stages = record.get("stages")
    for name, listed in stages.items() if isinstance(stages, Mapping) else ():
        _check_listed(listed, Result, f"{place}.stages.{name}")


def _check_listed(listed: Any, kind: type, place: str) -> None:
    if isinstance(listed, list | tuple):
        for i, one in enumerate(listed):
            if isinstance(one, Mapping):
                _check_fields(one, kind, f"{place}[{i}]")


def _check_fields(given: Mapping[str, Any], kind: type, place: str) -> None:
    fields = _FIELDS[kind]
    lacking = [name for name in fields if given.get(name) is None]
    for key, value in given.items():
        if key in fields or value is None:
            continue
        meant = next((f for f in lacking if is_near(str(key), f) and _fits(value, fields[f])), None)
        if meant is not None:
            raise InvalidInput(
                f"A field is misspelt at {place}: found {key!r:.60}. Did you mean {meant!r}? "
                "Rename it; fields of your own may have any name that is not nearly one of "
                "Calipers'."
            )


@lru_cache(maxsize=4096)
def is_near(key: str, name: str) -> bool:
    """Whether a key is a name in other dress (groundTruth), with letters swapped, or nearly it."""
    squashed, wanted = (_squashed(one) for one in (key, name))
    if len(squashed) < 4 or _means_something_else(key, name):
        return False
    if sorted(squashed) == sorted(wanted):
        return True
    return SequenceMatcher(None, key, name).ratio() >= NEAR


def _means_something_else(key: str, name: str) -> bool:
    """Whether a key differs by its unit (``latency_us``), or is several of what the name is.

    ``ground_truths`` of other tools are answers in words, and renamed they would be ids.
    """
    unit, other = (one.lower().rpartition("_")[2] for one in (key, name))
    return (unit in UNITS and unit != other) or key.lower() == f"{name}s"


UNITS = frozenset({"s", "sec", "secs", "seconds", "ms", "us", "ns", "min", "minutes", "h"})


def _squashed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _fits(value: Any, wanted: Any) -> bool:
    """Whether the value is one of the field: a ``retriever`` with a name is no ``retrieved``."""
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True


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

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset | RecordStream:
        """The records; what should be found may have another name beside ``retrieved``."""
        if sight.table is not None:
            return self.read_table(sight.table, role, watch)
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

    def read_table(self, table: Table, role: Role, watch: bool) -> Dataset | RecordStream:
        """The same in a table; one of ids or texts that should be found is read as any other."""
        from calipers.io.tables.resolve import holds_plain_targets

        if holds_plain_targets(table):
            from calipers.io.formats.table import read_handwritten

            return read_handwritten(table, role)
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

    def passes_over(self, name: str) -> bool:
        """Any name that is not nearly one of ours."""
        return not any(is_near(name, ours) for ours in Result.__struct_fields__)

    def check(self, row: Any, place: str) -> None:
        """Refuse a record in which a field of ours is misspelt, at any depth."""
        check_spelling(row, place)

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
    return None if {"grade", "quote"} & names.keys() else names.get("item")


def listed_truth(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with a single id that should be found as a list of one."""
    single = isinstance(row.get(TRUTH), str | int)
    return {**row, TRUTH: [row[TRUTH]]} if single else row


def taken_as_truth(theirs: str) -> str:
    """The note about a field that has another name."""
    return f"The field {theirs!r} is taken as the ground truth."
