"""Spark DataFrames: a ground truth is collected here, a run is processed on the workers.

Spark brings the rows of each query together, results beside targets, and the workers take them
block by block. Only the DataFrame API is used, so that Spark Connect works as well.
"""

import pickle
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import polars as pl

from calipers.errors import CalipersError, InvalidInput, Unclear
from calipers.frozen import dataclass
from calipers.io.build import ResultRows, check_ranked, part_of_truth
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.formats.table import read_long
from calipers.io.registry import read_probe
from calipers.io.tables.cells import cast_columns
from calipers.io.tables.columns import Columns
from calipers.io.tables.propose import settled
from calipers.io.tables.resolve import no_column, resolve_fields
from calipers.io.tables.scan import in_memory
from calipers.io.tables.usual_names import IDENTITIES
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, SAMPLE, Block, Run, Scan, natural_order
from calipers.names import is_distance

_TRACEBACK = "Traceback (most recent call last):"
_CALL = "An error occurred while calling "
"""How an error of the JVM begins, which says no more than the number of an object."""


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
        raise InvalidInput(f"Spark cannot do this: {cause}") from None


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
        lines = [
            line.removeprefix("Caused by: ").lstrip(": ")
            for line in causes[-1:] or lines[1:]
        ]
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
    understood = _understood(frame, name, said)
    given = {new: old for old, new in said.rename(frame.columns, name).items()}
    columns = {ours: given.get(theirs, theirs) for theirs, ours in understood.items()}
    _check_order(columns, name)
    # The query first: sorting must keep the rows of a query together.
    called = {ours: columns[ours] for ours in ("query", *columns) if ours in RUN_SCHEMA}
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    # A column that the user maps to score is one, whatever its name.
    distances = {ours for theirs, ours in understood.items() if is_distance(theirs)}
    made = []
    for ours, theirs in called.items():
        kind = kinds[theirs]
        dtype = RUN_SCHEMA[ours]
        if kind in _NOT_ONE_VALUE:
            raise InvalidInput(
                f"The column {theirs!r} holds {kind} in {name}; it must hold "
                f"{'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        column = _typed(ours, theirs, kind, dtype)
        made.append(
            (-column.try_cast("double") if ours in distances else column).alias(ours)
        )
    return frame.select(*made), called


def _understood(frame: Any, name: str, columns: Columns) -> dict[str, str]:
    """The columns of a run, each with our name for it, as in a file with the same columns."""
    rows = in_memory(pl.DataFrame(frame.limit(SAMPLE).toArrow()).lazy(), name)
    sample = rows.renamed(columns)
    try:
        _, understood = resolve_fields(sample, "run")
        if not {*IDENTITIES} & {*understood.values()}:
            raise no_column(sample, "item", "run")
    except Unclear as unclear:
        # Refused with the lines that a file would get, tried on the sample.
        probe = Probe(Source(Path(name)), columns, rows)
        raise settled(unclear, probe, "run", read_probe) from None
    return understood


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


CODE = "__code"
ROW = "__row"
"""The index of a query and of a target in the ground truth; null in rows of the run."""
HASH = "__hash"
"""The hash of a query, by which rows are shuffled and sorted: faster than by its name."""
_OF_TRUTH = "__truth_"
"""Before the names of a target's columns, beside those of a result."""
ROWS_AT_ONCE = 200_000
"""Rows that a worker processes together."""
_SETTLING = ("text", "document", "start")
"""Columns that break ties between rows with the same score and item, or no item."""


def read_frame(
    frame: Any, role: Role, name: str, columns: Columns
) -> "pl.DataFrame | Dataset":
    """Read a ground truth as a local table in its order, or a run that stays in Spark."""
    if role == "both":
        raise InvalidInput(
            f"{name} is a DataFrame of Spark, which holds a ground truth or a run; give them as "
            "ground_truth= and run=."
        )
    with spoken():
        if role == "run":
            return Dataset(run=_run(frame, name, columns), kind="a DataFrame of Spark")
        return pl.DataFrame(frame.toArrow())


def _run(frame: Any, name: str, columns: Columns) -> Run:
    named, chosen = _in_our_names(frame, name, columns)
    kept = named.persist()
    head = pl.DataFrame(_sorted(kept).limit(SAMPLE).toArrow())
    # With the original names and unread columns, so that all notes apply.
    theirs = head.rename(chosen).with_columns(
        pl.lit(None).alias(column)
        for column in frame.columns
        if column not in chosen.values()
    )
    dataset = read_long(
        replace(
            in_memory(theirs.select(frame.columns).lazy(), name), ordered=False
        ).renamed(columns),
        "run",
    )
    reader = ResultReader(tuple(chosen), chosen, natural_order(chosen), name)
    rows = SparkRows(kept, reader)
    # Every step after this one shares its reader.
    weakref.finalize(reader, _unpersist, kept).atexit = False
    return replace(
        cast(Run, dataset.run),
        scan=rows,
        ties=reader.ties,
        stays=True,
        is_grouped=True,
        in_memory=False,
    )


def _sorted(frame: Any) -> Any:
    """The rows in the order of all columns, those without a value last."""
    return frame.sort(*(frame[name].asc_nulls_last() for name in frame.columns))


def _unpersist(kept: Any) -> None:
    # The session may have ended already.
    with suppress(Exception):
        kept.unpersist()


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

        made = cast_columns(
            rows.select(self.columns), RUN_SCHEMA, where, 0, called=self.called
        )
        check_ranked(made, where)
        return made

    def run(self, rows: pl.DataFrame) -> Run:
        """A run from the rows of some whole queries."""
        return ResultRows(
            self.checked(rows), order=self.order, ties=self.ties, is_grouped=True
        ).run()


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The rows of a run in Spark: scan them here, or process them on the workers."""

    frame: Any
    """One row per result, in our names; cached by Spark while in use."""
    reader: ResultReader
    steps: tuple[Callable[[Run], Run], ...] = ()
    scan: Scan | None = None
    """How to scan the rows after the steps."""

    def __call__(self) -> Iterator[pl.DataFrame]:
        """Yield all rows in batches, sorted by query."""
        if self.scan is not None:
            yield from self.scan()
            return
        with spoken():
            rows = pl.DataFrame(_sorted(self.frame).toArrow())
        for part in rows.iter_slices(ROWS_AT_ONCE):
            yield self.reader.checked(part)

    def then(self, step: Callable[[Run], Run], scan: Scan) -> "SparkRows":
        """The same rows after one more step."""
        return replace(self, steps=(*self.steps, step), scan=scan)

    def over_blocks(
        self, truth: GroundTruth, work: Callable[[Block], Any]
    ) -> Iterator[Any]:
        """Yield the result of ``work`` for each block of whole queries, in any order."""
        with spoken():
            named = _sent(truth).rename(
                lambda name: name if name == "query" else _OF_TRUTH + name
            )
            targets = self.frame.sparkSession.createDataFrame(_arrow(named))
            both = self.frame.unionByName(targets, allowMissingColumns=True)
            hashed = both.selectExpr("*", f"xxhash64(query) AS {HASH}").repartition(HASH)
            answers = (
                hashed.sortWithinPartitions(HASH)
                .mapInArrow(_worker(self.reader, self.steps, work), "answer binary")
                .toArrow()
            )
        found = [_unpacked(one.as_py()) for one in answers.column(0)]
        if errors := [one for one in found if isinstance(one, CalipersError)]:
            # The same one, whichever worker was faster.
            raise min(errors, key=str)
        yield from found


def _unpacked(content: bytes) -> Any:
    # From our own workers; Spark itself pickles what it sends between Python processes.
    return pickle.loads(zlib.decompress(content))  # noqa: S301


def _sent(truth: GroundTruth) -> pl.DataFrame:
    """The targets, and the queries without any, each with its index."""
    targets = truth.targets
    used = [
        target
        for target in targets
        if target.name != "query" and target.null_count() < targets.height
    ]
    code = pl.Series(CODE, truth.target_query, dtype=pl.Int64)
    rows = pl.Series(ROW, range(targets.height), dtype=pl.Int64)
    named = [targets["query"], *used, code, rows]
    queries = truth.queries.select("query").with_row_index(CODE)
    silent = queries.with_columns(pl.col(CODE).cast(pl.Int64)).filter(
        ~pl.col(CODE).is_in(code.unique().implode())
    )
    # Grouped by query, as matches number them.
    return pl.concat([pl.DataFrame(named), silent], how="diagonal").sort(CODE, ROW)


def _arrow(rows: pl.DataFrame) -> Any:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())


def _worker(
    reader: ResultReader,
    steps: Sequence[Callable[[Run], Run]],
    work: Callable[[Block], object],
) -> Any:
    """The function that runs on each partition."""

    def answers(batches: Any) -> Iterator[Any]:
        import pyarrow as pa

        for rows in whole_queries(pl.DataFrame(batch) for batch in batches):
            try:
                answer = work(_block(*_sides(rows, reader.columns), reader, steps))
            except CalipersError as error:
                answer = error
            packed = zlib.compress(pickle.dumps(answer), 1)
            yield pa.RecordBatch.from_pydict({"answer": [packed]})

    return answers


def whole_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows of some whole queries at a time; the batches are sorted by hash."""
    held = list[pl.DataFrame]()
    n = 0
    most = ROWS_AT_ONCE
    for batch in batches:
        held.append(batch)
        n += batch.height
        if n < most:
            continue
        rows = pl.concat(held)
        # The last query may go on in the next batch.
        is_last = rows[HASH] == rows[HASH][-1]
        if not is_last.all():
            yield rows.filter(~is_last)
        held = [rows.filter(is_last)]
        n = held[0].height
        most = ROWS_AT_ONCE + 2 * n
    if n:
        yield pl.concat(held)


def _sides(
    rows: pl.DataFrame, columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The results and the targets among these rows, sorted by query."""
    is_target = rows[_OF_TRUTH + CODE].is_not_null()
    within = [one for one in _SETTLING if one in columns]
    # Examples are the first by name, which must not depend on the hashing.
    results = rows.filter(~is_target).select(columns).sort("query", *within)
    theirs = {
        name: name.removeprefix(_OF_TRUTH) for name in rows.columns if _OF_TRUTH in name
    }
    judged = rows.filter(is_target).select("query", *theirs).rename(theirs)
    return results, judged.sort("query", CODE, ROW)


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
    queries = judged.select("query", CODE).unique(
        "query", keep="first", maintain_order=True
    )
    page = queries.select("query", pl.lit(None, pl.String).alias("text"))
    codes = queries[CODE].to_numpy()
    rows = targets[ROW].to_numpy()
    return Block(part_of_truth(whole, page), codes, rows, run)
