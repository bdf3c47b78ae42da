"""Our own format: ``query``, ``retrieved``, ``ground_truth``, as written by hand.

The question and its id have other common names too, and a record may hold further fields
(``calipers.io.records.fields``).
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.io.files.probe import Probe
from calipers.io.format import (
    BESIDE,
    TRUTH,
    EachRow,
    Output,
    Parts,
    has_lists_beside,
    read_records,
    read_rows,
    wrong_format,
)
from calipers.io.records.entries import EVERYTHING, Remarks
from calipers.io.records.explode import SAME_QUERY
from calipers.io.records.fields import (
    first_records,
    has_objects,
    holds_objects,
    judged_results,
    names_of_parts,
    notes_on_names,
    resolve_record,
)
from calipers.io.records.json_files import opened
from calipers.io.records.schema import (
    EXAMPLE,
    Asked,
    At,
    JsonRecord,
    StrictRecord,
)
from calipers.io.tables.columns import Columns, Pairs, at_path
from calipers.io.tables.scan import InputTable, explained
from calipers.io.tables.usual_names import is_long
from calipers.model.matched import Dataset, Role
from calipers.names import ROW, plain_name, words_in

if TYPE_CHECKING:
    from calipers.io.tables.profile import Profiles


OURS_ALONE = frozenset(
    words_in("id query retrieved ground_truth tags stages latency_ms error judged_only")
)
"""Field names by which no other format is recognised."""


def is_ours_alone(probe: Probe) -> bool:
    """Whether a file is plainly ours, so that no other format need be tried: the usual case."""
    look = probe.look
    if look is None or look.shape == "object":
        return False
    return look.keys <= OURS_ALONE and bool(look.keys & {"retrieved", "ground_truth"})


SOME = 1_000
"""Records of which the fields are profiled."""


def holds_plain_parts(table: InputTable) -> bool:
    """Whether results and targets are plain ids or texts, and nothing else is only of records."""
    parts = [one for one in ("ground_truth", "retrieved") if one in table.columns]
    if {"item", "retrieved"} <= table.said.named.keys() & table.columns:
        return True  # as the user says a table
    if not parts or table.columns & _OF_RECORDS:
        return False
    with explained(table.name, table.fault):
        some = table.rows(parts, most=SOME)
    # Lists under our names alone are records as we write them, with ids and texts. Beside other
    # columns they are read as a table, which asks what those mean.
    of_records = _ANY_JSON if table.columns <= OURS_ALONE else _NESTED_JSON
    return all(
        not column.str.contains(of_records).any()
        if column.dtype == pl.String
        else column.dtype.is_integer()
        for column in some
    )


_ANY_JSON = r"^\s*[\[{]"
_NESTED_JSON = r"^\s*(\{|\[\s*[\[{])"
_OF_RECORDS = frozenset(
    words_in("tags forbidden excluded stages latency_ms error judged_only")
)


def _are_texts(probe: Probe) -> bool:
    """Whether a part of the first record is one text or number, as in a row of a table."""
    first = probe.look.first if probe.look is not None else {}
    parts = (opened(first[one]) for one in ("ground_truth", "retrieved") if one in first)
    return any(isinstance(part, str | int) for part in parts)


class Ours(EachRow):
    """Records of query, retrieved and ground truth."""

    name = "ours"
    title = "records of query, retrieved and ground_truth"
    row = JsonRecord
    strict = StrictRecord
    example = EXAMPLE
    beside = BESIDE
    outputs: tuple[Output, ...] = (
        Output("jsonl", "our JSON lines", EVERYTHING, (".jsonl", ".ndjson")),
        Output("json", "our JSON list", EVERYTHING, (".json",)),
    )

    def recognise(self, keys: frozenset[str]) -> bool:
        """``retrieved`` or ``ground_truth``, which means something else in old ragas files."""
        if "retrieval_gt" in keys or keys >= {"status", "retrieved", "targets"}:
            return (
                False  # AutoRAG's, with a column that the user named; scores of queries
            )
        if "contexts" not in keys:
            return bool(keys & {"retrieved", "ground_truth"})
        from calipers.io.formats.tools import is_old_ragas

        return bool(keys & {"retrieved", "ground_truth"}) and not is_old_ragas(keys)

    def detect(self, probe: Probe) -> bool:
        """Whether the rows have its keys; parts that map queries are read as such."""
        if not super().detect(probe):
            return False
        if probe.look is None or probe.look.shape != "object":
            return True  # nearly always, and nothing more is imported
        from calipers.io.records.mapped_parts import parts_by_query

        return parts_by_query(probe) is None

    def yields(self, probe: Probe) -> bool:
        """Always: one part may stand under the name of another tool."""
        del probe
        return True

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read the records; the two parts may have other usual names."""
        table = probe.table or (probe.flat if _are_texts(probe) else None)
        if table is not None:
            return self.read_table(probe, table, role)
        if probe.look is None:
            raise wrong_format(probe, self.title)
        if self.recognise(probe.look.keys) and probe.look.keys <= self.kept:
            dataset = read_records(self, probe, probe.records())
            dataset = _of_judged_results(dataset, first_records(probe).get(None, {}))
            if dataset.ground_truth is not None or role != "both":
                return dataset
            from calipers.io.records.hidden_judgements import may_judge_results

            judging = may_judge_results(probe, None, "retrieved", role)
            return replace(dataset, unclear=Unclear("", *judging)) if judging else dataset
        records = first_records(probe)
        owner = next(
            (
                key
                for key, one in records.items()
                if self.recognise(frozenset(one)) or has_objects(one)
            ),
            None,
        )
        if owner is None:
            owner = _asking(records)
        first = records[owner]
        if first and not _has_question(first, probe):
            from calipers.io.tables.candidates import nothing_fits

            raise nothing_fits(probe.name, _sample(probe, owner), "query", role)
        names = names_of_parts(first, role)
        held = {*names, *first}
        has_truth = "ground_truth" in held or bool(judged_results(_renamed(first, names)))
        has = {"has_truth": has_truth, "has_results": "retrieved" in held}
        options: tuple[Pairs, ...] = ()
        if not all(has.values()) and not first.keys() <= self.kept:
            from calipers.io.tables.candidates import mappings, missing_part

            sample = _sample(probe, owner)
            if not any(has.values()) and not is_long(first):
                # Known by an id alone: its question has a name that nobody knows.
                options = tuple(mappings(sample, {"query"}, role))
            if has["has_results"]:
                from calipers.io.records.hidden_judgements import may_judge_results

                called = names.get("retrieved", "retrieved")
                options = tuple(may_judge_results(probe, owner, called, role))
            options += missing_part(sample, role, **has)
        notes = notes_on_names(names, first.keys() - self.kept)
        left = [name for name in first if name not in (*self.kept, *names.values())]
        if has_truth and any(isinstance(first[name], str | Mapping) for name in left):
            notes += _hints_on_slices(probe, owner, left)
        try:
            dataset = read_records(self, probe, probe.records(owner, names), notes)
        except InvalidInput as error:
            if any(has.values()) or not options or SAME_QUERY not in str(error):
                raise
            from calipers.io.tables.candidates import nothing_fits

            # Several rows of a question: each holds one result, and nobody knows its name.
            raise nothing_fits(probe.name, _sample(probe, owner), "item", role) from None
        dataset = _of_judged_results(dataset, _renamed(first, names))
        return replace(dataset, unclear=Unclear("", *options)) if options else dataset

    def read_table(self, probe: Probe, table: InputTable, role: Role) -> Dataset:
        """Read records in a table; one with plain ids or texts is read as any other."""
        from calipers.io.tables.merge import numbered_as_one
        from calipers.io.tables.resolve import (
            check_no_grade_is_hidden,
            check_one_list,
            left_over,
        )

        if holds_plain_parts(table) and not has_lists_beside(table):
            from calipers.io.formats.table import read_handwritten

            return read_handwritten(table, role)
        if TRUTH not in table.columns:
            table = numbered_as_one(table, role)
        elif (
            "retrieved" not in table.columns
            and table.rows([TRUTH], most=1).dtypes[0] != pl.List
        ):
            check_no_grade_is_hidden(
                table, left_over(table.names(), dict.fromkeys(self.kept, ""))
            )
        columns = table.columns
        names = names_of_parts(dict.fromkeys(sorted(columns)), role)
        if role != "ground_truth":
            check_one_list(table, names.get("retrieved", "retrieved"), self.kept)
        notes = notes_on_names(names, columns - self.kept)
        names = {**_question_of(columns), **names}
        return read_rows(
            self, probe, table.renamed(Columns(names)) if names else table, notes
        )

    def record(self, row: JsonRecord, at: At) -> JsonRecord:
        """The record as it is."""
        del at
        return row

    def resolved(self, row: object, at: At) -> object:
        """The record with its fields renamed to ours, at any depth."""
        return resolve_record(row, at) if isinstance(row, Mapping) else row

    def write(
        self, output: Output, parts: Parts, path: Path, remarks: Remarks
    ) -> list[Path]:
        """Write one record per line, as JSON lines or as a JSON list."""
        from calipers.io.files.write import opened as opened_file
        from calipers.io.records.entries import records

        first = b""
        between = b"\n"
        last = b"\n"
        if output.name == "json":
            first = b"[\n"
            between = b",\n"
            last = b"\n]\n"
        with opened_file(path) as file:
            for number, one in enumerate(records(parts, remarks)):
                file.write((between if number else first) + msgspec.json.encode(one))
            file.write(last)
        return [path]


