"""Records as plain dictionaries with everything in them, also what Calipers does not use."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from calipers.io.files.open import Source
from calipers.io.files.write import whole_file
from calipers.io.records.json_files import BROKEN, opening
from calipers.io.tables.columns import Columns
from calipers.model.matched import Dataset

OURS = ("query", "ground_truth")


def kept_records(
    value: Any, dataset: Dataset, columns: Columns | None = None
) -> list[dict[str, Any]]:
    """One record per query, in our form.

    Records that are in our form already are kept as they are, unknown fields included; anything
    else is written anew from the dataset that was read from it. ``columns`` says which field is
    what, as it did for the dataset.
    """
    raw = _raw(value)
    if raw and columns is not None:
        raw = [columns.renamed(one, "records") if isinstance(one, dict) else one for one in raw]
    if raw and all(isinstance(one, dict) and all(name in one for name in OURS) for one in raw):
        return raw
    return list(_from_dataset(dataset))


def _raw(value: Any) -> list[Any] | None:
    if isinstance(value, list | tuple):
        return [dict(one) if isinstance(one, Mapping) else one for one in value]
    if not isinstance(value, str | os.PathLike) or Path(value).is_dir():
        return None
    source = Source(Path(value))
    try:
        if opening(source) == "list":
            content = msgspec.json.decode(source.read())
            return content if isinstance(content, list) else None
        if opening(source) == "object":
            return [msgspec.json.decode(line) for _, line in source.lines() if line.strip()]
    except BROKEN:
        # Another form that begins like JSON lines: one object over many lines.
        return None
    return None


def _from_dataset(dataset: Dataset) -> Iterator[dict[str, Any]]:
    truth, run = dataset.ground_truth, dataset.run
    if truth is None:
        return
    targets = _by_query(truth.targets, renamed={"item": "id"})
    none = truth.targets.head(0)
    forbidden = _by_query(none if truth.forbidden is None else truth.forbidden, {"item": "id"})
    results = _by_query(run.frame.drop("rank"), {"item": "id"}) if run is not None else {}
    known = run.queries if run is not None and run.queries is not None else pl.DataFrame()
    about = {row["query"]: row for row in known.iter_rows(named=True)} if known.height else {}
    for number, (query, text) in enumerate(truth.queries.select("query", "text").iter_rows()):
        record: dict[str, Any] = {"query": text or query}
        if text is not None and text != query:
            record["id"] = query
        if run is not None:
            record["retrieved"] = results.get(query, [])
        record["ground_truth"] = targets.get(query, [])
        if query in forbidden:
            record["forbidden"] = forbidden[query]
        tags = {name: column[number] for name, column in truth.tags.items()}
        if any(value is not None for value in tags.values()):
            record["tags"] = {name: value for name, value in tags.items() if value is not None}
        for name in ("latency_ms", "error"):
            if about.get(query, {}).get(name) is not None:
                record[name] = about[query][name]
        yield record


def _by_query(frame: pl.DataFrame, renamed: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        query = row.pop("query")
        kept = {renamed.get(name, name): value for name, value in row.items() if value is not None}
        grouped.setdefault(query, []).append(kept)
    return grouped


def write_records(records: list[dict[str, Any]], path: str | Path) -> None:
    """Records as JSON lines, whole or not at all."""
    encoder = msgspec.json.Encoder()
    with whole_file(path) as file:
        for record in records:
            file.write(encoder.encode(record) + b"\n")
