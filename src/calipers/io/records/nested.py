"""Records as rows of a table, with lists and objects in their cells."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import polars as pl

from calipers.io.records.entries import AT_ONCE
from calipers.model.run import RUN_SCHEMA

_RESULT = pl.Struct(
    {
        "id" if name == "item" else name: kind
        for name, kind in RUN_SCHEMA.items()
        if name not in ("query", "rank")
    }
)
_TARGET = pl.Struct(
    {
        "id": pl.String(),
        "quote": pl.String(),
        "document": pl.String(),
        "start": pl.Int64(),
        "end": pl.Int64(),
        "grade": pl.Float64(),
        "group": pl.String(),
    }
)
_FORBIDDEN = pl.Struct([one for one in _TARGET.fields if one.name not in ("grade", "group")])


def _pairs(value: pl.DataType) -> pl.List:
    """A mapping, which tables write as a list of keys and values."""
    return pl.List(pl.Struct({"key": pl.String(), "value": value}))


NESTED: dict[str, Any] = {
    "id": pl.String(),
    "query": pl.String(),
    "tags": _pairs(pl.String()),
    "retrieved": pl.List(_RESULT),
    "ground_truth": pl.List(_TARGET),
    "forbidden": pl.List(_FORBIDDEN),
    "stages": _pairs(pl.List(_RESULT)),
    "latency_ms": pl.Float64(),
    "error": pl.String(),
    "missing_from": pl.String(),
}


def in_frames(waiting: Iterator[dict[str, Any]], *, as_text: bool) -> Iterator[pl.DataFrame]:
    """Records as rows of a table; in a text table lists and objects are JSON in their cells."""
    rows = list(islice(waiting, AT_ONCE))
    schema = NESTED
    if len(rows) < AT_ONCE:
        # All there is: a column that nobody fills is not needed.
        schema = {name: NESTED[name] for name in NESTED if any(name in row for row in rows)}
    while rows:
        if as_text:
            cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
            yield pl.DataFrame(cells, schema=dict.fromkeys(schema, pl.String()))
        else:
            yield pl.DataFrame([_spread(row) for row in rows], schema=schema)
        rows = list(islice(waiting, AT_ONCE))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _spread(row: dict[str, Any]) -> dict[str, Any]:
    """A record with one type per column: objects in place of bare ids, pairs for mappings."""
    spread = dict(row)
    if "retrieved" in row:
        spread["retrieved"] = _objects(row["retrieved"])
    if isinstance(row.get("ground_truth"), dict):
        given = row["ground_truth"].items()
        spread["ground_truth"] = [{"id": item, "grade": float(grade)} for item, grade in given]
    elif "ground_truth" in row:
        spread["ground_truth"] = [
            {**one, "grade": float(one.get("grade", 1))} for one in row["ground_truth"]
        ]
    if "forbidden" in row:
        spread["forbidden"] = _objects(row["forbidden"])
    if "tags" in row:
        spread["tags"] = [{"key": key, "value": value} for key, value in row["tags"].items()]
    if "stages" in row:
        spread["stages"] = [
            {"key": key, "value": _objects(value)} for key, value in row["stages"].items()
        ]
    return spread


def _objects(rows: list[Any]) -> list[dict[str, Any]]:
    return [one if isinstance(one, dict) else {"id": one} for one in rows]
