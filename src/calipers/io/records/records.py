"""Our own format: one record per query, with its results and targets.

A few thousand are decoded at a time, so that a large file is never all Python objects.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.records.gather import MemoryBudget, Results
from calipers.io.tables.cells import (
    bare_name,
    bare_names,
    check_results,
    number_in,
)
from calipers.model.arrays import Rows, as_series, frame_of_columns
from calipers.model.ground_truth import (
    FORBIDDEN_SCHEMA,
    TARGET_SCHEMA,
    GroundTruth,
    page_id,
    page_label,
)
from calipers.model.matched import Dataset
from calipers.model.run import MOST_RESULTS, RUN_SCHEMA
from calipers.names import EMPTY

CHUNK = 5_000
RESULTS = 20_000
"""Records that are turned into columns together: so many, or fewer with so many results."""
MOST = msgspec.Meta(max_length=MOST_RESULTS)

Id = str | int


class Result(msgspec.Struct):
    """One retrieved item as an object."""

    id: Id | None = None
    score: float | None = None
    text: str | None = None
    document: Id | None = None
    start: int | None = None
    end: int | None = None
    page: str | int | float | None = None
    tokens: int | None = None
    title: Any = None
    call: int | None = None
    """The retriever call that returned it, from 1, if an agent makes several."""
    rank: int | float | str | None = None
    """Not used, as results are listed in order; but it must agree with that order."""


class Target(msgspec.Struct):
    """One target as an object."""

    id: Id | None = None
    quote: str | None = None
    document: Id | None = None
    start: int | None = None
    end: int | None = None
    page: str | int | float | None = None
    grade: float | msgspec.UnsetType = msgspec.UNSET
    """1 where none is given."""
    group: Id | None = None


class Record(msgspec.Struct):
    """One query."""

    query: Id
    id: Id | None = None
    retrieved: Annotated[list[Id | Result], MOST] | dict[str, float] | None = None
    ground_truth: Annotated[list[Id | Target], MOST] | dict[str, float] | None = None
    forbidden: Annotated[list[Id | Target], MOST] | None = None
    excluded: Annotated[list[Id | Target], MOST] | None = None
    tags: dict[str, str | int | float | bool | None] | None = None
    latency_ms: float | None = None
    error: str | None = None
    stages: dict[str, list[Id | Result] | dict[str, float]] | None = None
    missing_from: Literal["run", "ground_truth"] | None = None
    """The side without this query, which is not the same as an empty list."""


At = Callable[[], str]
"""Returns the place of a row in words; called only when needed."""
Place = Callable[[int], str]
"""Maps the number of a record to the place it was read from."""

EXAMPLE = '{"query": …, "retrieved": […], "ground_truth": {…}}'

SAME_QUERY = "Two records have the same query"

_QUERY_SCHEMA: dict[str, pl.DataType] = {
    name: pl.Float64() if name == "latency_ms" else pl.String()
    for name in ("query", "text", "latency_ms", "error")
}


def in_chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield the records in chunks that limit the Python objects in memory."""
    chunk: list[Record] = []
    results = 0
    for record in records:
        chunk.append(record)
        results += len(record.retrieved or ())
        if len(chunk) >= CHUNK or results >= RESULTS:
            yield chunk
            chunk = []
            results = 0
    if chunk:
        yield chunk


_DETAILS = tuple(name for name in RUN_SCHEMA if name not in ("query", "item"))
"""Columns of a result beside its id."""
_LISTED_SCHEMA = {**RUN_SCHEMA, "rank": pl.Float64()}


