"""DataFrames of Spark: a ground truth is brought here, a run is worked on where its rows are.

Rows are shuffled by their query once, and workers take them in blocks of whole queries. Nothing
here needs more than the DataFrame API, so that it works through Spark Connect as well.
"""

import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from calipers.errors import CalipersError, InvalidInput
from calipers.io.spark_blocks import PackedRun, joined, pack_here, unpacked
from calipers.io.spark_columns import in_our_names
from calipers.io.spark_errors import spoken
from calipers.io.tables.checked import cast_columns, check_ranks
from calipers.io.tables.columns import Columns, renaming
from calipers.io.tables.long import read_long
from calipers.io.tables.scan import in_memory
from calipers.model.arrays import Ints
from calipers.model.elsewhere import Block
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth, check_direction
from calipers.model.matched import Dataset, Role
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, SAMPLE, Run, Scan, natural_order

CODE, ROW = "__code", "__row"
"""Where a query and a target stand in the ground truth; rows of the run have neither."""
MOST_AT_ONCE = 256 << 20
"""Bytes that come to the driver together."""
_SETTLING = ("text", "document", "start")
"""What settles the order of rows that have the same score and item, or no item."""


def read_frame(frame: Any, role: Role, name: str, said: Columns) -> "pl.DataFrame | Dataset":
    """A ground truth as a table on this machine, sorted by query; a run that stays in Spark."""
    if role == "both":
        raise InvalidInput(
            f"{name} is a DataFrame of Spark, which holds a ground truth or a run; give them as "
            "ground_truth= and run=."
        )
    with spoken():
        if role == "run":
            return Dataset(run=_run(frame, name, said), kind="a DataFrame of Spark")
        found = pl.DataFrame(frame.toArrow())
    # A DataFrame has no order: by query, and within a query by what its rows say.
    names = {**renaming(found.columns), **said.rename(found.columns, name)}
    first = [theirs for theirs, ours in names.items() if ours == "query"]
    rest = [one.name for one in found if one.name not in first and not one.dtype.is_nested()]
    return found.sort(*first, *rest) if first else found


def _run(frame: Any, name: str, said: Columns) -> Run:
    named = in_our_names(frame, "run", name, said)
    chosen = named.called
    packed = PackedRun(named.frame, [one for one in _SETTLING if one in chosen], SAMPLE)
    head = packed.head
    # In their names, with the columns that are not read: so all is said of it that is to be said.
    theirs = head.rename(chosen).with_columns(
        pl.lit(None).alias(one) for one in frame.columns if one not in chosen.values()
    )
    found = read_long(in_memory(theirs.select(frame.columns).lazy(), name).renamed(said), "run")
    reader = ResultReader(tuple(chosen), chosen, natural_order(chosen), name)
    rows = SparkRows(named.frame, reader, head, packed)
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
    """How rows become results; plain values only, as it travels to other machines."""

    columns: tuple[str, ...]
    called: Mapping[str, str]
    order: Order
    name: str

    @property
    def ties(self) -> Ties:
        """The order among equal scores, as rows have none."""
        return "trec" if self.order == "score" else "input"

    def checked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Results as they must be, or a sentence that names the query."""

        def where(row: int) -> str:
            return f"{self.name}, query {rows['query'][row]!r:.60}"

        made = cast_columns(rows.select(self.columns), RUN_SCHEMA, where, 0, called=self.called)
        check_direction(made, where)
        check_ranks(made, where)
        return made

    def run(self, rows: pl.DataFrame) -> Run:
        """Some whole queries as a run of their own."""
        made = Run.from_frame(self.checked(rows), order=self.order, ties=self.ties)
        return replace(made, is_grouped=True)


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The rows of a run in Spark: a scan that brings them here, and work that is done there."""

    frame: Any
    """One row per result, in our names."""
    reader: ResultReader
    head: pl.DataFrame
    """The first rows in the order of all columns."""
    packed: PackedRun
    steps: tuple[Callable[[Run], Run], ...] = ()
    scan: Scan | None = None
    """How rows are brought here that the steps have changed."""

    def __call__(self) -> Iterator[pl.DataFrame]:
        """All rows, sorted by query, some at a time."""
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
        """The same rows, changed by one more step."""
        return replace(self, steps=(*self.steps, step), scan=scan)

    def over_blocks(self, truth: GroundTruth, work: Callable[[Block], Any]) -> Iterator[Any]:
        """What the work makes of each block of whole queries, in any order.

        Spark keeps the answers until they are here: many of them come one partition at a time.
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
    # From our own workers, as everything that Spark itself sends from Python to Python.
    return pickle.loads(zlib.decompress(content))  # noqa: S301


def _sent(truth: GroundTruth) -> pl.DataFrame:
    """The targets, and the queries without any, each with its place."""
    targets = truth.targets
    used = [one for one in targets if one.name != "query" and one.null_count() < targets.height]
    code = pl.Series(CODE, truth.target_query, dtype=pl.Int64)
    rows = pl.Series(ROW, range(targets.height), dtype=pl.Int64)
    named = [targets["query"], *used, code, rows]
    queries = truth.queries.select("query").with_row_index(CODE)
    silent = queries.with_columns(pl.col(CODE).cast(pl.Int64)).filter(
        ~pl.col(CODE).is_in(code.unique().implode())
    )
    # Those of a query together, as matches number them.
    return pl.concat([pl.DataFrame(named), silent], how="diagonal").sort(CODE, ROW)


def _worker(
    reader: ResultReader,
    steps: Sequence[Callable[[Run], Run]],
    work: Callable[[Block], Any],
    nothing: tuple[pl.DataFrame, pl.DataFrame],
) -> Any:
    """What runs in each partition."""

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
    return Block(GroundTruth(whole, asked), _ints(queries[CODE]), _ints(targets[ROW]), run)


def _ints(column: pl.Series) -> Ints:
    return column.to_numpy()


def _packed(batches: Any) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            content = pl.DataFrame(batch).write_ipc_stream(None, compression="zstd").getvalue()
            yield pa.RecordBatch.from_pydict({"rows": [content]})
