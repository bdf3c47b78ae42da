"""Tables with one row per result or judgement (long), or one row per query (nested).

CSV and TSV, Parquet, Arrow files, and frames in memory all come here as lazy frames. A tool's
own columns are recognised as the keys of its JSON are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.rows import RowFormat, cell, stream_rows
from calipers.io.stream import RecordStream
from calipers.model.dataset import Dataset, Role
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.run import RUN_SCHEMA, Run, natural_order
from calipers.model.spans import check_direction

ALSO_CALLED: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "query-id", "question", "question_id"),
    "item": ("item_id", "doc_id", "docid", "docno", "chunk_id", "corpus-id", "corpus_id", "pid"),
    "score": ("similarity",),
    "rank": ("position",),
    "grade": ("relevance", "rel", "label", "judgement", "rating"),
}
NAMES_OF_IDS = ("query_id", "qid", "query-id", "question_id")
NAMES_OF_TEXTS = ("query_text", "query", "question")
BEIR_QRELS = frozenset({"query-id", "corpus-id", "score"})
WANTED = {"Float64": "a finite number", "Int64": "a whole number", "String": "a text"}
BATCH = 250_000
ROWS_AT_ONCE = 2_000

Where = Callable[[int], str]


@dataclass(frozen=True)
class Table:
    """A table on its way in: lazily read, with its name and the place of each row."""

    open: Callable[[], pl.LazyFrame]
    name: str
    where: Where
    columns: frozenset[str]
    """The names of the columns, as the file has them."""
    fault: Callable[[], str | None] = lambda: None
    """What is wrong with the file, where the table library cannot say on which line."""

    @cached_property
    def lazy(self) -> pl.LazyFrame:
        """The table itself, opened when somebody wants more than the names of its columns."""
        return self.open()


def in_memory(lazy: pl.LazyFrame, name: str) -> Table:
    """A table whose rows have numbers and no lines."""
    with explained(name):
        columns = frozenset(lazy.collect_schema().names())
    return Table(lambda: lazy, name, lambda row: f"{name}, row {row + 1}", columns)


@contextmanager
def explained(name: str, fault: Callable[[], str | None] | None = None) -> Iterator[None]:
    """Complaints of the table library as our sentence."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise UnreadableFile(
            (fault() if fault else None)
            or f"The table {name} cannot be read: {first}; write it again, or check its form."
        ) from error


def is_long(columns: frozenset[str]) -> bool:
    """Whether one of the columns names the query."""
    return "query" in renaming(sorted(columns)).values()


def stream_table(table: Table, form: RowFormat, watch: bool = False) -> RecordStream:
    """The rows of a table in a tool's own form, as records."""
    names = [
        name for name in table.lazy.collect_schema().names() if watch or _is_wanted(name, form)
    ]

    def rows() -> Iterator[dict[str, Any]]:
        with explained(table.name, table.fault):
            for batch in table.lazy.select(names).collect_batches(
                chunk_size=ROWS_AT_ONCE, maintain_order=True
            ):
                for row in batch.iter_rows(named=True):
                    yield {key: cell(value, form, key) for key, value in row.items()}

    return stream_rows(form, rows(), lambda i: f"{table.where(i)} $", table.name, watch)


def _is_wanted(name: str, form: RowFormat) -> bool:
    return not form.kept or name in form.kept


def read_long(table: Table, role: Role) -> Dataset:
    """A ground truth, a run or both from a table with one row per item, by its columns."""
    with explained(table.name, table.fault):
        schema = table.lazy.collect_schema()
        names = renaming(schema.names())
        if frozenset(schema.names()) >= BEIR_QRELS and role != "run":
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


def renaming(columns: list[str]) -> dict[str, str]:
    """The columns that are understood, each with our name for it.

    Where one column is an id of the query and another its text, the id is the query.

    >>> renaming(["qid", "query", "docno", "rank", "note"])
    {'qid': 'query', 'query': 'query_text', 'docno': 'item', 'rank': 'rank'}
    """
    lower = {column.strip().lower(): column for column in reversed(columns)}
    chosen: dict[str, str] = {}
    ident = next((name for name in NAMES_OF_IDS if name in lower), None)
    text = next((name for name in NAMES_OF_TEXTS if name in lower), None)
    if text and (ident or (text == "query_text" and "query" in lower)):
        chosen[lower[text]] = "query_text"
        chosen[lower[ident or "query"]] = "query"
    for ours in (*TARGET_SCHEMA, *RUN_SCHEMA):
        names = (ours, *ALSO_CALLED.get(ours, ()))
        free = (lower[n] for n in names if n in lower and lower[n] not in chosen)
        theirs = next(free, None)
        if theirs is not None and ours not in chosen.values():
            chosen[theirs] = ours
    return {column: chosen[column] for column in columns if column in chosen}
