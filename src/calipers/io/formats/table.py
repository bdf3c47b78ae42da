"""Tables with one row per result, judgement or query: lists and objects in their cells too."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.files.write import ending, guarded_frame, is_armed, opened
from calipers.io.format import Format, Output, Parts, wrong_form
from calipers.io.records.entries import AT_ONCE, records
from calipers.io.records.facets import EVERYTHING, Remarks
from calipers.io.tables.columns import is_long
from calipers.io.tables.csv_rows import lazily
from calipers.io.tables.long import read_handwritten
from calipers.model.ground_truth import FORBIDDEN_SCHEMA, TARGET_SCHEMA, GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import RUN_SCHEMA, Run
from calipers.names import words_in


def _struct(schema: dict[str, pl.DataType]) -> pl.Struct:
    """What is known of one result or target of a query, as an object of ours."""
    kinds = {name: kind for name, kind in schema.items() if name not in ("query", "rank")}
    return pl.Struct({"id" if name == "item" else name: kind for name, kind in kinds.items()})


_RESULT = _struct(RUN_SCHEMA)


def _pairs(value: pl.DataType) -> pl.List:
    """A mapping, which tables write as a list of keys and values."""
    return pl.List(pl.Struct({"key": pl.String(), "value": value}))


NESTED: dict[str, Any] = {
    "id": pl.String(),
    "query": pl.String(),
    "tags": _pairs(pl.String()),
    "retrieved": pl.List(_RESULT),
    "ground_truth": pl.List(_struct({**FORBIDDEN_SCHEMA, **TARGET_SCHEMA})),
    "forbidden": pl.List(_struct(FORBIDDEN_SCHEMA)),
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


SEPARATORS = {".csv": ",", ".tsv": "\t"}
PLAIN_TARGETS = frozenset(
    words_in(
        "targets groups grades not_relevant quotes spans spans_alone targets_without_id "
        "query_ids query_texts"
    )
)
PLAIN_RESULTS = frozenset(
    {"results", "scores", "texts", "result_documents", "pages", "tokens", "results_without_id"}
)

MOST_WHOLE = 2.0**53
"""Beyond, a float is no longer every whole number."""
Frames = Iterator[pl.DataFrame]


class LongTable(Format):
    """A table of query, item, and what is known of the two together."""

    name = "table"
    title = "a table of query, item, and score, rank or grade"
    fallback = True
    outputs = (
        Output("csv", "a CSV table", EVERYTHING, (".csv",)),
        Output("tsv", "a TSV table", EVERYTHING, (".tsv",)),
        Output("parquet", "a Parquet table", EVERYTHING, (".parquet",), can_be_packed=False),
        Output("arrow", "an Arrow table", EVERYTHING, (".arrow",), can_be_packed=False),
    )

    def detect(self, sight: Sight) -> bool:
        """A table with a column for the query, or flat records with the names of one."""
        table = sight.table or sight.flat
        return table is not None and is_long(table.columns)

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset:
        """A ground truth, a run or both, by the columns."""
        del watch
        table = sight.table or sight.flat
        if table is None:
            raise wrong_form(sight, "a table")
        return read_handwritten(table, role)

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """A table in the form that the ending of the path names."""
        is_text = ending(path) in SEPARATORS
        # Only a row per query has a place for everything.
        nested = output.holds == EVERYTHING
        if nested:
            frames = in_frames(records(parts, remarks), as_text=is_text)
        else:
            frames = (frame for part in parts for frame in _long(part))
        with opened(path) as file:
            if is_text:
                _write_text(frames, file, SEPARATORS[ending(path)], remarks)
            else:
                _sink(frames, file, ending(path), nested)
        return [path]

    def fitting(self, output: Output, first: Dataset) -> Output:
        """One row per item where there is one part only and nothing is known beyond its rows."""
        truth, run = first.ground_truth, first.run
        if truth is not None and run is None:
            if not truth.tags and truth.queries.height == truth.targets["query"].n_unique():
                return replace(output, holds=PLAIN_TARGETS)
        elif run is not None and truth is None and run.queries is None and not run.stages:
            return replace(output, holds=PLAIN_RESULTS)
        return output


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
    whole = (frame["grade"] == frame["grade"].round()) & (frame["grade"].abs() < MOST_WHOLE)
    if whole.all():
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


def _write_text(frames: Frames, file: BinaryIO, separator: str, remarks: Remarks) -> None:
    header = True
    for frame in frames:
        texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
        armed = frame.select(is_armed(pl.col(texts)).sum()).row(0) if texts else ()
        remarks.add(
            "Cells that begin as a formula does, written after an apostrophe (which Calipers takes "
            "away when it reads them): {n}.",
            sum(one or 0 for one in armed),
        )
        guarded_frame(frame).write_csv(file, separator=separator, include_header=header)
        header = False


def _sink(frames: Frames, file: BinaryIO, suffix: str, nested: bool) -> None:
    """Frames into a binary table one after the other, never all in memory."""
    first = next(frames, None)
    if first is None:
        raise InvalidInput("There is nothing to write.")
    lazy = lazily(first.schema, lambda: chain([first], frames))
    if suffix == ".arrow":
        lazy.sink_ipc(file)
    else:
        # A row group waits in memory until it is full, and a row may be a whole query.
        lazy.sink_parquet(file, row_group_size=AT_ONCE if nested else None)
