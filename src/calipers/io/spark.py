"""Spark DataFrames: a ground truth is collected here, a run is processed on the workers.

Rows go from Spark to Python once. There they are partitioned by query, and only packed blocks are
shuffled: some thousands of values instead of millions of rows, which Spark would write, sort and
convert one by one. Only the DataFrame API is used, so that Spark Connect works as well.
"""

import pickle
import re
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, cast

import numpy as np
import polars as pl

from calipers.errors import CalipersError, InvalidInput
from calipers.io.formats.table import read_long
from calipers.io.records.gather import regrouped
from calipers.io.tables.cells import cast_columns, check_ranks
from calipers.io.tables.columns import IDENTITIES, Columns
from calipers.io.tables.resolve import no_column, resolve_fields
from calipers.io.tables.scan import in_memory
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth, check_direction
from calipers.model.matched import Dataset, Role
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, SAMPLE, Block, Run, Scan, natural_order
from calipers.names import DISTANCES, plain_name

_TRACEBACK = "Traceback (most recent call last):"
_CALL = "An error occurred while calling "
"""How an error of the JVM begins, which says no more than the number of an object."""
_OURS = re.compile(r"calipers\.errors\.\w+: (.*)")


@contextmanager
def spoken() -> Iterator[None]:
    """Turn errors of Spark into ours, without the Java stack trace."""
    errors: tuple[type[BaseException], ...] = ()
    with suppress(ImportError):
        from pyspark.errors import PySparkException

        errors = (PySparkException,)
    with suppress(ImportError):
        from py4j.protocol import Py4JError

        errors = (*errors, Py4JError)
    try:
        yield
    except errors as error:
        cause = _cause(str(error)) or type(error).__name__
        ours = _OURS.match(cause)
        raise InvalidInput(ours[1] if ours else f"Spark cannot do this: {cause}") from None


_KNOWN = {
    "[JAVA_GATEWAY_EXITED]": "Java does not start; install Java 17 or newer, or say in JAVA_HOME "
    "where it is.",
    "No module named 'calipers'": "Calipers is not installed where the workers are; install it "
    "there, too.",
    **dict.fromkeys(
        ("Python worker exited unexpectedly", "ExecutorLostFailure"),
        "A worker was lost, most often because it ran out of memory; give "
        "spark.executor.memoryOverhead more, or raise spark.sql.shuffle.partitions.",
    ),
    "java.lang.OutOfMemoryError": "Java ran out of memory; give spark.driver.memory and "
    "spark.executor.memory more.",
}
"""What an error of Spark says somewhere, and what to do then."""


def _cause(text: str) -> str:
    """The cause in an error message of Spark, in one line.

    >>> _cause("[BAD] No such path.\\n\\nJVM stacktrace: …")
    '[BAD] No such path.'
    >>> _cause(f"A worker failed:\\n{_TRACEBACK}\\n  File …\\nOSError: no room\\n")
    'OSError: no room'
    >>> _cause(f"{_CALL}o7.getResult.\\n: a.B\\n\\tat c\\nCaused by: d.E: no room\\n")
    'd.E: no room'
    >>> _cause(f"{_CALL}o7.getResult.\\n: a.B: Lost task: Python worker exited unexpectedly")[:18]
    'A worker was lost,'
    """
    for mark, said in _KNOWN.items():
        if mark in text:
            return said
    before, _, trace = text.partition(_TRACEBACK)
    lines = [line.strip() for line in before.splitlines() if line.strip()]
    if lines and lines[0].startswith(_CALL):
        # Java names what happened last the cause of all before it.
        causes = [line for line in lines if line.startswith("Caused by: ")]
        lines = [line.removeprefix("Caused by: ").lstrip(": ") for line in causes[-1:] or lines[1:]]
    # The error itself follows the indented lines of a traceback.
    raised = [line for line in trace.splitlines() if line and not line.startswith(" ")]
    return (raised or lines or [""])[0][:300]


BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""The characters that polars strips from names."""
_NOT_ONE_VALUE = ("array", "map", "struct", "boolean", "binary", "variant")
_WHOLE = ("byte", "short", "integer", "long")
_BROKEN = ("float", "double", "decimal")


def _in_our_names(frame: Any, name: str, said: Columns) -> tuple[Any, dict[str, str]]:
    """A run in our names and types, and which of its columns has each name."""
    sample = in_memory(pl.DataFrame(frame.limit(SAMPLE).toArrow()).lazy(), name).renamed(said)
    _, understood = resolve_fields(sample, "run")
    given = {new: old for old, new in said.rename(frame.columns, name).items()}
    columns = {ours: given.get(theirs, theirs) for theirs, ours in understood.items()}
    _check_order(columns, name)
    # The query first: sorting must keep the rows of a query together.
    called = {ours: columns[ours] for ours in ("query", *columns) if ours in RUN_SCHEMA}
    if not {*IDENTITIES} & set(called):
        raise no_column(sample, "item", "run")
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    # A column that the user maps to score is one, whatever its name.
    distances = {ours for theirs, ours in understood.items() if plain_name(theirs) in DISTANCES}
    made = []
    for ours, theirs in called.items():
        kind, dtype = kinds[theirs], RUN_SCHEMA[ours]
        if kind in _NOT_ONE_VALUE:
            raise InvalidInput(
                f"The column {theirs!r} holds {kind} in {name}; it must hold "
                f"{'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        column = _typed(ours, theirs, kind, dtype)
        made.append((-column.try_cast("double") if ours in distances else column).alias(ours))
    return frame.select(*made), called


def _check_order(columns: Mapping[str, str], name: str) -> None:
    """Refuse a run without scores and ranks, as it has no order."""
    if lists := columns.get("retrieved", columns.get("call")):
        what = "a column of lists" if "retrieved" in columns else "calls of the retriever"
        raise InvalidInput(
            f"{name} has {what} ({lists!r}); on Spark a run has one row for each result of one "
            "list, with a score or a rank."
        )
    if natural_order(columns) == "listed":
        raise InvalidInput(
            f"{name} has neither a score nor a rank, and the rows of a DataFrame have no order; "
            "add a column score or rank."
        )


def _typed(ours: str, name: str, kind: str, dtype: pl.DataType) -> Any:
    """Cast a Spark column to our type."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    column = F.col(_quoted(name))
    if ours in ("query", "item") and kind == "string":
        # Stripped as everywhere; here it decides which rows are grouped or equal.
        bare = F.btrim(column, F.lit(BLANKS))
        return F.when(bare != "", bare).otherwise(column)
    if dtype == pl.String():
        if kind not in _BROKEN:
            return column.cast("string")
        # An id such as 7.0 was a whole number until a missing value turned its column into floats.
        whole = column.try_cast("long")
        text = F.when(column == whole, whole.cast("string"))
        # NaN means a missing value in tables of numbers.
        return text.when(~F.isnan(column.cast("double")), column.cast("string"))
    if kind in _WHOLE:
        return column.cast("long")
    # A text that is no number is kept: the worker reports it.
    return column.cast("double") if kind in _BROKEN else column.cast("string")


def _quoted(name: str) -> str:
    """Quote a column name for Spark."""
    return "`" + name.replace("`", "``") + "`"


BUCKET, ROWS, OTHERS = "bucket", "rows", "others"
FIRST = -1
"""The extra bucket with the first rows."""
_LEAST, _MOST = 512, 1 << 16
"""Limits on the number of buckets, so that one fits into memory and is worth packing."""
_USUAL = 200
"""Shuffle partitions, if Spark is not configured with a number."""
_PACKED_AT_ONCE = 500_000
_MOST_BYTES = 32 << 20
"""Rows and bytes that are partitioned together."""
ROWS_AT_ONCE = 200_000
"""Rows that a worker processes together."""
_PROBES = ("", "a", "query 17", "a name that is longer than those that are stored in place", "é")


@dataclass(frozen=True)
class Buckets:
    """Assigns queries to buckets, the same on every machine; plain values only."""

    n: int
    partitions: int
    probes: tuple[int, ...]
    """Hashes of some names on the driver, to check that workers hash alike."""

    @classmethod
    def of(cls, spark: Any) -> "Buckets":
        """Buckets to match the number of shuffle partitions."""
        # On some clusters the number is "auto".
        set_to = spark.conf.get("spark.sql.shuffle.partitions")
        partitions = int(set_to) if set_to.isdigit() else _USUAL
        n = min(partitions * -(-_LEAST // partitions), _MOST)
        return cls(n, partitions, _probed())

    def packed(self, rows: pl.DataFrame) -> tuple[list[int], list[bytes]]:
        """The non-empty buckets and their packed rows, in order."""
        if _probed() != self.probes:
            raise InvalidInput(
                "A worker of Spark hashes names otherwise than the driver: it has polars "
                f"{pl.__version__}; give both the same version."
            )
        place = (rows["query"].hash() % self.n).to_numpy().astype(np.uint16)
        some, starts = np.unique(np.sort(place, kind="stable"), return_index=True)
        ends = np.append(starts[1:], rows.height)
        table = _arrow(rows).combine_chunks().take(np.argsort(place, kind="stable"))
        # Not compressed: Spark compresses shuffled data.
        blobs = [_written(table[a:b], None) for a, b in zip(starts, ends, strict=True)]
        return some.tolist(), blobs


def _probed() -> tuple[int, ...]:
    return tuple(pl.Series(_PROBES).hash().to_list())


def _arrow(rows: pl.DataFrame) -> Any:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())


def _written(table: Any, compression: str | None) -> bytes:
    import pyarrow as pa

    sink, how = pa.BufferOutputStream(), pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=how) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