class ListedResults:
    """Flattens the results of some records into columns, and checks them together."""

    def __init__(self, place: Place, part: str) -> None:
        self._place = place
        self._part = part
        self._queries: list[str] = []
        self._numbers: list[int] = []
        self._counts: list[int] = []
        self._by_key: set[int] = set()
        self._items: list[str | None] = []
        self._details: list[Result | None] = []

    def add(self, query: str, number: int, listed: Any) -> None:
        """Add the results of one query, which is in the record with this number."""
        if isinstance(listed, dict):
            self._by_key.add(len(self._counts))
            # Sorted here, for callers without a rule for equal scores.
            ordered = sorted(listed.items(), key=lambda pair: -pair[1])
            listed = [Result(id=item, score=score) for item, score in ordered]
        self._queries.append(query)
        self._numbers.append(number)
        self._counts.append(len(listed))
        for one in listed:
            known = isinstance(one, Result)
            name = one.id if known else one
            self._items.append(name if name is None or type(name) is str else str(name))
            self._details.append(one if known else None)

    def frame(self) -> pl.DataFrame:
        """The results as a table, with only the columns that have values."""
        asked = frame_of_columns({"query": self._queries}, RUN_SCHEMA)["query"]
        # Taken from one column, all results of a query share its text.
        rows = np.repeat(np.arange(len(self._counts)), self._counts)
        of_row = asked.gather(as_series(rows))
        if not self._items:
            return of_row.to_frame()
        results = frame_of_columns(self._columns(), _LISTED_SCHEMA)
        made = pl.DataFrame(
            [
                of_row,
                *(
                    bare_names(result) if result.name == "item" else result
                    for result in results
                ),
            ]
        )
        check_results(made, partial(self._where, made))
        return made.drop("rank", strict=False)

    def _columns(self) -> dict[str, list[Any]]:
        """The columns of the results that have values."""
        columns: dict[str, list[Any]] = {"item": self._items}
        known = [detail for detail in self._details if detail is not None]
        for name in _DETAILS if known else ():
            if len(known) == len(self._details):
                columns[name] = list(map(attrgetter(name), known))
            else:
                columns[name] = [getattr(detail, name, None) for detail in self._details]
        filled = {
            name: one for name, one in columns.items() if one.count(None) < len(one)
        }
        for name, as_given in _WRITTEN.items():
            if name in filled:
                filled[name] = [
                    None if one is None else as_given(one) for one in filled[name]
                ]
        return filled

    def _where(self, made: pl.DataFrame, row: int) -> str:
        starts = (np.cumsum(self._counts) - self._counts).tolist()
        which = bisect_right(starts, row) - 1
        step = made["item"][row] if which in self._by_key else row - starts[which]
        return f"{self._place(self._numbers[which])}.{self._part}[{step!r}]"


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "document": str,
    "page": page_label,
    "title": lambda title: title if isinstance(title, str) else None,
    # A rank in words says nothing about the order.
    "rank": lambda rank: number_in(rank) if isinstance(rank, str) else float(rank),
}


