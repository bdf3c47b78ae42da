"""DataFrames of Spark: a ground truth is brought here, a run is worked on where its rows are.

Rows are shuffled by their query once, and workers take them in blocks of whole queries. Nothing
here needs more than the DataFrame API, so that it works through Spark Connect as well.
"""

import pickle
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from calipers.errors import CalipersError, InvalidInput
from calipers.io.formats.table import ONE_EACH, read_long
from calipers.io.spark_blocks import PackedRun, joined, pack_here, unpacked
from calipers.io.tables.cells import Splitter, cast_columns, check_ranks
from calipers.io.tables.columns import IDENTITIES, Columns, nothing_fits, renaming
from calipers.io.tables.resolve import check_no_grade_is_hidden, left_over, understand
from calipers.io.tables.scan import InputTable, in_memory
from calipers.model.arrays import Ints
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth, check_direction
from calipers.model.matched import Dataset, Role
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, SAMPLE, Block, Run, Scan, natural_order
from calipers.names import DISTANCES, plain_name

_TRACEBACK = "Traceback (most recent call last):"
_NO_JAVA = "[JAVA_GATEWAY_EXITED]"
_OURS = re.compile(r"calipers\.errors\.\w+: (.*)")


@contextmanager
def spoken() -> Iterator[None]:
    """Complaints of Spark as our sentence, without the stack of the Java machine."""
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


def _cause(text: str) -> str:
    """The line that says what happened, in what Spark reports of a worker in Python.

    >>> _cause("[BAD] No such path.\\n\\nJVM stacktrace: …")
    '[BAD] No such path.'
    >>> _cause(f"A worker failed:\\n{_TRACEBACK}\\n  File …\\nOSError: no room\\n")
    'OSError: no room'
    >>> _cause("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.")
    'Java does not start; install Java 17 or newer, or say in JAVA_HOME where it is.'
    """
    before, _, trace = text.partition(_TRACEBACK)
    if _NO_JAVA in text:
        return "Java does not start; install Java 17 or newer, or say in JAVA_HOME where it is."
    if "No module named 'calipers'" in trace:
        return "Calipers is not installed where the workers are; install it there, too."
    lines = [line.strip() for line in before.splitlines() if line.strip()]
    # Behind the indented lines of a traceback stands the error itself.
    raised = [line for line in trace.splitlines() if line and not line.startswith(" ")]
    return (raised or lines or [""])[0][:300]


BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What the table library takes off the ends of names."""
_NOT_ONE_VALUE = ("array", "map", "struct", "boolean", "binary", "variant")
_WHOLE = ("byte", "short", "integer", "long")
_BROKEN = ("float", "double", "decimal")


@dataclass(frozen=True, eq=False)
class NamedFrame:
    """A DataFrame with one row for each target or result, in our names and types."""

    frame: Any
    called: Mapping[str, str]
    """Our names, each with the one that the column has there."""
    sample: InputTable
    """Some rows as they came, with the columns named as the user says."""
    understood: dict[str, str]
    """Those columns, each with our name."""

    def check_targets(self, tags: Collection[str]) -> None:
        """Refuse targets that a file would be asked about, or divided for; ``tags`` are known."""
        rows = self.sample.open().collect()
        if rows.is_empty():
            raise InvalidInput(
                f"{self.sample.name} has the names of columns and no rows: nothing is said about "
                "what should be found; add the questions, or give another table."
            )
        if "grade" not in self.called:
            left = left_over(self.sample.names(), self.understood)
            check_no_grade_is_hidden(self.sample, [one for one in left if one not in tags])
        item = next((one for one, ours in self.understood.items() if ours == "item"), None)
        if item is None or {*ONE_EACH} & set(self.called):
            return
        splitter = Splitter(item, any_order=True)
        for cell in rows[item]:
            if len(splitter.split(cell, lambda: self.sample.name)) > 1:
                raise InvalidInput(
                    f"{self.sample.name} has several ids in a cell of {item!r}: {cell!r:.60}; on "
                    "Spark a ground truth has one row for each target."
                )


def in_our_names(
    frame: Any, role: Role, name: str, said: Columns, further: Mapping[str, str] | None = None
) -> NamedFrame:
    """The columns that are understood, judged by some rows; ``further`` ones stay, as texts."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    kept = further or {}
    sample = in_memory(pl.DataFrame(frame.limit(SAMPLE).toArrow()).lazy(), name).renamed(said)
    _, understood = understand(sample, role)
    given = {new: old for old, new in said.rename(frame.columns, name).items()}
    columns = {ours: given.get(theirs, theirs) for theirs, ours in understood.items()}
    if role == "run":
        _check_order(columns, name)
    schema = RUN_SCHEMA if role == "run" else {**TARGET_SCHEMA, "query_text": pl.String()}
    # The query first: where rows are sorted, those of a query must come together.
    called = {ours: columns[ours] for ours in ("query", *columns) if ours in schema}
    if not {*IDENTITIES} & set(called):
        raise InvalidInput(nothing_fits(name, frame.columns, "item"))
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    # What the user calls a score is one, whatever the name of its column.
    distances = {ours for theirs, ours in understood.items() if plain_name(theirs) in DISTANCES}
    made = [F.col(quoted(theirs)).cast("string").alias(ours) for ours, theirs in kept.items()]
    for ours, theirs in called.items():
        _check_kind(theirs, kinds[theirs], schema[ours], name)
        column = _typed(ours, theirs, kinds[theirs], schema[ours])
        made.append((-column.try_cast("double") if ours in distances else column).alias(ours))
    return NamedFrame(frame.select(*made), called, sample, understood)


def _check_order(columns: Mapping[str, str], name: str) -> None:
    """Refuse a run of which no score and no rank says what comes first."""
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


def _check_kind(column: str, kind: str, dtype: pl.DataType, name: str) -> None:
    """Refuse a column that does not hold one number or text in a row."""
    if kind in _NOT_ONE_VALUE:
        raise InvalidInput(
            f"The column {column!r} holds {kind} in {name.replace('The ', 'the ', 1)}; it must "
            f"hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
        )


def _typed(ours: str, name: str, kind: str, dtype: pl.DataType) -> Any:
    """A column of Spark's kind as ours is."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    column = F.col(quoted(name))
    if ours in ("query", "item") and kind == "string":
        # As names are read everywhere; here it decides which rows come together, or are the same.
        bare = F.btrim(column, F.lit(BLANKS))
        return F.when(bare != "", bare).otherwise(column)
    if dtype == pl.String():
        if kind not in _BROKEN:
            return column.cast("string")
        # An id such as 7.0 was a whole number before a missing value made its column floats.
        whole = column.try_cast("long")
        text = F.when(column == whole, whole.cast("string"))
        # NaN is how tables of numbers write that nothing is there.
        return text.when(~F.isnan(column.cast("double")), column.cast("string"))
    if kind in _WHOLE:
        return column.cast("long")
    # A text that is no number is left as it is: the worker says which it was.
    return column.cast("double") if kind in _BROKEN else column.cast("string")


def quoted(name: str) -> str:
    """A name that Spark takes for a name, whatever stands in it."""
    return "`" + name.replace("`", "``") + "`"


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
    found = read_long(
        replace(in_memory(theirs.select(frame.columns).lazy(), name), ordered=False).renamed(said),
        "run",
    )
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
