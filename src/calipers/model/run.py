"""What one retriever returned, in order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Protocol, Self, TypeVar, cast

import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import (
    Floats,
    Ints,
    Picklable,
    WhenAsked,
    as_series,
    table_of_ours,
)
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import Ties
from calipers.model.ranking import (
    NotGroupedError,
    Order,
    RankedBatch,
    in_pieces,
    over_ranked,
    query_starts,
)

R = TypeVar("R")
"""What is computed of a block or of a batch."""

MOST_KEPT = 64 << 20
"""Runs up to this many bytes stay in memory once they were read."""


_VIEW = 16
"""Bytes per text that polars needs and does not count in its estimate."""


def bytes_of(frame: pl.DataFrame) -> int:
    """The bytes that a table takes in memory."""
    texts = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + _VIEW * texts * frame.height


class Kept:
    """Frames that are cached once they were read to the end, unless they are too large."""

    def __init__(
        self, scan: Callable[[], Iterator[pl.DataFrame]], most: int | None
    ) -> None:
        self._scan = scan
        self._most = most
        self._frames: list[pl.DataFrame] | None = None

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The frames, from the cache where they are in it."""
        return self._read() if self._frames is None else iter(self._frames)

    @property
    def is_held(self) -> bool:
        """Whether the frames were read, and are in memory."""
        return self._frames is not None

    def _read(self) -> Iterator[pl.DataFrame]:
        frames: list[pl.DataFrame] | None = []
        size = 0
        for frame in self._scan():
            size += bytes_of(frame)
            if self._most is not None and size > self._most:
                frames = None
            if frames is not None:
                frames.append(frame)
            yield frame
        self._frames = frames


MOST_RESULTS = 1_000_000
"""No retriever returns so many for one query; a file that says so is a trap."""
RUN_SCHEMA: dict[str, pl.DataType] = {
    "query": pl.String(),
    "rank": pl.Int64(),
    "item": pl.String(),
    "score": pl.Float64(),
    "text": pl.String(),
    "document": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
    "page": pl.String(),
    "tokens": pl.Int64(),
    "call": pl.Int64(),
    "title": pl.String(),
}


def natural_order(columns: Iterable[str]) -> Order:
    """What makes the order in a table: ranks where it has them, else scores, else its rows."""
    present = set(columns)
    return "rank" if "rank" in present else "score" if "score" in present else "listed"


def natural_ties(order: Order, columns: Iterable[str]) -> Ties:
    """The default tie rule: by id where the order of the rows means nothing."""
    return "trec" if order == "score" and "item" in columns else "input"


Scan = Callable[[], Iterator[pl.DataFrame]]
SAMPLE = 1_000
"""How many results are searched for other spellings of missed targets."""


@dataclass(frozen=True, eq=False)
class FirstResults:
    """The first results of a run, in the order in which they came."""

    columns: Sequence[str]
    frame: WhenAsked[pl.DataFrame] = WhenAsked()
    listed: Mapping[str, list[object]] | None = None
    """The same as lists, where it came as such."""

    def lists(self, *names: str) -> list[list[Any]]:
        """These columns of a sample."""
        if self.listed is not None:
            return [self.listed[name] for name in names]
        some = self.frame.head(SAMPLE)
        return [some[name].to_list() for name in names]


class Scored:
    """A run given as mappings of item to score; its table is made on first read."""

    def __init__(
        self,
        mappings: Mapping[str, dict[str, float]],
        head: Mapping[str, list[object]],
        table: Callable[[], pl.DataFrame],
        table_of: Callable[[list[str], Ints, list[str], Floats], pl.DataFrame],
    ) -> None:
        self._mappings: Mapping[str, dict[str, float]] | None = mappings
        kinds = {name: RUN_SCHEMA[name] for name in head}
        self.head = FirstResults(tuple(head), lambda: pl.DataFrame(head, kinds), head)
        """The first of its rows."""
        self._table = table
        self._table_of = table_of
        self._made: pl.DataFrame | None = None

    def once(self) -> Mapping[str, dict[str, float]] | None:
        """The mappings, for the first caller only.

        They belong to the user, who may change them later; whoever takes them gives the
        contents back with ``keep``.
        """
        mappings = self._mappings
        self._mappings = None
        return mappings

    def keep(
        self, names: list[str], lengths: Ints, items: list[str], scores: Floats
    ) -> None:
        """Replace the mappings by lists: queries, numbers of results, and the results."""
        # A function that held this run would make a circle, and keep the lists in memory
        # until the next garbage collection.
        self._table = partial(self._table_of, names, lengths, items, scores)

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The table, in one piece."""
        if self._made is None:
            self._made = self._table()
            self._mappings = None
        return iter((self._made,))


def in_query_order(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows grouped by query, with each query's rows in their order."""
    listed = list(frames)
    frame = pl.concat(listed) if listed else pl.DataFrame(schema={"query": pl.String()})
    first = frame.select("query").unique(maintain_order=True).with_row_index("__first")
    return (
        frame.join(first, on="query", how="left", maintain_order="left")
        .sort("__first", maintain_order=True)
        .drop("__first")
    )


