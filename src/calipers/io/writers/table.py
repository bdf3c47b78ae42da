"""Tables: one row per item where there is one part only, else one row per query."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.delimited import ARMED, disarmed
from calipers.io.writers.files import ending, opened
from calipers.io.writers.ours import records
from calipers.io.writers.remarks import Remarks
from calipers.model.dataset import Dataset
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.run import RUN_SCHEMA, Run

ROWS_AT_ONCE = 2_000
SEPARATORS = {".csv": ",", ".tsv": "\t"}

_RESULT = pl.Struct(
    {
        "id": pl.String(), "score": pl.Float64(), "text": pl.String(), "document": pl.String(),
        "start": pl.Int64(), "end": pl.Int64(), "tokens": pl.Int64(),
    }
)  # fmt: skip
_TARGET = pl.Struct(
    {
        "id": pl.String(), "quote": pl.String(), "document": pl.String(), "start": pl.Int64(),
        "end": pl.Int64(), "grade": pl.Float64(), "group": pl.String(),
    }
)  # fmt: skip


def _pairs(value: pl.DataType) -> pl.List:
    """A mapping, which tables write as a list of keys and values."""
    return pl.List(pl.Struct({"key": pl.String(), "value": value}))


NESTED: dict[str, Any] = {
    "id": pl.String(),
    "query": pl.String(),
    "tags": _pairs(pl.String()),
    "retrieved": pl.List(_RESULT),
    "ground_truth": pl.List(_TARGET),
    "stages": _pairs(pl.List(_RESULT)),
    "latency_ms": pl.Float64(),
    "error": pl.String(),
}

Frames = Iterator[pl.DataFrame]


def write(parts: Iterable[Dataset], path: Path, remarks: Remarks, nested: bool) -> list[Path]:
    """A table in the form that the ending of the path names."""
    waiting = iter(parts)
    first = next(waiting, None)
    if first is None:
        raise InvalidInput("There is nothing to write.")
    whole = chain([first], waiting)
    is_text = ending(path) in SEPARATORS
    if nested:
        frames = _nested(whole, remarks, as_text=is_text)
    else:
        frames = (frame for part in whole for frame in _long(part))
    with opened(path) as file:
        if is_text:
            _write_text(frames, file, SEPARATORS[ending(path)], remarks)
        else:
            _sink(frames, file, ending(path), nested)
    return [path]


def _long(part: Dataset) -> Frames:
    if part.ground_truth is not None:
        yield _targets(part.ground_truth)
    elif part.run is not None:
        yield from _results(part.run)


def _targets(truth: GroundTruth) -> pl.DataFrame:
    targets = truth.targets
    used = [
        name
        for name in TARGET_SCHEMA
        if name in ("query", "grade") or targets[name].null_count() < targets.height
    ]
    if not {"item", "quote", "document"} & set(used):
        used.append("item")
    frame = targets.select(sorted(used, key=lambda name: (name != "query", name == "grade")))
    if (frame["grade"] == frame["grade"].round()).all():
        frame = frame.with_columns(pl.col("grade").cast(pl.Int64))
    known = truth.queries.filter(pl.col("text").is_not_null() & (pl.col("text") != pl.col("query")))
    if known.height:
        texts = truth.queries.select("query", query_text="text")
        frame = frame.join(texts, on="query", how="left", maintain_order="left")
    return frame


def _results(run: Run) -> Frames:
    for batch in run.ranked():
        frame = batch.frame.with_columns(rank=pl.Series(batch.rank, dtype=pl.Int64))
        yield frame.select(name for name in RUN_SCHEMA if name in frame.columns)


def _nested(parts: Iterable[Dataset], remarks: Remarks, *, as_text: bool) -> Frames:
    """One row per query; in a text table lists and objects are JSON in their cells."""
    waiting = records(parts, remarks)
    rows = list(islice(waiting, ROWS_AT_ONCE))
    schema = NESTED
    if len(rows) < ROWS_AT_ONCE:
        # All there is: a column that nobody fills is not needed.
        schema = {name: NESTED[name] for name in NESTED if any(name in row for row in rows)}
    while rows:
        if as_text:
            cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
            yield pl.DataFrame(cells, schema=dict.fromkeys(schema, pl.String()))
        else:
            yield pl.DataFrame([_spread(row) for row in rows], schema=schema)
        rows = list(islice(waiting, ROWS_AT_ONCE))


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
    if "tags" in row:
        spread["tags"] = [{"key": key, "value": value} for key, value in row["tags"].items()]
    if "stages" in row:
        spread["stages"] = [
            {"key": key, "value": _objects(value)} for key, value in row["stages"].items()
        ]
    return spread


def _objects(rows: list[Any]) -> list[dict[str, Any]]:
    return [one if isinstance(one, dict) else {"id": one} for one in rows]


def _write_text(frames: Frames, file: BinaryIO, separator: str, remarks: Remarks) -> None:
    header = True
    for frame in frames:
        texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
        armed = frame.select(pl.col(texts).str.contains(ARMED).sum()).row(0) if texts else ()
        remarks.add(
            "Cells that begin as a formula does, written after an apostrophe (which Calipers takes "
            "away when it reads them): {n}.",
            sum(one or 0 for one in armed),
        )
        safe = frame.with_columns(disarmed(pl.col(name)).alias(name) for name in texts)
        safe.write_csv(file, separator=separator, include_header=header)
        header = False


def _sink(frames: Frames, file: BinaryIO, suffix: str, nested: bool) -> None:
    """Frames into a binary table one after the other, never all in memory."""
    from polars.io.plugins import register_io_source

    first = next(frames, None)
    if first is None:
        raise InvalidInput("There is nothing to write.")
    whole = chain([first], frames)

    def source(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Frames:
        del with_columns, predicate, n_rows, batch_size
        yield from whole

    lazy = register_io_source(source, schema=first.schema)
    if suffix == ".arrow":
        lazy.sink_ipc(file)
    else:
        # A row group waits in memory until it is full, and a row may be a whole query.
        lazy.sink_parquet(file, row_group_size=ROWS_AT_ONCE if nested else None)
