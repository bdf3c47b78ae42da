"""The one builder: a ground truth and a run from long tables.

A long table has one row per query and item. Every format ends here: tables and lines after their
columns are cast, records and mappings after they are exploded, Spark on each of its workers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.tables.columns import say
from calipers.model.arrays import Floats, Ints
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import (
    FORBIDDEN_SCHEMA,
    WAYS,
    GroundTruth,
    Where,
    check_direction,
    row_number,
)
from calipers.model.matched import Dataset
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import (
    RUN_SCHEMA,
    Run,
    Scan,
    natural_order,
    natural_ties,
    notes_on_rising,
    rising_queries,
)

if TYPE_CHECKING:
    from calipers.io.files.spill import Piece, ScratchFile


@dataclass(frozen=True)
class TargetRows:
    """What should be found: a table with one row per query and target.

    Its columns are those of ``TARGET_SCHEMA``; only ``query`` is needed, and a grade that is not
    there is 1.
    """

    frame: pl.DataFrame
    where: Where = row_number
    """The place that a row was read from, for errors."""
    queries: pl.DataFrame | None = None
    """Query and text, in their order; None if every query has a target."""
    tags: Mapping[str, pl.Series] = field(default_factory=dict)
    forbidden: pl.DataFrame | None = None
    """Query, and the columns of a target that must not be found."""
    excluded: pl.DataFrame | None = None
    """The same of results that count neither for nor against a ranking."""
    notes: tuple[str, ...] = ()
    only_returned: bool = False
    """Whether only what a retriever returned was judged."""

    def ground_truth(self) -> GroundTruth:
        """The ground truth, checked."""
        truth = GroundTruth.from_targets(
            self.frame, queries=self.queries, tags=self.tags, where=self.where
        )
        return replace(
            truth,
            forbidden=_set_aside(self.forbidden),
            excluded=_set_aside(self.excluded),
            notes=(*truth.notes, *self.notes),
            only_returned=self.only_returned,
        )


def _set_aside(rows: pl.DataFrame | None) -> pl.DataFrame | None:
    """What is forbidden or excluded, each once; None if that is nothing."""
    if rows is None or not rows.height:
        return None
    shaped = rows.select(
        pl.col(name).cast(kind)
        if name in rows.columns
        else pl.lit(None, kind).alias(name)
        for name, kind in FORBIDDEN_SCHEMA.items()
    )
    return shaped.unique(maintain_order=True)


@dataclass(frozen=True, eq=False)
class TargetLists:
    """Targets as lists of ids and grades, from memory; their table is made when it is needed."""

    names: list[str]
    """The queries, in the order of their targets."""
    lengths: Ints
    """How many targets each query has."""
    ids: list[str]
    grades: Floats

    @cached_property
    def _codes(self) -> Ints:
        """The query of each target, by its number."""
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    @cached_property
    def _table(self) -> GroundTruth:
        queries = pl.Series("query", self.names, dtype=pl.String)
        ids = pl.Series(self.ids, dtype=pl.String)
        columns = {"query": queries[self._codes], "item": ids, "grade": self.grades}
        rows = TargetRows(pl.DataFrame(columns), queries=queries.to_frame())
        return rows.ground_truth()

    def ground_truth(self) -> GroundTruth:
        """The ground truth, with all that matching by id needs without a table."""
        by_id = frozenset({"item"} if self.ids else ())
        return GroundTruth(
            lambda: self._table.targets, lambda: self._table.queries
        ).knowing(
            names=self.names,
            ids=self.ids,
            grades=self.grades,
            n_queries=len(self.names),
            target_query=self._codes,
            is_grouped=True,
            has_groups=False,
            kinds=by_id,
            complete=by_id or frozenset(WAYS.values()),
        )


def part_of_truth(targets: pl.DataFrame, queries: pl.DataFrame) -> GroundTruth:
    """The ground truth of some queries, from rows of one that was built and checked before."""
    return GroundTruth(targets, queries)


@dataclass(frozen=True)
class ResultRows:
    """What a retriever returned: tables with one row per query and result.

    Their columns are those of ``RUN_SCHEMA``; ``query`` is needed, and ``item`` or ``text``.
    """

    frames: pl.DataFrame | Scan
    """The results: one table, or a function that reads them table by table."""
    columns: Sequence[str] = ()
    """The columns of tables that are not read yet."""
    order: Order | None = None
    """What makes the order; None: ranks where there are any, else scores, else the rows."""
    ties: Ties | None = None
    """The rule for equal scores; None: the usual one of the order."""
    queries: pl.DataFrame | Callable[[], pl.DataFrame] | None = None
    """Query, text, latency_ms and error, also of queries without results."""
    name: str | None = None
    stages: Mapping[str, "ResultRows"] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_grouped: bool = False
    """Whether the rows of each query stand together."""
    stays: bool = False
    """Whether tables can be read again without the files that they came from."""
    in_memory: bool = False
    """Whether tables that are read by a function are in memory all the same."""

    def run(self) -> Run:
        """The run."""
        stages = {name: stage.run() for name, stage in self.stages.items()}
        if isinstance(self.frames, pl.DataFrame):
            run = Run.from_frame(
                self.frames,
                order=self.order,
                ties=self.ties,
                queries=self.queries() if callable(self.queries) else self.queries,
                name=self.name,
                stages=stages,
            )
            return replace(run, notes=self.notes, is_grouped=self.is_grouped)
        order = self.order or natural_order(self.columns)
        return Run(
            self.frames,
            order,
            self.ties or natural_ties(order, self.columns),
            queries=self.queries,
            name=self.name,
            stages=stages,
            notes=self.notes,
            is_grouped=self.is_grouped,
            stays=self.stays,
            in_memory=self.in_memory,
        )


_VIEW = 16
"""Overhead of a text in bytes."""
_ROWS_AT_ONCE = 1 << 16
"""Rows that are written, and later read, in one piece."""
_BYTES_AT_ONCE = 4 << 20
_MANY = 1 << 20
"""More rows than these are ranked and matched in blocks, even if all are in memory."""


_ALWAYS = 1 << 20
"""Bytes that fit into any memory, so that the limit need not be determined."""


class MemoryBudget:
    """The memory budget shared by all inputs, and the temporary file for the rest."""

    def __init__(self, memory: str | int | None = None) -> None:
        self._memory = memory
        self.held = 0
        """Bytes of the results that are in memory."""

    @property
    def is_full(self) -> bool:
        """Whether the budget is exceeded."""
        return self.held > _ALWAYS and self.held > self._most

    @cached_property
    def _most(self) -> int:
        from calipers.io.files.spill import SHARE_TO_HOLD, memory_in_bytes

        return memory_in_bytes(self._memory) // SHARE_TO_HOLD

    @cached_property
    def scratch(self) -> "ScratchFile":
        """The temporary file."""
        # Imported late: most inputs fit into memory.
        from calipers.io.files.spill import ScratchFile

        return ScratchFile()


class GatheredResults:
    """The results of one ranking, added in frames of whole queries."""

    def __init__(self, room: MemoryBudget) -> None:
        self._room = room
        self._parts: list[pl.DataFrame | Piece] = []
        self._n_spilled = 0
        """How many of the first parts are in the temporary file."""
        self._held = self._rows = 0
        self._filled: set[str] = set()
        self._rising: list[pl.Series] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Add the next queries; a column without values may be left out."""
        size = int(frame.estimated_size())
        size += _VIEW * frame.height * frame.schema.dtypes().count(pl.String())
        self._parts.append(frame)
        self._filled.update(frame.columns)
        self._rows += frame.height
        self._held += size
        self._room.held += size
        if self._room.is_full and self._held >= min(_BYTES_AT_ONCE, self._room.held):
            self._spill()

    def rows(self, order: Order, queries: pl.DataFrame, name: str | None) -> ResultRows:
        """All results, once they are added, as the builder takes them."""
        if self._n_spilled or self._room.is_full:
            self._spill()
        elif self._rows > _MANY:
            self._parts = list(regrouped(self._frames(), _ROWS_AT_ONCE, _BYTES_AT_ONCE))
        else:
            whole = pl.concat(map(self._shaped, self._frames()))
            return ResultRows(whole, order=order, queries=queries, name=name)
        return ResultRows(
            self._scan,
            self._columns,
            order,
            queries=queries,
            name=name,
            is_grouped=True,
            stays=True,
        )

    def notes(self) -> tuple[str, ...]:
        """A note on rising scores, where the order of the lists counts."""
        rising = [*self._rising, *map(rising_queries, self._frames())]
        return notes_on_rising(pl.concat(rising))

    def _spill(self) -> None:
        """Move what is in memory to the temporary file."""
        waiting = list(self._frames())
        del self._parts[self._n_spilled :]
        for frame in regrouped(waiting, _ROWS_AT_ONCE, _BYTES_AT_ONCE):
            self._rising.append(rising_queries(frame))
            self._parts.append(self._room.scratch.write(frame))
        self._n_spilled = len(self._parts)
        self._room.held -= self._held
        self._held = 0

    def _frames(self) -> Iterator[pl.DataFrame]:
        """The parts that are in memory."""
        return (part for part in self._parts if isinstance(part, pl.DataFrame))

    def _scan(self) -> Iterator[pl.DataFrame]:
        return (self._shaped(self._room.scratch.read(part)) for part in self._parts)

    @cached_property
    def _columns(self) -> list[str]:
        """The columns with values; at least one identifies the results."""
        names = {"query"} | self._filled
        if not names & {"item", "text"}:
            names.add("item")
        return [name for name in RUN_SCHEMA if name in names]

    def _shaped(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(
            name if name in frame.columns else pl.lit(None, RUN_SCHEMA[name]).alias(name)
            for name in self._columns
        )


def regrouped(
    frames: Iterable[pl.DataFrame], rows: int, size: int
) -> Iterator[pl.DataFrame]:
    """Regroup rows into frames of so many rows or bytes, whichever comes first."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        held = sum(int(one.estimated_size()) for one in waiting)
        if sum(one.height for one in waiting) >= rows or held >= size:
            yield pl.concat(waiting, how="diagonal")
            waiting = []
    if waiting:
        yield pl.concat(waiting, how="diagonal")


def build(
    kind: str,
    targets: TargetRows | TargetLists | None = None,
    results: ResultRows | None = None,
) -> Dataset:
    """The dataset in these rows; ``kind`` describes where they come from.

    >>> rows = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"]})
    >>> build("two judgements", TargetRows(rows)).ground_truth.n_queries
    1
    >>> build("a ranking", results=ResultRows(rows)).run.order
    'listed'
    """
    truth = None if targets is None else targets.ground_truth()
    run = None if results is None else results.run()
    return Dataset(truth, run, kind)


def check_ranked(rows: pl.DataFrame, where: Where, before: int = 0) -> None:
    """Refuse results whose spans end before they start, and two at the same rank.

    ``where`` says where a row came from, by its number; ``before`` rows precede these.
    """
    check_direction(rows, where, before)
    if "rank" not in rows.columns or "call" in rows.columns:
        return
    twice = rows.select("query", "rank").is_duplicated().arg_true()
    if len(twice):
        row = int(twice[-1])
        raise InvalidInput(
            f"Two results of the query {rows['query'][row]!r:.60} have the rank "
            f"{rows['rank'][row]}, one of them at {where(before + row)}; give each a rank of "
            "its own, or scores in place of ranks."
        )


def check_listed(rows: pl.DataFrame, where: Where) -> None:
    """Refuse listed results without a name, a finite score, a sound place or a rising rank."""
    named = [name for name in ("item", "text", "document") if name in rows.columns]
    nameless = rows.select(
        pl.all_horizontal(pl.lit(True), pl.col(named).is_null())
    ).to_series()
    if nameless.any():
        raise InvalidInput(
            "A result has neither an id, nor a text, nor a document at "
            f"{where(int(nameless.arg_max() or 0))}; give it one, or name its id: "
            f"{say(('item', 'NAME'))}."
        )
    if "score" in rows.columns and not rows["score"].is_finite().all():
        row = int((~rows["score"].is_finite()).arg_true()[0])
        raise InvalidInput(
            f"A score is {rows['score'][row]} at {where(row)}; a score is a finite number."
        )
    check_direction(rows, where)
    _check_ranks_rise(rows, where)


def _check_ranks_rise(rows: pl.DataFrame, where: Where) -> None:
    """Refuse ranks that contradict the order of the list."""
    if "rank" not in rows.columns or rows["rank"].is_null().all():
        return
    known = rows.with_row_index("__row").filter(pl.col("rank").is_not_null())
    falls = (known["rank"].diff() <= 0) & (known["query"] == known["query"].shift(1))
    if "call" in rows.columns:
        falls &= known["call"].is_null()
    if falls.any():
        row = int(falls.arg_true()[0])
        raise InvalidInput(
            f"The ranks do not rise at {where(known['__row'][row])}.rank: found "
            f"{known['rank'][row]:g} behind {known['rank'][row - 1]:g}; results are listed best "
            "first, so sort them by rank."
        )


def no_targets(queries: Sequence[str]) -> Iterator[str]:
    """The note on queries without targets."""
    if not len(queries):
        return
    yield sentence(
        "{it.count:question has|questions have} nothing that should be found, such as "
        "{first.text}.",
        it=Fact(about="count", count=len(queries), text="without targets"),
        first=named(f"{queries[0]!r:.60}"),
    )


def with_ids(truth: GroundTruth, run: Run) -> GroundTruth:
    """The truth with documents or quotes as ids, where results are nothing but such ids."""
    if truth.is_listed:
        return truth  # by ids already, and no table is made to see it
    targets = truth.targets
    if not targets.height or targets["item"].null_count() < targets.height:
        return truth
    for column, beside in (("document", "document"), ("quote", "text")):
        if targets[column].null_count() or not run.has("item") or run.has(beside):
            continue
        listed = [targets.with_columns(item=pl.col(column))]
        if column == "quote":
            listed += [_divided(targets, sign) for sign in _DIVIDERS]
            listed.append(_without_marks(targets))
        # Block by block: what is common must not depend on how much is held at once.
        met = [pl.repeat(False, each.height, eager=True) for each in listed]
        for block in run.scan():
            ids = block["item"].unique().implode()
            met = [
                some | each["item"].is_in(ids)
                for some, each in zip(met, listed, strict=True)
            ]
        known = [int(some.sum()) for some in met]
        if not max(known):
            continue
        chosen = listed[known.index(max(known))]
        bare = chosen.with_columns(pl.lit(None, pl.String).alias(column))
        said = (
            (*truth.notes, DOCUMENTS_RETURNED)
            if targets["start"].count()
            else truth.notes
        )
        return replace(truth, targets=bare, notes=said).without_quotes()
    return truth


DOCUMENTS_RETURNED = (
    "Matched by document: the results are ids of documents without places in them, so a span is "
    "found where its document is returned."
)


_DIVIDERS = (";", "|", "\n", ",")
"""Signs between ids that have spaces in them."""


def _without_marks(targets: pl.DataFrame) -> pl.DataFrame:
    """The quotes as ids, without the number or the bullet that a list has before each."""
    bare = pl.col("quote").str.replace(r"^\s*(?:\d{1,2}[.)]|[-*•–·])\s+", "")
    return targets.with_columns(item=bare.str.strip_chars())


def _divided(targets: pl.DataFrame, sign: str) -> pl.DataFrame:
    """The quotes as ids, one in each row."""
    parts = targets.with_columns(item=pl.col("quote").str.split(sign)).explode("item")
    return parts.with_columns(pl.col("item").str.strip_chars()).filter(
        pl.col("item") != ""
    )