@dataclass(frozen=True, eq=False)
class Frames:
    """Results that are in memory."""

    frames: tuple[pl.DataFrame, ...]

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The frames as they are."""
        return iter(self.frames)


def _in_memory(scan: Scan) -> Scan:
    return Frames((in_query_order(scan()),))


@dataclass(frozen=True, eq=False, repr=False)
class Run(Picklable):
    """The results of one retriever, read in batches so that a large file never is in memory.

    ``order`` says what makes the ranking; ``ties`` is the custom among equal scores where
    the caller names none. ``queries`` holds what is known per query: latency_ms, error;
    it also names the queries for which nothing came back.
    """

    scan: Scan
    order: Order = "listed"
    ties: Ties = "input"
    queries: WhenAsked[pl.DataFrame | None] = WhenAsked(None)
    name: str | None = None
    stages: WhenAsked[Mapping[str, "Run"]] = WhenAsked(dict)
    """What stood before or beside this ranking, where it is known: ``candidates`` (the
    list that a reranker was given), ``exact`` (exact search beside an approximate
    index)."""
    in_memory: bool = False
    """Whether it is in memory, so that work on it can wait until it is needed."""
    stays: bool = False
    """Whether it can be read again, at some cost, without the files it came from."""
    together: Callable[[Scan], Scan] = _in_memory
    """Groups the rows by query where they are not."""
    is_grouped: bool = False
    """Whether the results are known to be grouped by query."""
    notes: tuple[str, ...] = ()
    """Notes about how it was read."""
    asked_for: int | None = None
    """How many results a live retriever was asked for; None where unknown."""

    @classmethod
    def from_frame(
        cls,
        frame: pl.DataFrame,
        *,
        order: Order | None = None,
        ties: Ties | None = None,
        queries: pl.DataFrame | None = None,
        name: str | None = None,
        stages: Mapping[str, "Run"] | None = None,
    ) -> Self:
        """A run from a table with query, item and optional columns (see ``RUN_SCHEMA``).

        Without ``order``, a column of ranks makes it, else scores, else the rows
        themselves. Where scores make it, the order of the rows means nothing: equal ones
        go by id (trec).
        """
        table_of_ours(frame, "The results")
        unknown = [name for name in ("query",) if name not in frame.columns]
        if unknown:
            raise InvalidInput(
                f"A table of results has no column {unknown[0]!r}; found {frame.columns}."
            )
        known = {name: kind for name, kind in RUN_SCHEMA.items() if name in frame.columns}
        if dict(frame.schema) != known:
            frame = frame.select(pl.col(name).cast(kind) for name, kind in known.items())
        if order is None:
            order = natural_order(frame.columns)
        if ties is None:
            ties = natural_ties(order, frame.columns)
        return cls(
            Frames((frame,)),
            order,
            ties,
            queries,
            name,
            dict(stages or {}),
            in_memory=True,
        )

    def __getstate__(self) -> dict[str, object]:
        """The run with its results in memory: files and connections cannot be pickled."""
        held = {
            "scan": Frames(tuple(self.scan())),
            "together": _in_memory,
            "in_memory": True,
        }
        return {**super().__getstate__(), **held}

    def __repr__(self) -> str:
        """The run in one line, without reading it."""
        about = [] if self.name is None else [repr(self.name)]
        if self.queries is not None:
            n = self.queries.height
            about.append(f"{n:,} {'query' if n == 1 else 'queries'}")
        about.append("as listed" if self.order == "listed" else f"by {self.order}")
        if isinstance(self.stages, Mapping) and self.stages:
            about.append(f"stages {', '.join(map(repr, self.stages))}")
        return f"<{type(self).__name__}: {'; '.join(about)}>"

    def ranked(
        self, ties: Ties | None = None, rows: int | None = None
    ) -> Iterator[RankedBatch]:
        """The ranking in batches of whole queries, each query's results in order.

        ``rows``: about so many at a time. Results are grouped by query only once.
        """
        return self.over_ranked(lambda batch: batch, ties, rows)

    def over_ranked(
        self,
        work: Callable[[RankedBatch], R],
        ties: Ties | None = None,
        rows: int | None = None,
    ) -> Iterator[R]:
        """What ``work`` makes of each batch of the ranking; of a file ahead, on other threads."""
        run = self.as_matched
        return over_ranked(
            work,
            run.scan() if rows is None else in_pieces(run.scan(), rows),
            run.order,
            ties or run.ties,
            grouped=run.is_grouped,
            side_by_side=not run.in_memory,
        )

    def grouped(self) -> Self:
        """The same run grouped by query, for files that mix queries."""
        return self._grouped

    @cached_property
    def _grouped(self) -> Self:
        return replace(
            self,
            scan=self.together(self.scan),
            in_memory=self.together is _in_memory,
            is_grouped=True,
        )

    @property
    def as_matched(self) -> "Run":
        """The run grouped by query, if that was done; else as it is."""
        grouped: Run = self.__dict__.get("_grouped", self)
        return grouped

    def has(self, *columns: str) -> bool:
        """Whether the results have these columns, judged by the first of them."""
        return set(columns) <= self._columns

    @cached_property
    def _columns(self) -> frozenset[str]:
        first = next(iter(self.as_matched.scan()), None)
        return frozenset() if first is None else frozenset(first.columns)

    def kept(self, most: int | None = MOST_KEPT) -> Self:
        """The same run, cached as it is read if it takes at most so many bytes; None: any size."""
        if self.in_memory or self.stays:
            return self
        return replace(self, scan=Kept(self.scan, most))

    @property
    def is_held(self) -> bool:
        """Whether the results are in memory, be it that they were read from a file."""
        return self.in_memory or bool(getattr(self.as_matched.scan, "is_held", False))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The whole ranking as one table, with ``rank`` from 1 for every query."""
        return self.first(None)

    def first(self, k: int | None) -> pl.DataFrame:
        """The first k results of every query as one table; the others are not kept in memory."""
        try:
            tables = [batch.first(k) for batch in self.ranked()]
        except NotGroupedError:
            tables = [batch.first(k) for batch in self.grouped().ranked()]
        if not tables:
            return pl.DataFrame(
                schema={n: RUN_SCHEMA[n] for n in ("query", "rank", "item")}
            )
        whole = pl.concat(tables)
        return whole.select(name for name in RUN_SCHEMA if name in whole.columns)


