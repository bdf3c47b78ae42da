"""Tables with one row per result or judgement (long), or one row per query (nested).

CSV and TSV, Parquet, Arrow files, and frames in memory all come here as lazy frames.
"""

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.records import Record, build, convert_all
from calipers.io.source import Source
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.run import RUN_SCHEMA, Run

ALSO_CALLED: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "query-id", "question", "question_id"),
    "item": ("item_id", "doc_id", "docid", "docno", "chunk_id", "corpus-id", "corpus_id", "pid"),
    "score": ("similarity",),
    "rank": ("position",),
    "grade": ("relevance", "rel", "label", "judgement", "rating"),
}
NESTED = ("retrieved", "ground_truth")

Where = Callable[[int], str]


def detect_delimited(source: Source) -> bool:
    """A header line with a query column, divided by commas, tabs or semicolons."""
    header = _header(source)
    return header is not None and "query" in _renaming(header[0]).values()


def detect_parquet(source: Source) -> bool:
    """The magic bytes of Parquet."""
    return source.head[:4] == b"PAR1"


def detect_arrow(source: Source) -> bool:
    """The magic bytes of an Arrow (Feather) file."""
    return source.head[:6] == b"ARROW1"


def read_delimited(source: Source, role: Role) -> Dataset:
    """CSV or TSV with a header."""
    header = _header(source)
    if header is None:
        raise UnreadableFile(f"{source.name} has no header line with a query column.")
    _, separator = header
    packed = source.path.open("rb").read(2) == b"\x1f\x8b"
    lazy = pl.scan_csv(
        io.BytesIO(source.read()) if packed else source.path,
        separator=separator,
        infer_schema=False,
        missing_utf8_is_empty_string=False,
    )
    return read(lazy, role, source.name, lambda row: _csv_place(source, row, separator))


def read_parquet(source: Source, role: Role) -> Dataset:
    """A Parquet file."""
    return read(pl.scan_parquet(source.path), role, source.name, _row_place(source.name))


def read_arrow(source: Source, role: Role) -> Dataset:
    """An Arrow (Feather) file."""
    return read(pl.scan_ipc(source.path), role, source.name, _row_place(source.name))


def read(lazy: pl.LazyFrame, role: Role, name: str, where: Where | None = None) -> Dataset:
    """A ground truth, a run or both from a table, by its columns."""
    where = where or _row_place(name)
    try:
        schema = lazy.collect_schema()
        lazy = lazy.rename(_renaming(schema.names()))
        schema = lazy.collect_schema()
        if any(column in schema for column in NESTED):
            return _read_nested(lazy, name, where)
        return _read_long(lazy, schema, role, name, where)
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise UnreadableFile(
            f"The table {name} cannot be read: {first}; write it again, or check its form."
        ) from error


def _read_nested(lazy: pl.LazyFrame, name: str, where: Where) -> Dataset:
    known = [c for c in lazy.collect_schema().names() if c in Record.__struct_fields__]

    def rows() -> Iterator[dict[str, Any]]:
        for batch in lazy.select(known).collect_batches(chunk_size=2_000):
            for row in batch.iter_rows(named=True):
                yield {key: _unnested(value) for key, value in row.items() if value is not None}

    return build(convert_all(rows(), where), where, name, name)