@dataclass(eq=False)
class RecordBuilder:
    """Turns records into columns; ``finish`` returns the ground truth and the run."""

    place: Place
    kind: str
    name: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    """The file's own names for ``retrieved`` and ``ground_truth``."""
    room: MemoryBudget = field(default_factory=MemoryBudget)
    seen: dict[str, int] = field(default_factory=dict)
    """The record number of every query so far."""
    _targets: list[pl.DataFrame] = field(default_factory=list)
    _forbidden: list[pl.DataFrame] = field(default_factory=list)
    _excluded: list[pl.DataFrame] = field(default_factory=list)
    _target_record: list[int] = field(default_factory=list)
    _queries: list[pl.DataFrame] = field(default_factory=list)
    _tags: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    _with_results: int = 0
    _with_targets: int = 0
    _with_scores: int = 0
    """Records whose results map items to scores, which give the order."""
    _with_lists: int = 0
    _first_without: dict[str, int] = field(default_factory=dict)
    _stage_queries: dict[str, list[str]] = field(default_factory=dict)
    _missing: list[str | None] = field(default_factory=list)
    _emptied: list[str] = field(default_factory=list)
    """Queries whose target is a word for nothing, such as N/A."""

    def __post_init__(self) -> None:
        self._results = Results(self.room)
        self._stages: dict[str, Results] = defaultdict(partial(Results, self.room))

    def finish(self) -> Dataset:
        """The dataset from all records. A part that no record has is None."""
        n = len(self._missing)
        if not n:
            raise InvalidInput(f"{self.kind} holds no queries: found an empty list.")
        for side, having in (
            ("run", self._with_results),
            ("ground_truth", self._with_targets),
        ):
            if 0 < having < n - self._missing.count(side):
                raise InvalidInput(
                    self._lacking("retrieved" if side == "run" else side, having)
                )
        queries = pl.concat(self._queries)
        missing = pl.Series(self._missing, dtype=pl.String)
        known, answered = (missing.ne_missing(side) for side in ("ground_truth", "run"))
        truth = run = None
        if self._with_targets or "ground_truth" in self._missing:
            truth = GroundTruth.from_targets(
                pl.concat(self._targets),
                queries=queries.select("query", "text").filter(known),
                tags={
                    name: tag.filter(known) for name, tag in self._tag_columns(n).items()
                },
                where=self._target_place,
            ).forbidding(self._forbidden, self._excluded)
            truth = replace(truth, notes=(*truth.notes, *no_targets(self._emptied)))
        if self._with_results or "run" in self._missing:
            if self._with_scores and self._with_lists:
                raise InvalidInput(
                    f"{self.kind} gives scores for some queries and bare lists for others; give "
                    "one format for all."
                )
            order: Literal["score", "listed"] = "score" if self._with_scores else "listed"
            stages = {
                name: one.run(
                    "listed", pl.DataFrame({"query": self._stage_queries[name]}), name
                )
                for name, one in self._stages.items()
            }
            run = self._results.run(order, queries.filter(answered), self.name, stages)
            if order == "listed":
                run = replace(run, notes=self._results.notes())
        return Dataset(truth, run, self.kind)

    def _target_place(self, row: int) -> str:
        part = self.fields.get("ground_truth", "ground_truth")
        record = self._target_record[row]
        position = row - bisect_left(self._target_record, record)
        return f"{self.place(record)}.{part}[{position}]"

    def _lacking(self, what: str, having: int) -> str:
        return (
            f"{self.kind}: {having} of {len(self._missing)} records have "
            f"{self.fields.get(what, what)!r} and the others have not, the first at "
            f"{self.place(self._first_without[what])}; give it in every record (an empty list "
            "where there is nothing)."
        )

    def add(self, chunk: list[Record]) -> None:
        """Add the next records."""
        results = ListedResults(self.place, "retrieved")
        targets = Rows(tuple(TARGET_SCHEMA))
        queries = Rows(tuple(_QUERY_SCHEMA))
        forbidden = Rows(tuple(FORBIDDEN_SCHEMA))
        excluded = Rows(tuple(FORBIDDEN_SCHEMA))
        stages: dict[str, ListedResults] = {}
        for record in chunk:
            number = len(self.seen)
            query = self._identify(record, number)
            side = record.missing_from
            part = record.retrieved if side == "run" else record.ground_truth
            self._missing.append(side if part is None else None)
            queries.add(
                query=query,
                text=str(record.query),
                latency_ms=record.latency_ms,
                error=record.error,
            )
            if record.retrieved is not None or record.error is not None:
                self._with_results += 1
                if record.retrieved:
                    by_score = isinstance(record.retrieved, dict)
                    self._with_scores += by_score
                    self._with_lists += not by_score
                results.add(query, number, record.retrieved or ())
            elif side != "run":
                self._first_without.setdefault("retrieved", number)
            for name, listed in (record.stages or {}).items():
                of_stage = stages.setdefault(
                    name, ListedResults(self.place, f"stages.{name}")
                )
                of_stage.add(query, number, listed)
                self._stage_queries.setdefault(name, []).append(query)
            if record.ground_truth is not None:
                self._with_targets += 1
                before = len(targets.rows)
                _add_targets(targets, query, record.ground_truth, self.place, number)
                if record.ground_truth and len(targets.rows) == before:
                    self._emptied.append(query)
                self._target_record += [number] * (len(targets.rows) - before)
            elif side != "ground_truth":
                self._first_without.setdefault("ground_truth", number)
            if record.forbidden:
                _add_targets(
                    forbidden, query, record.forbidden, self.place, number, "forbidden"
                )
            if record.excluded:
                _add_targets(
                    excluded, query, record.excluded, self.place, number, "excluded"
                )
            if record.tags:
                self._tags.append((len(self._missing) - 1, record.tags))
        self._results.add(results.frame())
        for name, of_stage in stages.items():
            self._stages[name].add(of_stage.frame())
        self._targets.append(targets.frame(TARGET_SCHEMA))
        self._forbidden.append(forbidden.frame(TARGET_SCHEMA))
        self._excluded.append(excluded.frame(TARGET_SCHEMA))
        self._queries.append(queries.frame(_QUERY_SCHEMA))

    def _identify(self, record: Record, number: int) -> str:
        query = bare_name(str(record.query if record.id is None else record.id))
        if query in self.seen:
            raise InvalidInput(
                f"{SAME_QUERY} {query[:80]!r}: {self.place(self.seen[query])} "
                f"and {self.place(number)}; give each an 'id' of its own, or make them one."
            )
        self.seen[query] = number
        return query

    def _tag_columns(self, n: int) -> dict[str, pl.Series]:
        names = dict.fromkeys(name for _, tags in self._tags for name in tags)
        columns: dict[str, list[str | None]] = {name: [None] * n for name in names}
        for number, tags in self._tags:
            for name, value in tags.items():
                text = _text(value)
                columns[name][number] = (
                    text.lower() if text and isinstance(value, bool) else text
                )
        return {
            name: pl.Series(name, values, pl.String) for name, values in columns.items()
        }