def order_notes(results: pl.DataFrame) -> tuple[str, ...]:
    """A note where scores rise along lists whose row order is the ranking.

    >>> rising = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [0.1, 0.9]})
    >>> len(order_notes(rising)), order_notes(rising.reverse())
    (1, ())
    """
    return notes_on_rising(rising_queries(results))


def all_rise(results: pl.DataFrame, least: int = 1) -> bool:
    """Whether scores rise at every step down the lists of the queries, at ``least`` so many."""
    steps = results.select(pl.col("score").diff().over("query")).to_series().drop_nulls()
    return len(steps) >= least and bool((steps > 0).all())


def rising_queries(results: pl.DataFrame) -> pl.Series:
    """The queries whose scores rise somewhere along their results."""
    if "score" not in results.columns:
        return pl.Series("query", [], pl.String)
    rises = (pl.col("score") > pl.col("score").shift(1)) & (
        pl.col("query") == pl.col("query").shift(1)
    )
    return results.filter(rises.fill_null(False))["query"].unique(maintain_order=True)


RISING = "rise along the list, such as"
"""Words of the note on scores that rise."""


def notes_on_rising(rising: pl.Series) -> tuple[str, ...]:
    """A note about these queries, or an empty list."""
    if not len(rising):
        return ()
    return (
        sentence(
            "The scores of {it.count:query|queries} "
            + RISING
            + " those of {first.text}: the "
            "order of the list counts, not the scores. Where they are distances that is right; "
            "else sort the lists, or give a mapping of item to score.",
            it=Fact(about="count", count=len(rising), text="rising scores"),
            first=named(f"{rising[0]!r:.60}"),
        ),
    )


