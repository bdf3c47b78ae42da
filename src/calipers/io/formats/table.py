"""Tables with one row per result or judgement; written also with one row per query."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.files.write import ending, guarded_frame, is_armed, opened
from calipers.io.format import Format, Output, wrong_form
from calipers.io.records.entries import AT_ONCE, records
from calipers.io.records.facets import EVERYTHING, Remarks
from calipers.io.records.nested import in_frames
from calipers.io.tables.columns import is_long
from calipers.io.tables.long import read_long
from calipers.io.tables.numbered import numbered_as_one
from calipers.io.tables.pages import pages_as_items
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import RUN_SCHEMA, Run

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PLAIN_TARGETS = frozenset(
    {
        "targets",
        "groups",
        "grades",
        "not_relevant",
        "quotes",
        "spans",
        "spans_alone",
        "targets_without_id",
        "query_ids",
        "query_texts",
    }
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
        return read_long(pages_as_items(numbered_as_one(table, role), role), role)

    def write(
        self, output: Output, parts: Iterable[Dataset], path: Path, remarks: Remarks
    ) -> list[Path]:
        """A table in the form that the ending of the path names."""
        waiting = iter(parts)
        first = next(waiting, None)
        if first is None:
            raise InvalidInput("There is nothing to write.")
        whole = chain([first], waiting)
        is_text = ending(path) in SEPARATORS
        # Only a row per query has a place for everything.
        nested = output.holds == EVERYTHING
        if nested:
            frames = in_frames(records(whole, remarks), as_text=is_text)
        else:
            frames = (frame for part in whole for frame in _long(part))
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
        lazy.sink_parquet(file, row_group_size=AT_ONCE if nested else None)
