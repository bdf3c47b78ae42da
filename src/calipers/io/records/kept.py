"""Records as plain dictionaries with everything in them, also what Calipers does not use."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from calipers.io.files.open import Source
from calipers.io.files.write import whole_file
from calipers.io.records.entries import entries, named, record
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
    return [
        {**record(one), "ground_truth": [named(row) for row in one.targets]}
        for one in entries(dataset)
        if one.targets is not None and one.missing_from != "ground_truth"
    ]


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


def write_records(records: list[dict[str, Any]], path: str | Path) -> None:
    """Records as JSON lines, whole or not at all."""
    encoder = msgspec.json.Encoder()
    with whole_file(path) as file:
        for record in records:
            file.write(encoder.encode(record) + b"\n")