def brought_together(run: Run) -> Run:
    """The run, grouped by query where its first rows show that it is not."""
    # So nothing is read for a ranking that cannot be made.
    mixed = isinstance(run.scan, _Resumed) and run.scan.mixes_queries()
    return run.grouped() if mixed else run


class _Resumed:
    """A scan whose first call reuses the frames already read; later calls read again."""

    def __init__(
        self, seen: list[pl.DataFrame], rest: Iterator[pl.DataFrame], again: Scan
    ) -> None:
        self._begun: Iterator[pl.DataFrame] | None = chain(seen, rest)
        self._again = again
        self._queries = pl.concat([frame["query"] for frame in seen])

    def __getattr__(self, name: str) -> object:
        # The other methods of rows that are on other machines.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._again, name)

    def mixes_queries(self) -> bool:
        """Whether any query's rows are not contiguous in the frames already read."""
        several = self._queries[as_series(query_starts(self._queries))]
        return several.n_unique() < len(several)

    def __call__(self) -> Iterator[pl.DataFrame]:
        begun = self._begun
        self._begun = None
        return self._again() if begun is None else begun


def beginning(run: Run) -> tuple[FirstResults | None, Run]:
    """The first rows of a run that has rows, and the run to use from here on."""
    # The first rows of mappings are known without making the whole table.
    return (run.scan.head, run) if isinstance(run.scan, Scored) else peek(run, SAMPLE)


def peek(run: Run, rows: int = 1) -> tuple[FirstResults | None, Run]:
    """At least so many of the first rows, if there are, and the run to use from here on."""
    frames = run.scan()
    seen = []
    n = 0
    for frame in frames:
        if frame.height:
            seen.append(frame)
            n += frame.height
        if n >= rows:
            break
    if not seen:
        return None, run
    first = seen[0] if len(seen) == 1 else pl.concat(seen, how="diagonal_relaxed")
    return FirstResults(first.columns, first), replace(
        run, scan=_Resumed(seen, frames, run.scan)
    )


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole queries with their results."""

    ground_truth: GroundTruth
    codes: Ints
    """The rows of its queries in the whole ground truth."""
    rows: Ints
    """The rows of its targets in the whole ground truth."""
    run: Run


class RemoteRows(Protocol):
    """Rows on other machines, on which work can be done in place."""

    def __call__(self) -> Iterator[pl.DataFrame]:
        """All rows, collected on this machine."""

    def then(self, step: Callable[[Run], Run], scan: Scan) -> "RemoteRows":
        """The rows after ``step``, applied where they are; ``scan`` collects them."""

    def over_blocks(self, truth: GroundTruth, work: Callable[[Block], R]) -> Iterator[R]:
        """The result of ``work`` for each block, in any order."""


def remote_rows(run: Run) -> RemoteRows | None:
    """The rows of a run on other machines, or None for a run that this machine reads."""
    # By attribute: a scan whose first rows were read forwards its other methods, which a
    # check of its type does not see.
    return cast(RemoteRows, run.scan) if hasattr(run.scan, "over_blocks") else None


def changed_by(step: Callable[[Run], Run], run: Run, scan: Scan) -> Scan:
    """The scan of a run after ``step``, which works query by query and so can run remotely.

    After any other change of a scan the rows are collected on this machine.
    """
    there = remote_rows(run)
    return scan if there is None else there.then(step, scan)


def with_ranking_changed(
    run: Run, ties: Ties | None, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> Run:
    """The run with the ranking of whole queries changed, some at a time; it keeps the new order."""

    def changed(source: Run) -> Scan:
        return lambda: (change(batch.frame) for batch in source.ranked(ties))

    return replace(
        run, scan=changed(run), order="listed", together=lambda _: changed(run.grouped())
    )