def _asking(records: Mapping[str | None, Mapping[str, object]]) -> str | None:
    """The key of the one list of records with a question; None where none is alone."""
    from calipers.io.records.layout import question_in

    if None in records and question_in(records[None]) is not None:
        return None
    asking = [key for key, first in records.items() if key and question_in(first)]
    if not asking:
        # Results have no list of results inside; records have.
        asking = [key for key, first in records.items() if key and _lists_items(first)]
    return asking[0] if len(asking) == 1 else None


def _has_question(first: Mapping[str, object], probe: Probe) -> bool:
    """Whether a record has a question or an id, or the user says which field it is."""
    from calipers.io.records.layout import question_or_id

    known = "text" in first or question_or_id(first) is not None
    return known or "query" in probe.columns_said.named


def _lists_items(record: Mapping[str, object]) -> bool:
    """Whether a record has a text and a list of ids or documents, or a question inside."""
    from calipers.io.records.layout import ids_in, question_inside

    if question_inside(record) is not None:
        return True
    has_text = any(isinstance(value, str) for value in record.values())
    lists = [value for value in record.values() if isinstance(value, list)]
    return has_text and any(map(ids_in, lists))


def _question_of(columns: Set[str]) -> dict[str, str]:
    """The column of the question where none is called as ours is, as ``Question``."""
    if columns & {"query", "question", "text", "id", "_id"}:
        return {}
    usual = [name for name in sorted(columns) if plain_name(name) in ROW["query"]]
    return {"query": usual[0]} if usual else {}


