"""Our own form, as a JSON list or as JSON lines; it holds everything."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from calipers.io.writers.entries import Entry, entries
from calipers.io.writers.files import opened
from calipers.io.writers.numbers import plain_number
from calipers.io.writers.remarks import Remarks, note_filled
from calipers.model.dataset import Dataset


def write_lines(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """One record per line."""
    with opened(path) as file:
        for record in records(parts, remarks):
            file.write(msgspec.json.encode(record) + b"\n")
    return [path]


def write_list(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """A JSON list with one record on each line."""
    with opened(path) as file:
        between = b"[\n"
        for record in records(parts, remarks):
            file.write(between + msgspec.json.encode(record))
            between = b",\n"
        file.write(b"\n]\n")
    return [path]


def records(parts: Iterable[Dataset], remarks: Remarks) -> Iterator[dict[str, Any]]:
    """Every query as one of our records."""
    filled: Counter[str] = Counter()
    for part in parts:
        yield from map(record, entries(part, filled))
    note_filled(filled, remarks)


def record(entry: Entry) -> dict[str, Any]:
    """One query as people would write it by hand: short where little is known.

    >>> record(Entry("q1", "What?", targets=[{"item": "a", "grade": 2.0}], results=[{"item": "b"}]))
    {'id': 'q1', 'query': 'What?', 'retrieved': ['b'], 'ground_truth': {'a': 2}}
    """
    named = entry.text is not None and entry.text != entry.query
    found: dict[str, Any] = {"id": entry.query} if named else {}
    found["query"] = entry.text if named else entry.query
    if entry.tags:
        found["tags"] = entry.tags
    if entry.results is not None:
        found["retrieved"] = results(entry.results)
    if entry.targets is not None:
        found["ground_truth"] = targets(entry.targets)
    if entry.stages:
        found["stages"] = {name: results(rows) for name, rows in entry.stages.items()}
    if entry.latency_ms is not None:
        found["latency_ms"] = entry.latency_ms
    if entry.error is not None:
        found["error"] = entry.error
    return found


def results(rows: list[dict[str, Any]]) -> list[Any]:
    """Ids alone where there is nothing else, else objects."""
    if all(list(row) == ["item"] for row in rows):
        return [row["item"] for row in rows]
    return [_named(row) for row in rows]


def targets(rows: list[dict[str, Any]]) -> Any:
    """Grades by id where ids are all there is, else objects."""
    if rows and all(row.keys() == {"item", "grade"} for row in rows):
        return {row["item"]: plain_number(row["grade"]) for row in rows}
    return [_graded(_named(row)) for row in rows]


def _named(row: dict[str, Any]) -> dict[str, Any]:
    return (
        {"id": row["item"], **{k: v for k, v in row.items() if k != "item"}}
        if ("item" in row)
        else row
    )


def _graded(row: dict[str, Any]) -> dict[str, Any]:
    grade = row["grade"]
    rest = {key: value for key, value in row.items() if key != "grade"}
    return rest if grade == 1 else {**rest, "grade": plain_number(grade)}