_KIND = f"{BUCKET} int, {ROWS} binary"


def pack_there(frame: Any, buckets: Buckets, within: Sequence[str], first: int = 0) -> Any:
    """A DataFrame with one row per non-empty bucket, partitioned for a join.

    Rows in a bucket are sorted by query, and then by the columns ``within``. One more bucket,
    ``FIRST``, holds the ``first`` rows in the order of all columns.
    """
    n = buckets.partitions
    parts = frame.mapInArrow(_packing(buckets, first), _KIND).repartition(n, BUCKET)
    sorting = _sorting(["query", *within], first)
    whole = parts.sortWithinPartitions(BUCKET).mapInArrow(sorting, _KIND)
    # Each is in its partition already. This tells Spark, which then joins without a shuffle.
    return whole.repartition(n, BUCKET)


def pack_here(spark: Any, rows: pl.DataFrame, buckets: Buckets) -> Any:
    """Like ``pack_there`` for local rows; those of a query keep their order."""
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_batches([_batch(*buckets.packed(rows))]))


def joined(run: Any, truth: Any) -> Any:
    """Both sides of each bucket in one row, for ``unpacked``."""
    results, judged = run.where(f"{BUCKET} != {FIRST}"), truth.withColumnRenamed(ROWS, OTHERS)
    return results.join(judged, BUCKET, "full_outer").drop(BUCKET)


def _packing(buckets: Buckets, first: int) -> Any:
    def work(batches: Any) -> Iterator[Any]:
        frames = (pl.DataFrame(batch) for batch in batches if batch.num_rows)
        for rows in regrouped(frames, _PACKED_AT_ONCE, _MOST_BYTES):
            some, blobs = buckets.packed(rows)
            if first:
                top = rows.bottom_k(first, by=rows.columns)
                some, blobs = [*some, FIRST], [*blobs, _written(_arrow(top), None)]
            yield _batch(some, blobs)

    return work


def _sorting(by: list[str], first: int) -> Any:
    def work(batches: Any) -> Iterator[Any]:
        listed = (zip(*(one.to_pylist() for one in batch), strict=True) for batch in batches)
        for bucket, some in groupby(chain.from_iterable(listed), itemgetter(0)):
            rows = pl.concat([pl.read_ipc_stream(content) for _, content in some])
            if bucket == FIRST:
                rows = rows.sort(rows.columns, nulls_last=True).head(first)
            else:
                rows = rows.sort(by)
            yield _batch([bucket], [_written(_arrow(rows), "zstd")])

    return work