def _renamed(record: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """A record whose parts have our names."""
    parts = {ours: record[name] for ours, name in names.items() if name in record}
    return {**record, **parts}


def _of_judged_results(dataset: Dataset, first: Mapping[str, object]) -> Dataset:
    """The dataset, which knows whether its targets are what was judged of its results."""
    truth = dataset.ground_truth
    if truth is None or "ground_truth" in first or not judged_results(first):
        return dataset
    return replace(dataset, ground_truth=replace(truth, only_returned=True))


_ASKED = frozenset(field.encode_name for field in msgspec.structs.fields(Asked))
"""The names that the question and its id have in our records."""


_PARTS = frozenset({"retrieved", "ground_truth"})


def _is_flat(probe: Probe) -> bool:
    """Whether the first record has single values only."""
    first = first_records(probe).get(None, {})
    return not any(isinstance(value, list | Mapping) for value in first.values())


class PlainRecords(Ours):
    """Records without results and ground truth, or in no known format."""

    name = "records"
    fallback = 2
    outputs = ()

    def detect(self, probe: Probe) -> bool:
        """A JSON list, JSON lines, one object with a question, or a table with lists beside it."""
        look = probe.look
        if probe.table is not None:
            return is_long(probe.table.columns) and has_lists_beside(probe.table)
        if look is None or look.shape != "object" or "query" in look.keys:
            return look is not None
        asked = isinstance(opened(look.first.get("question")), str)
        return asked or holds_objects(probe) or _asking(first_records(probe)) is not None

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read the records; refused if none of their fields names the question."""
        keys = probe.look.keys if probe.look else frozenset()
        alone = len(keys) > 1 and len(probe.row_keys) == 1
        if alone and not is_long(keys) and not keys & (_ASKED | _PARTS):
            from calipers.io.tables.candidates import nothing_fits

            raise nothing_fits(probe.name, _sample(probe), "query", role)
        if is_long(keys) and not keys & _ASKED and _is_flat(probe):
            from calipers.io.tables.candidates import nothing_fits

            # One result or target in each row, beside a question of another name.
            raise nothing_fits(probe.name, _sample(probe), "item", role)
        return super().read(probe, role)


def _hints_on_slices(probe: Probe, owner: str | None, left: list[str]) -> list[str]:
    """A note on the unread field that the queries could be sliced by; none if there is none."""
    from calipers.io.tables.profile import Profile
    from calipers.io.tables.slice_hints import hint_on_slices

    records = _first_rows(probe, owner)
    columns = {name: [record.get(name) for record in records] for name in left}
    for name in left:
        inside = next(
            (value for value in columns[name] if isinstance(value, Mapping)), {}
        )
        for key in inside:
            path = f"{name}.{key}"
            columns[path] = [at_path(record, path) for record in records]
    rows = pl.Series([str(number) for number in range(len(records))])
    sliced = [
        name
        for name, values in columns.items()
        if all(isinstance(value, str | None) for value in values)
        and Profile(name, pl.Series(values, dtype=pl.String), rows).may_slice
    ]
    return hint_on_slices(sliced)


def _first_rows(probe: Probe, owner: str | None) -> list[Mapping[str, object]]:
    """The first records, opened."""
    rows = (opened(one) for one in islice(probe.records(owner).items, SOME))
    return [row for row in rows if isinstance(row, Mapping)]


def _sample(probe: Probe, owner: str | None = None) -> "Profiles":
    """The profiles of the fields of the first records."""
    from calipers.io.tables.candidates import profiles_of_records

    return profiles_of_records(_first_rows(probe, owner))
