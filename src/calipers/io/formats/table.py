"""Tables with one row per result or judgement; written also with one row per query."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.entries import AT_ONCE, in_frames, records
from calipers.io.facets import EVERYTHING, Remarks
from calipers.io.format import Format, Output, wrong_form
from calipers.io.guard import guarded_frame, is_armed
from calipers.io.sight import Sight
from calipers.io.tables import Table, Where, explained, is_long, renaming
from calipers.io.write import ending, opened
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.run import RUN_SCHEMA, Run, natural_order
from calipers.model.spans import check_direction
from calipers.names import BEIR_JUDGEMENTS

WANTED = {"Float64": "a finite number", "Int64": "a whole number", "String": "a text"}
BATCH = 250_000
SEPARATORS = {".csv": ",", ".tsv": "\t"}
PLAIN_TARGETS = frozenset(
    {
        "targets", "groups", "grades", "not_relevant", "quotes", "spans", "spans_alone",
        "targets_without_id", "query_ids", "query_texts",
    }
)  # fmt: skip
PLAIN_RESULTS = frozenset(
    {"results", "scores", "texts", "result_documents", "tokens", "results_without_id"}
)

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
        """A table with a column for the query."""
        return sight.table is not None and is_long(sight.table.columns)

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset:
        """A ground truth, a run or both, by the columns."""
        del watch
        if sight.table is None:
            raise wrong_form(sight, "a table")
        return read_long(sight.table, role)

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


def read_long(table: Table, role: Role) -> Dataset:
    """A ground truth, a run or both from a table with one row per item, by its columns."""
    with explained(table.name, table.fault):
        schema = table.lazy.collect_schema()
        names = renaming(schema.names())
        if frozenset(schema.names()) >= BEIR_JUDGEMENTS and role != "run":
            names["score"] = "grade"
        lazy = table.lazy.select(pl.col(theirs).alias(ours) for theirs, ours in names.items())
        return _read_long(replace(table, open=lambda: lazy), schema.names(), role)


def _read_long(table: Table, found: list[str], role: Role) -> Dataset:
    schema = table.lazy.collect_schema()
    has_truth, has_results = _parts(schema, found, role, table.name)
    if not any(column in schema for column in ("item", "text", "quote", "document")):
        raise InvalidInput(
            f"{table.name} has no column for the item; found {', '.join(found)}; "
            "call it item (or doc_id, chunk_id, docno)."
        )
    truth = _truth(table, schema, has_results) if has_truth else None
    run = _run(table, schema) if has_results else None
    parts = " and ".join(
        word for word, there in (("judgements", has_truth), ("results", has_results)) if there
    )
    return Dataset(truth, run, f"a table of {parts}")


def _parts(schema: pl.Schema, found: list[str], role: Role, name: str) -> tuple[bool, bool]:
    """Whether the table holds targets, and whether it holds results."""
    if "query" not in schema:
        raise InvalidInput(
            f"{name} has no column for the query; found {', '.join(found)}; "
            "a table has query, item, and score or rank (a run) or grade (a ground truth)."
        )
    has_truth = any(column in schema for column in ("grade", "quote"))
    has_results = any(column in schema for column in ("score", "rank", "text"))
    if has_truth or has_results:
        return has_truth, has_results
    if role == "both":
        raise InvalidInput(
            f"{name} could be two forms: it has the columns {', '.join(found)}, neither a score "
            "or rank (a run) nor a grade (a ground truth); say which it is with --run or "
            "--ground-truth (run= or ground_truth= in Python)."
        )
    return role == "ground_truth", role == "run"


def _truth(table: Table, schema: pl.Schema, has_results: bool) -> GroundTruth:
    columns = [n for n in schema.names() if n in TARGET_SCHEMA]
    texts = ["query_text"] if "query_text" in schema else []
    frame = table.lazy.select(columns + texts).collect(engine="streaming")
    cast = _cast(frame.select(columns), TARGET_SCHEMA, table.where, 0)
    queries = cast.select("query", *(frame[t].cast(pl.String).alias("text") for t in texts))
    queries = queries.unique("query", keep="first", maintain_order=True)
    rows = None
    if has_results and "grade" in columns:
        # Results nobody judged stand in the same table without a grade.
        rows = cast["grade"].is_not_null().arg_true()
        cast = cast[rows]
    where = table.where if rows is None else lambda row: table.where(int(rows[row]))
    return GroundTruth.from_targets(cast, queries=queries, where=where)


def _run(table: Table, schema: pl.Schema) -> Run:
    columns = [n for n in schema.names() if n in RUN_SCHEMA]
    lazy = table.lazy.select(columns)

    def scan() -> Iterator[pl.DataFrame]:
        seen = 0
        with explained(table.name, table.fault):
            for batch in lazy.collect_batches(chunk_size=BATCH, maintain_order=True):
                made = _cast(batch, RUN_SCHEMA, table.where, seen)
                check_direction(made, table.where, seen)
                yield made
                seen += batch.height

    return Run(scan, natural_order(columns), name=table.name)


def checked(
    frame: pl.DataFrame, schema: dict[str, pl.DataType], columns: Iterable[str], name: str
) -> pl.DataFrame:
    """Some columns of a table whose rows have no places, each as it must be, or a sentence."""
    made = _cast(frame.select(columns), schema, lambda _: name, 0)
    check_direction(made, lambda _: name)
    return made


def _cast(
    frame: pl.DataFrame, schema: dict[str, pl.DataType], where: Where, offset: int
) -> pl.DataFrame:
    columns = []
    needed = _needed(frame.columns)
    for name in frame.columns:
        column, dtype = frame[name], schema[name]
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Boolean, pl.Object):
            raise InvalidInput(
                f"The column {name!r} holds {column.dtype} at {where(offset)}; "
                f"it must hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        if column.dtype.is_float() and dtype == pl.String():
            whole = column.cast(pl.Int64, strict=False)
            column = whole if (whole.cast(pl.Float64) == column).all() else column
        if column.dtype == pl.String and dtype.is_numeric():
            column = column.str.strip_chars().replace("", None)
        cast = column.cast(dtype, strict=False)
        bad = cast.is_null() & column.is_not_null()
        if dtype == pl.Int64() and column.dtype.is_float():
            bad |= cast.cast(pl.Float64).ne_missing(column)
        if dtype == pl.Float64():
            bad |= ~cast.is_finite().fill_null(True)
        if name in needed:
            bad |= column.is_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InvalidInput(
                f"The column {name!r} holds {_shown(column[row])} at {where(offset + row)}; it "
                f"must hold {WANTED[str(dtype)]} in every row."
            )
        columns.append(cast)
    made = pl.DataFrame(columns)
    nameless = made.select(pl.all_horizontal(pl.col(_identities(made.columns)).is_null()))
    if nameless.to_series().any():
        row = int(nameless.to_series().arg_true()[0])
        raise InvalidInput(
            f"A row names nothing at {where(offset + row)}: "
            f"{', '.join(_identities(made.columns))} hold nothing; fill one of them."
        )
    return made


def _identities(columns: list[str]) -> list[str]:
    """The columns by one of which a row says what it is about."""
    return [name for name in ("item", "text", "quote", "document") if name in columns]


def _needed(columns: list[str]) -> set[str]:
    """The columns that must be filled in every row; ranks make scores dispensable."""
    identity = _identities(columns)
    score = set() if "rank" in columns else {"score"}
    return {"query", "rank", *score, *(identity if len(identity) == 1 else ())}


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:60]


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