def _batch(buckets: list[int], blobs: list[bytes]) -> Any:
    import pyarrow as pa

    columns = [pa.array(buckets, pa.int32()), pa.array(blobs, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, [BUCKET, ROWS])


def unpacked(
    batches: Any, run: pl.DataFrame, truth: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the rows of both sides of ``joined``, some whole queries at a time, sorted by name.

    A side without rows is the given empty table.
    """
    held, n = ([run], [truth]), 0
    for batch in batches:
        for both in zip(*(batch.column(name) for name in (ROWS, OTHERS)), strict=True):
            for side, content in zip(held, both, strict=True):
                if content.is_valid:
                    side.append(pl.read_ipc_stream(content.as_py()))
                    n += side[-1].height
            if n >= ROWS_AT_ONCE:
                yield _in_order(held[0]), _in_order(held[1])
                held, n = ([run], [truth]), 0
    if n:
        yield _in_order(held[0]), _in_order(held[1])


def _in_order(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows sorted by query; the first frame is empty, and a single bucket is already sorted."""
    rows = pl.concat(frames)
    # Examples are the first by name, which must not depend on the hashing.
    return rows.sort("query", maintain_order=True) if len(frames) > 2 else rows


class PackedRun:
    """The rows packed in blocks of whole queries, cached by Spark while in use."""

    def __init__(self, frame: Any, within: Sequence[str], first: int) -> None:
        self._rows, self._within, self._first = frame, within, first

    @cached_property
    def buckets(self) -> Buckets:
        """The assignment of queries to buckets, for Spark's configured partitions."""
        return Buckets.of(self._rows.sparkSession)

    @cached_property
    def frame(self) -> Any:
        """The packed rows, one row per bucket."""
        kept = pack_there(self._rows, self.buckets, self._within, self._first).persist()
        weakref.finalize(self, _unpersist, kept).atexit = False
        return kept

    @property
    def head(self) -> pl.DataFrame:
        """The first rows in the order of all columns."""
        found = self.frame.where(f"{BUCKET} = {FIRST}").select(ROWS).collect()
        if not found:
            return pl.DataFrame(self._rows.limit(0).toArrow())
        return pl.read_ipc_stream(bytes(found[0][0]))


def _unpersist(kept: Any) -> None:
    # The session may have ended already.
    with suppress(Exception):
        kept.unpersist()


CODE, ROW = "__code", "__row"
"""The index of a query and of a target in the ground truth; null in rows of the run."""
MOST_AT_ONCE = 256 << 20
"""Bytes that are collected to the driver at once."""
_SETTLING = ("text", "document", "start")
"""Columns that break ties between rows with the same score and item, or no item."""


def read_frame(frame: Any, role: Role, name: str, said: Columns) -> "pl.DataFrame | Dataset":
    """Read a ground truth as a local table in its order, or a run that stays in Spark."""
    if role == "both":
        raise InvalidInput(
            f"{name} is a DataFrame of Spark, which holds a ground truth or a run; give them as "
            "ground_truth= and run=."
        )
    with spoken():
        if role == "run":
            return Dataset(run=_run(frame, name, said), kind="a DataFrame of Spark")
        return pl.DataFrame(frame.toArrow())


def _run(frame: Any, name: str, said: Columns) -> Run:
    named, chosen = _in_our_names(frame, name, said)
    packed = PackedRun(named, [one for one in _SETTLING if one in chosen], SAMPLE)
    head = packed.head
    # With the original names and unread columns, so that all notes apply.
    theirs = head.rename(chosen).with_columns(
        pl.lit(None).alias(one) for one in frame.columns if one not in chosen.values()
    )
    found = read_long(
        replace(in_memory(theirs.select(frame.columns).lazy(), name), ordered=False).renamed(said),
        "run",
    )
    reader = ResultReader(tuple(chosen), chosen, natural_order(chosen), name)
    rows = SparkRows(named, reader, head, packed)
    return replace(
        cast(Run, found.run),
        scan=rows,
        ties=reader.ties,
        stays=True,
        is_grouped=True,
        in_memory=False,
    )


@dataclass(frozen=True)
class ResultReader:
    """Turns rows into results; plain values only, as it is sent to workers."""

    columns: tuple[str, ...]
    called: Mapping[str, str]
    order: Order
    name: str

    @property
    def ties(self) -> Ties:
        """The tie-breaking rule for equal scores, as rows have no order."""
        return "trec" if self.order == "score" else "input"

    def checked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Check and cast results; errors name the query."""

        def where(row: int) -> str:
            return f"{self.name}, query {rows['query'][row]!r:.60}"

        made = cast_columns(rows.select(self.columns), RUN_SCHEMA, where, 0, called=self.called)
        check_direction(made, where)
        check_ranks(made, where)
        return made

    def run(self, rows: pl.DataFrame) -> Run:
        """A run from the rows of some whole queries."""
        made = Run.from_frame(self.checked(rows), order=self.order, ties=self.ties)
        return replace(made, is_grouped=True)


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The rows of a run in Spark: scan them here, or process them on the workers."""

    frame: Any
    """One row per result, in our names."""
    reader: ResultReader
    head: pl.DataFrame
    """The first rows in the order of all columns."""
    packed: PackedRun
    steps: tuple[Callable[[Run], Run], ...] = ()
    scan: Scan | None = None
    """How to scan the rows after the steps."""

    def __call__(self) -> Iterator[pl.DataFrame]:
        """Yield all rows in batches, sorted by query."""
        if self.scan is not None:
            yield from self.scan()
            return
        yield self.reader.checked(self.head)
        if self.head.height < SAMPLE:
            return
        skipped = 0
        with spoken():
            order = [self.frame[name].asc_nulls_last() for name in self.frame.columns]
            packed = self.frame.sort(*order).mapInArrow(_packed, "rows binary")
            for row in packed.toLocalIterator(prefetchPartitions=True):
                rows = pl.read_ipc_stream(bytes(row[0]))
                known = min(SAMPLE - skipped, rows.height)
                skipped += known
                if known < rows.height:
                    yield self.reader.checked(rows[known:])

    def then(self, step: Callable[[Run], Run], scan: Scan) -> "SparkRows":
        """The same rows after one more step."""
        return replace(self, steps=(*self.steps, step), scan=scan)

    def over_blocks(self, truth: GroundTruth, work: Callable[[Block], Any]) -> Iterator[Any]:
        """Yield the result of ``work`` for each block of whole queries, in any order.

        Spark keeps the results until they arrive; if many, they come partition by partition.
        """
        with spoken():
            sent = _sent(truth)
            there = pack_here(self.frame.sparkSession, sent, self.packed.buckets)
            nothing = self.head.clear(), sent.clear()
            worker = _worker(self.reader, self.steps, work, nothing)
            answers = (
                joined(self.packed.frame, there)
                .mapInArrow(worker, "answer binary, failed boolean")
                .persist()
            )
            try:
                size, failed = answers.selectExpr(
                    "sum(length(answer))", "count_if(failed)"
                ).collect()[0]
                if failed:
                    errors = answers.where("failed").select("answer").toArrow().column(0)
                    raise min((_unpacked(one.as_py()) for one in errors), key=str)
                few = (size or 0) <= MOST_AT_ONCE
                rows = answers.select("answer")
                blobs = rows.toArrow().column(0) if few else rows.toLocalIterator(True)
                for one in blobs:
                    yield _unpacked(one.as_py() if few else bytes(one[0]))
            finally:
                answers.unpersist()


def _unpacked(content: bytes) -> Any:
    # From our own workers; Spark itself pickles what it sends between Python processes.
    return pickle.loads(zlib.decompress(content))  # noqa: S301


def _sent(truth: GroundTruth) -> pl.DataFrame:
    """The targets, and the queries without any, each with its index."""
    targets = truth.targets
    used = [one for one in targets if one.name != "query" and one.null_count() < targets.height]
    code = pl.Series(CODE, truth.target_query, dtype=pl.Int64)
    rows = pl.Series(ROW, range(targets.height), dtype=pl.Int64)
    named = [targets["query"], *used, code, rows]
    queries = truth.queries.select("query").with_row_index(CODE)
    silent = queries.with_columns(pl.col(CODE).cast(pl.Int64)).filter(
        ~pl.col(CODE).is_in(code.unique().implode())
    )
    # Grouped by query, as matches number them.
    return pl.concat([pl.DataFrame(named), silent], how="diagonal").sort(CODE, ROW)


def _worker(
    reader: ResultReader,
    steps: Sequence[Callable[[Run], Run]],
    work: Callable[[Block], Any],
    nothing: tuple[pl.DataFrame, pl.DataFrame],
) -> Any:
    """The function that runs on each partition."""

    def answers(batches: Any) -> Iterator[Any]:
        import pyarrow as pa

        for results, judged in unpacked(batches, *nothing):
            try:
                answer = work(_block(results, judged, reader, steps))
            except CalipersError as error:
                answer = error
            packed = zlib.compress(pickle.dumps(answer), 1)
            failed = isinstance(answer, CalipersError)
            yield pa.RecordBatch.from_pydict({"answer": [packed], "failed": [failed]})

    return answers


def _block(
    results: pl.DataFrame,
    judged: pl.DataFrame,
    reader: ResultReader,
    steps: Sequence[Callable[[Run], Run]],
) -> Block:
    run = reader.run(results)
    for step in steps:
        run = step(run)
    targets = judged.filter(pl.col(ROW).is_not_null())
    whole = targets.select(
        pl.col(one) if one in targets.columns else pl.lit(None, kind).alias(one)
        for one, kind in TARGET_SCHEMA.items()
    )
    queries = judged.select("query", CODE).unique("query", keep="first", maintain_order=True)
    asked = queries.select("query", pl.lit(None, pl.String).alias("text"))
    codes, rows = queries[CODE].to_numpy(), targets[ROW].to_numpy()
    return Block(GroundTruth(whole, asked), codes, rows, run)


def _packed(batches: Any) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            content = pl.DataFrame(batch).write_ipc_stream(None, compression="zstd").getvalue()
            yield pa.RecordBatch.from_pydict({"rows": [content]})