def _unnested(value: Any) -> Any:
    """A cell as the record form has it: JSON text decoded, absent struct fields left out."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if one is not None}
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and set(one) == {"key", "value"} for one in value):
            return {one["key"]: one["value"] for one in value}
        return [_unnested(one) if isinstance(one, dict) else one for one in value]
    return value


def _read_long(
    lazy: pl.LazyFrame, schema: pl.Schema, role: Role, name: str, where: Where
) -> Dataset:
    has_truth = any(column in schema for column in ("grade", "quote"))
    has_results = any(column in schema for column in ("score", "rank", "text"))
    if "query" not in schema:
        raise InvalidInput(
            f"{name} has no column for the query; found {', '.join(schema.names())}; "
            "a table has query, item, and score or rank (a run) or grade (a ground truth)."
        )
    if not has_truth and not has_results:
        if role == "both":
            raise InvalidInput(
                f"{name} has the columns {', '.join(schema.names())}: neither a score or rank (a "
                "run) nor a grade (a ground truth); say which it is with --run or --ground-truth."
            )
        has_truth, has_results = role == "ground_truth", role == "run"
    identified = any(column in schema for column in ("item", "text", "quote", "document"))
    if not identified:
        raise InvalidInput(
            f"{name} has no column for the item; found {', '.join(schema.names())}; "
            "call it item (or doc_id, chunk_id, docno)."
        )
    truth = run = None
    if has_truth:
        columns = [n for n in schema.names() if n in TARGET_SCHEMA]
        frame = lazy.select(columns).collect(engine="streaming")
        frame = _cast(frame, TARGET_SCHEMA, where, 0)
        if has_results:
            frame = frame.filter(pl.col("grade").is_not_null())
        truth = GroundTruth.from_targets(frame, where=where)
    if has_results:
        columns = [n for n in schema.names() if n in RUN_SCHEMA]
        order = "rank" if "rank" in columns else "score" if "score" in columns else "listed"

        def scan() -> Iterator[pl.DataFrame]:
            seen = 0
            for batch in lazy.select(columns).collect_batches(
                chunk_size=250_000, maintain_order=True
            ):
                yield _cast(batch, RUN_SCHEMA, where, seen)
                seen += batch.height

        run = Run(scan, order, name=name)  # type: ignore[arg-type]
    return Dataset(truth, run, name)


def _cast(
    frame: pl.DataFrame, schema: dict[str, pl.DataType], where: Where, offset: int
) -> pl.DataFrame:
    columns = []
    for name in frame.columns:
        column, dtype = frame[name], schema[name]
        if column.dtype.is_nested():
            raise InvalidInput(
                f"The column {name!r} holds {column.dtype} at {where(offset)}; "
                f"it must hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        if column.dtype.is_float() and dtype == pl.String():
            whole = column.cast(pl.Int64, strict=False)
            column = whole if (whole.cast(pl.Float64) == column).all() else column
        if column.dtype == pl.String and dtype.is_numeric():
            column = column.str.strip_chars()
        cast = column.cast(dtype, strict=False)
        bad = cast.is_null() & column.is_not_null()
        if dtype == pl.Float64():
            bad |= ~cast.is_finite().fill_null(True)
        if name in ("query", "item", "score", "rank"):
            bad |= column.is_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InvalidInput(
                f"The column {name!r} holds {column[row]!r} at {where(offset + row)}; it must "
                f"hold {'a finite number' if dtype.is_numeric() else 'a text'} in every row."
            )
        columns.append(cast)
    return pl.DataFrame(columns)


def _renaming(columns: list[str]) -> dict[str, str]:
    """Other people's column names, each with ours, where ours is not there already."""
    lower = {column.strip().lower(): column for column in columns}
    renaming = {
        lower[ours]: ours for ours in (*TARGET_SCHEMA, *RUN_SCHEMA, *NESTED) if ours in lower
    }
    for ours, others in ALSO_CALLED.items():
        if ours in lower:
            continue
        for other in others:
            if other in lower and lower[other] not in renaming:
                renaming[lower[other]] = ours
                break
    return renaming


def _header(source: Source) -> tuple[list[str], str] | None:
    line = source.head.replace(b"\r\n", b"\n").split(b"\n")[0]
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    for separator in ("\t", ",", ";"):
        if separator in text:
            columns = next(csv.reader([text], delimiter=separator))
            return columns, separator
    return None


def _csv_place(source: Source, row: int, separator: str) -> str:
    """The line on which the n-th row of data ends; quoted cells may hold line ends."""
    text = source.read().decode(errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    seen = -2
    for cells in reader:
        seen += bool(cells)
        if seen == row:
            return f"{source.name}:{reader.line_num}"
    return source.name


def _row_place(name: str) -> Where:
    return lambda row: f"{name}, row {row + 1}"
