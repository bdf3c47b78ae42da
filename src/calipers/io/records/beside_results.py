"""What should be found, in records that list results and name it otherwise than we do."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from calipers.io.files.probe import Sight
from calipers.io.format import RecordStream
from calipers.io.records import json_files
from calipers.io.records.rows import TRUTH, RowFormat, stream_rows, stream_table
from calipers.io.tables.columns import renaming
from calipers.model.matched import Role


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


def stream_with_truth(
    form: RowFormat, sight: Sight, keys: Iterable[str], role: Role, watch: bool
) -> RecordStream | None:
    """The records of a file with that field as the ground truth; None where there is none."""
    theirs = truth_beside_results(keys, role)
    if theirs is None:
        return None
    said = replace(sight.columns_said, named={**sight.columns_said.named, TRUTH: theirs})
    named = Sight(sight.source, said)
    if named.table is not None:
        stream = stream_table(form, named.table, watch)
    elif named.look is not None:
        rows, place = json_files.plain_records(sight.source, named.look)
        lists = (listed_truth(said.renamed(row, sight.name)) for row in rows)
        stream = stream_rows(form, lists, place, sight.name, watch)
    else:
        return None
    stream.notes.append(taken_as_truth(theirs))
    return stream


def listed_truth(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with a single id that should be found as a list of one."""
    single = isinstance(row.get(TRUTH), str | int)
    return {**row, TRUTH: [row[TRUTH]]} if single else row


def taken_as_truth(theirs: str) -> str:
    """The note about a field that has another name."""
    return f"The field {theirs!r} is taken as the ground truth."