def no_targets(queries: Sequence[str]) -> tuple[str, ...]:
    """The note on queries without targets."""
    if not len(queries):
        return ()
    called = "1 question has" if len(queries) == 1 else f"{len(queries):,} questions have"
    return (f"{called} nothing that should be found, such as {queries[0]!r:.60}.",)


MARKS_OF_NOTHING = frozenset(word for word in EMPTY if not word.isalpha())
"""Targets that mean that nothing should be found: N/A, -. Ids in quotes may be called none or null,
and what has a grade was judged, whatever its name."""


def _add_targets(
    columns: Rows,
    query: str,
    truth: Any,
    place: Place,
    number: int,
    part: str = "ground_truth",
) -> None:
    if isinstance(truth, dict):
        truth = [Target(id=item, grade=grade) for item, grade in truth.items()]
    for i, one in enumerate(truth):
        if not isinstance(one, Target):
            if str(one).strip().lower() not in MARKS_OF_NOTHING:
                columns.add(query=query, grade=1.0, item=bare_name(str(one)))
            continue
        graded = one.grade is not msgspec.UNSET
        empty = not graded and str(one.id).strip().lower() in MARKS_OF_NOTHING
        if empty and one.quote is None and one.document is None:
            continue
        if (
            one.id is None
            and one.quote is None
            and one.document is None
            and one.page is None
        ):
            at = f"{place(number)}.{part}[{i}]"
            raise InvalidInput(
                f"A target has no id, quote, span or page at {at}; give it one."
            )
        if (
            one.page is not None
            and one.id is None
            and one.quote is None
            and one.start is None
        ):
            one.id = page_id(one.document, one.page, f"{place(number)}.{part}[{i}]", part)
        columns.add(
            query=query,
            grade=one.grade if graded else 1.0,
            item=None if one.id is None else bare_name(str(one.id)),
            quote=one.quote,
            document=_text(one.document),
            start=one.start,
            end=one.end,
            group=_text(one.group),
        )


def _text(value: Id | None) -> str | None:
    return None if value is None else str(value)


def build(
    records: Iterable[Record],
    place: Place,
    kind: str,
    name: str | None = None,
    fields: Mapping[str, str] | None = None,
    room: MemoryBudget | None = None,
) -> Dataset:
    """Build a ground truth and a run from records in memory or streamed from a file."""
    builder = RecordBuilder(place, kind, name, fields or {}, room or MemoryBudget())
    for chunk in in_chunks(records):
        builder.add(chunk)
    return builder.finish()
