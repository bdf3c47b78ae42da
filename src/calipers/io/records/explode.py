"""Explode records into long tables: one row per query and result, and per query and target.

A few thousand records are exploded at a time, so that a large file is never all Python objects.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import cast

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput, SumRow
from calipers.io.build import (
    GatheredResults,
    MemoryBudget,
    ResultRows,
    TargetRows,
    build,
    check_listed,
    no_targets,
)
from calipers.io.records.json_files import explain_mismatch
from calipers.io.records.schema import (
    EXAMPLE,
    At,
    Id,
    JsonRecord,
    JsonResult,
    JsonTarget,
    Place,
    PlainRecord,
    ResultList,
    Tag,
    TargetList,
    named_question,
)
from calipers.io.tables.cells import bare_name, bare_names, number_in
from calipers.io.tables.columns import tag_text
from calipers.model.arrays import Ints, as_series, frame_of_columns
from calipers.model.ground_truth import (
    TARGET_SCHEMA,
    page_id,
    page_label,
)
from calipers.model.matched import Dataset
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA
from calipers.names import EMPTY, total_in

CHUNK = 5_000
RESULTS = 20_000
"""Records that are exploded together: so many, or fewer with so many results."""
SAME_QUERY = "Two records have the same query"
RECORD = "__record"
POSITION = "__position"
"""The columns with the origin of a target: its record, and its place in the list there."""
MARK = "__mark"
"""Whether a target says that nothing should be found, unless a result is called so."""
MARKS_OF_NOTHING = frozenset(word for word in EMPTY if not word.isalpha())
"""Targets that mean that nothing should be found: N/A, -. Ids in quotes may be called none or null,
and what has a grade was judged, whatever its name. Beside other targets, or where a result is
called so, these are ids as well."""

_MARKS = sorted({form for word in MARKS_OF_NOTHING for form in (word, word.upper())})
"""The same as ids may be spelled."""

_QUERY_SCHEMA: dict[str, pl.DataType] = {
    "query": pl.String(),
    "text": pl.String(),
    "latency_ms": pl.Float64(),
    "error": pl.String(),
}
_LISTED_SCHEMA = {**RUN_SCHEMA, "rank": pl.Float64()}
_RESULT_FIELDS = (
    "id",
    *(name for name in RUN_SCHEMA if name not in ("query", "item")),
)
_TARGET_FIELDS = ("id", "quote", "document", "start", "end", "page", "group")

TRUTH = "ground_truth"
_TARGETS = (TRUTH, "forbidden", "excluded")
"""The fields of a record that hold targets."""

Entry = Id | JsonResult | JsonTarget | tuple[str, float]
"""A result or target: its id, an object, or an id with its number, from a mapping."""
Cell = str | int | float | None
Columns = dict[str, list[Cell]]


@dataclass(frozen=True, eq=False)
class _Lists:
    """The lists of one part of some records, such as their results: one list per query."""

    part: str
    """The field of a record that holds them."""
    place: Place
    queries: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """The number of the record that each list is in."""
    lists: list[Sequence[Entry]] = field(default_factory=list)

    def add(self, query: str, number: int, entries: Sequence[Entry]) -> None:
        """Add the list of one query, which is in the record with this number."""
        self.queries.append(query)
        self.numbers.append(number)
        self.lists.append(entries)

    def entries(self) -> list[Entry]:
        """The entries of all lists, one after another."""
        return list(chain.from_iterable(self.lists))

    def lengths(self) -> Ints:
        """How many entries each list has."""
        return np.fromiter(map(len, self.lists), np.int64, len(self.lists))

    def query_column(self) -> pl.Series:
        """The query of each entry; taken from one column, they share the text of a query."""
        names = frame_of_columns({"query": self.queries}, RUN_SCHEMA)["query"]
        codes = np.repeat(np.arange(len(self.lists)), self.lengths())
        return names.gather(as_series(codes))

    def origins(self) -> pl.DataFrame:
        """The record of each entry, and its position in the list there."""
        lengths = self.lengths()
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        records = np.repeat(np.array(self.numbers, dtype=np.int64), lengths)
        positions = np.arange(starts.size) - starts
        return pl.DataFrame(
            [as_series(records).alias(RECORD), as_series(positions).alias(POSITION)]
        )

    def where(self, row: int, *, by_key: bool = False) -> str:
        """The place of an entry: its record, and its number in the list or its key."""
        ends = np.cumsum(self.lengths())
        at = int(np.searchsorted(ends, row, side="right"))
        position = row - int(ends[at]) + len(self.lists[at])
        entry = self.lists[at][position]
        step = entry[0] if by_key and isinstance(entry, tuple) else position
        return f"{self.place(self.numbers[at])}.{self.part}[{step!r}]"


def _only_kind(entries: Iterable[Entry]) -> type | None:
    """The type of all entries; None if they have several."""
    kinds = set(map(type, entries))
    return kinds.pop() if len(kinds) == 1 else None


def _texts(values: Iterable[Cell]) -> list[Cell]:
    """The values as texts; what is missing stays missing."""
    return [
        value if value is None or type(value) is str else str(value) for value in values
    ]


def _columns_of(objects: Iterable[Entry], names: Iterable[str]) -> Columns:
    """These fields of objects as columns, without those that have no value."""
    columns: Columns = {}
    for name in names:
        values = list(map(attrgetter(name), objects))
        if values.count(None) < len(values):
            columns[name] = values
    return columns


def _ordered(results: ResultList) -> Sequence[Entry]:
    """The results as a list; a mapping of items to scores in the order of the scores."""
    if not isinstance(results, dict):
        return results
    # Sorted here, for callers without a rule for equal scores.
    return sorted(results.items(), key=lambda pair: -pair[1])


def _as_result(entry: Entry) -> Entry:
    """A result as an object."""
    if isinstance(entry, tuple):
        return JsonResult(id=entry[0], score=entry[1])
    return JsonResult(id=entry) if isinstance(entry, str | int) else entry


def _result_columns(entries: list[Entry]) -> Columns:
    """The fields of results as columns, the id as ``item``."""
    kind = _only_kind(entries)
    if kind in (str, int):
        return {"item": _texts(cast(list[Cell], entries))}
    if kind is tuple:
        items, scores = zip(*cast(list[tuple[str, float]], entries), strict=True)
        return {"item": list(items), "score": list(scores)}
    if kind is None or not issubclass(kind, JsonResult):
        entries = list(map(_as_result, entries))
    columns = _columns_of(entries, _RESULT_FIELDS)
    if "id" in columns:
        columns = {"item": _texts(columns.pop("id")), **columns}
    for name, written in _WRITTEN.items():
        if name in columns:
            columns[name] = [
                None if value is None else written(value) for value in columns[name]
            ]
    return columns


def _rank(value: Cell) -> float | None:
    """A rank as a number; one in words says nothing about the order."""
    if isinstance(value, str):
        return number_in(value)
    return None if value is None else float(value)


_WRITTEN: dict[str, Callable[[Cell], Cell]] = {
    "document": str,
    "page": page_label,
    "title": lambda title: title if isinstance(title, str) else None,
    "rank": _rank,
}
"""How some fields of results are written in a table."""


def _result_frame(results: _Lists) -> pl.DataFrame:
    """The results as a long table, checked, with only the columns that have values."""
    queries = results.query_column()
    entries = results.entries()
    if not entries:
        return queries.to_frame()
    columns = frame_of_columns(_result_columns(entries), _LISTED_SCHEMA)
    bare = (bare_names(column) if column.name == "item" else column for column in columns)
    rows = pl.DataFrame([queries, *bare])
    check_listed(rows, partial(results.where, by_key=True))
    return rows.drop("rank", strict=False)


def _listed(targets: TargetList) -> Sequence[Entry]:
    """The targets as a list."""
    return list(targets.items()) if isinstance(targets, dict) else targets


def _as_target(entry: Entry) -> Entry:
    """A target as an object."""
    if isinstance(entry, tuple):
        return JsonTarget(id=entry[0], grade=entry[1])
    return JsonTarget(id=entry) if isinstance(entry, str | int) else entry


def _target_columns(targets: _Lists) -> Columns:
    """The fields of targets as columns, the id as ``item``, without those that have no value."""
    entries = targets.entries()
    kind = _only_kind(entries)
    if kind in (str, int):
        return {"item": _texts(cast(list[Cell], entries))}
    if kind is tuple:
        items, grades = zip(*cast(list[tuple[str, float]], entries), strict=True)
        return {"item": list(items), "grade": list(grades)}
    if kind is None or not issubclass(kind, JsonTarget):
        entries = list(map(_as_target, entries))
    objects = cast(list[JsonTarget], entries)
    columns = _columns_of(objects, _TARGET_FIELDS)
    columns["grade"] = [
        None if target.grade is msgspec.UNSET else target.grade for target in objects
    ]
    for name in ("id", "document", "group"):
        if name in columns:
            columns[name] = _texts(columns[name])
    ids = columns.pop("id", [None] * len(entries))
    if "page" in columns:
        columns.pop("page")
        for row, target in enumerate(objects):
            if ids[row] is None and target.page is not None:
                ids[row] = _item_of_page(
                    target, partial(targets.where, row), targets.part
                )
    return {"item": ids, **columns}


def _item_of_page(target: JsonTarget, at: At, part: str) -> str | None:
    """The id of the page of a target, if nothing else names the target."""
    is_span = target.start is not None and target.document is not None
    if target.quote is not None or is_span:
        return None
    return page_id(target.document, target.page, at(), part)


def _target_frame(targets: _Lists) -> pl.DataFrame:
    """The targets as a long table, checked, with their origins.

    What may be a mark of nothing is marked; beside other targets it is an id.
    """
    columns = _target_columns(targets)
    items = columns["item"]
    unnamed = [
        row
        for row, item in enumerate(items)
        if item is None or str(item).strip().lower() in MARKS_OF_NOTHING
    ]
    for name in ("quote", "document"):
        values = columns.get(name)
        unnamed = [row for row in unnamed if values is None or values[row] is None]
    nameless = next((row for row in unnamed if items[row] is None), None)
    if nameless is not None:
        raise InvalidInput(
            "A target has no id, quote, span or page at "
            f"{targets.where(nameless)}; give it one."
        )
    grades = columns.get("grade", [None] * len(items))
    marks = [row for row in unnamed if grades[row] is None]
    columns["item"] = [None if item is None else bare_name(str(item)) for item in items]
    columns["grade"] = [1.0 if grade is None else grade for grade in grades]
    fields = frame_of_columns(columns, TARGET_SCHEMA)
    rows = pl.DataFrame([targets.query_column(), *fields, *targets.origins()])
    if not marks:
        return rows
    is_mark = np.zeros(rows.height, dtype=np.bool_)
    is_mark[marks] = True
    lengths = targets.lengths()
    is_mark &= np.repeat(lengths, lengths) == 1
    return rows.with_columns(as_series(is_mark).alias(MARK))


@dataclass(eq=False)
class ExplodedRecords:
    """The long tables of records, added some at a time; ``dataset`` builds from them."""

    place: Place
    kind: str
    name: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    """The file's own names for ``retrieved`` and ``ground_truth``."""
    room: MemoryBudget = field(default_factory=MemoryBudget)
    seen: dict[str, int] = field(default_factory=dict)
    """The record number of every query so far."""
    _queries: list[pl.DataFrame] = field(default_factory=list)
    _tags: list[tuple[int, dict[str, Tag]]] = field(default_factory=list)
    _answered: list[bool] = field(default_factory=list)
    """Whether each record has results, or an error in their place."""
    _judged: list[bool] = field(default_factory=list)
    """Whether each record has targets; an empty list of them counts."""
    _by_score: set[bool] = field(default_factory=set)
    """Whether scores give the order of results: both, if some records are lists."""
    _missing: list[str | None] = field(default_factory=list)
    """The side that does not have the query of a record, if its record says so."""
    _stage_queries: dict[str, list[str]] = field(default_factory=dict)
    _emptied: list[str] = field(default_factory=list)
    """Queries whose target is a word for nothing, such as N/A."""
    _called: set[str] = field(default_factory=set)
    """The results that are called like such a word."""
    _only_returned: bool = False
    """Whether a record says that only what was returned was judged."""

    def __post_init__(self) -> None:
        self._targets: dict[str, list[pl.DataFrame]] = {part: [] for part in _TARGETS}
        self._results = GatheredResults(self.room)
        self._stages: dict[str, GatheredResults] = defaultdict(
            partial(GatheredResults, self.room)
        )

    def add(self, records: Iterable[JsonRecord]) -> None:
        """Explode the next records."""
        results = _Lists("retrieved", self.place)
        stages: dict[str, _Lists] = {}
        targets = {
            part: _Lists(self.fields.get(part, part), self.place) for part in _TARGETS
        }
        rows: list[tuple[Cell, ...]] = []
        for record in records:
            number = len(self.seen)
            question, name = named_question(record, partial(self.place, number))
            query = self._identified(question if name is None else name, number)
            rows.append((query, str(question), record.latency_ms, record.error))
            self._note_parts(record)
            if self._answered[-1]:
                results.add(query, number, _ordered(record.retrieved or []))
            for stage, listed in (record.stages or {}).items():
                if stage not in stages:
                    stages[stage] = _Lists(f"stages.{stage}", self.place)
                stages[stage].add(query, number, _ordered(listed))
                self._stage_queries.setdefault(stage, []).append(query)
            for part, lists in targets.items():
                judged: TargetList | None = getattr(record, part)
                if judged is not None:
                    lists.add(query, number, _listed(judged))
            if record.tags:
                self._tags.append((number, record.tags))
        columns = dict(zip(_QUERY_SCHEMA, zip(*rows, strict=True), strict=True))
        self._queries.append(frame_of_columns(columns, _QUERY_SCHEMA))
        self._add_targets(targets)
        frame = _result_frame(results)
        self._note_ids(frame)
        self._results.add(frame)
        for stage, lists in stages.items():
            self._stages[stage].add(_result_frame(lists))

    def _note_parts(self, record: JsonRecord) -> None:
        """Note which parts a record has."""
        side = record.missing_from
        part = record.retrieved if side == "run" else record.ground_truth
        self._missing.append(side if part is None else None)
        self._answered.append(record.retrieved is not None or record.error is not None)
        self._judged.append(record.ground_truth is not None)
        self._only_returned |= record.judged_only is not None
        if record.retrieved:
            self._by_score.add(isinstance(record.retrieved, dict))

    def _identified(self, name: Id, number: int) -> str:
        """The id of the query of a record; refused if another record has it."""
        query = bare_name(str(name))
        if query in self.seen:
            raise InvalidInput(
                f"{SAME_QUERY} {query[:80]!r}: {self.place(self.seen[query])} "
                f"and {self.place(number)}; give each an 'id' of its own, or make them one."
            )
        self.seen[query] = number
        return query

    def _add_targets(self, targets: Mapping[str, _Lists]) -> None:
        """Add the targets."""
        for part, lists in targets.items():
            if any(lists.lists):
                self._targets[part].append(_target_frame(lists))

    def _note_ids(self, results: pl.DataFrame) -> None:
        """Note the results that are called like a mark of nothing."""
        if "item" in results.columns:
            called = results["item"].filter(results["item"].is_in(_MARKS))
            self._called.update(called)

    def _without_marks(self, part: str, rows: pl.DataFrame) -> pl.DataFrame:
        """The targets that are ids; the queries of which nothing is left are noted."""
        if MARK not in rows.columns:
            return rows
        is_mark = pl.col(MARK).fill_null(False) & ~pl.col("item").is_in([*self._called])
        kept = rows.filter(~is_mark)
        if part == TRUTH:
            emptied = rows.filter(is_mark)["query"]
            self._emptied += emptied.unique(maintain_order=True).to_list()
        return kept

    def dataset(self) -> Dataset:
        """The dataset of all records. A part that no record has is None."""
        if not self.seen:
            raise InvalidInput(f"{self.kind} holds no queries: found an empty list.")
        has_results = self._has(self._answered, "run", "retrieved")
        has_targets = self._has(self._judged, TRUTH, TRUTH)
        queries = pl.concat(self._queries)
        targets = self._target_rows(queries) if has_targets else None
        results = self._result_rows(queries) if has_results else None
        return build(self.kind, targets, results)

    def _has(self, present: list[bool], side: str, part: str) -> bool:
        """Whether records have a part; refused if only some have it."""
        excused = self._missing.count(side)
        having = present.count(True)
        if 0 < having < len(present) - excused:
            first = next(
                number
                for number, has in enumerate(present)
                if not has and self._missing[number] != side
            )
            total = total_in(self._queries[-1][-1, "query"])
            if first == len(present) - 1 and total is not None:
                raise SumRow(self.kind, self.place(first), total)
            raise InvalidInput(
                f"{self.kind}: {having} of {len(present)} records have "
                f"{self.fields.get(part, part)!r} and the others have not, the first at "
                f"{self.place(first)}; give it in every record (an empty list where there is "
                "nothing)."
            )
        return having > 0 or excused > 0

    def _without(self, side: str) -> pl.Series | None:
        """Which queries a side has; None if it has all of them."""
        if side not in self._missing:
            return None
        return pl.Series([missing != side for missing in self._missing], dtype=pl.Boolean)

    def _result_rows(self, queries: pl.DataFrame) -> ResultRows:
        """The results of all records."""
        if len(self._by_score) > 1:
            raise InvalidInput(
                f"{self.kind} gives scores for some queries and bare lists for others; give "
                "one format for all."
            )
        order: Order = "score" if True in self._by_score else "listed"
        stages = {}
        for name, results in self._stages.items():
            of_stage = pl.DataFrame({"query": self._stage_queries[name]})
            stages[name] = results.rows("listed", of_stage, name)
        known = self._without("run")
        answered = queries if known is None else queries.filter(known)
        notes = self._results.notes() if order == "listed" else ()
        rows = self._results.rows(order, answered, self.name)
        return replace(rows, stages=stages, notes=notes)

    def _target_rows(self, queries: pl.DataFrame) -> TargetRows:
        """The targets of all records."""
        nothing = pl.DataFrame(schema=TARGET_SCHEMA)
        parts = {
            part: self._without_marks(
                part, pl.concat(tables or [nothing], how="diagonal")
            )
            for part, tables in self._targets.items()
        }
        asked = queries.select("query", "text")
        tags = self._tag_columns(queries.height)
        known = self._without(TRUTH)
        if known is not None:
            asked = asked.filter(known)
            tags = {name: values.filter(known) for name, values in tags.items()}
        targets = parts[TRUTH]
        return TargetRows(
            targets,
            where=partial(self._place_of, targets),
            queries=asked,
            tags=tags,
            forbidden=parts["forbidden"],
            excluded=parts["excluded"],
            notes=tuple(no_targets(self._emptied)),
            only_returned=self._only_returned,
        )

    def _place_of(self, targets: pl.DataFrame, row: int) -> str:
        """The place of a target."""
        part = self.fields.get(TRUTH, TRUTH)
        return f"{self.place(targets[RECORD][row])}.{part}[{targets[POSITION][row]}]"

    def _tag_columns(self, n: int) -> dict[str, pl.Series]:
        """Every tag as a column, one row per query."""
        names = dict.fromkeys(name for _, tags in self._tags for name in tags)
        columns: dict[str, list[str | None]] = {name: [None] * n for name in names}
        for number, tags in self._tags:
            for name, value in tags.items():
                columns[name][number] = tag_text(value)
        return {
            name: pl.Series(name, values, pl.String) for name, values in columns.items()
        }


def in_chunks(records: Iterable[JsonRecord]) -> Iterator[list[JsonRecord]]:
    """Yield the records in chunks that limit the Python objects in memory."""
    chunk: list[JsonRecord] = []
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


def typed_records(
    records: Iterable[PlainRecord | JsonRecord], place: Place
) -> Iterator[JsonRecord]:
    """Yield the records in the type of our JSON; one that does not fit is refused."""
    for number, record in enumerate(records):
        if isinstance(record, JsonRecord):
            yield record
            continue
        try:
            yield msgspec.convert(record, JsonRecord)
        except msgspec.ValidationError as error:
            message = explain_mismatch(str(error), place(number), EXAMPLE)
            raise InvalidInput(message) from None


def build_records(
    records: Iterable[PlainRecord | JsonRecord],
    place: Place,
    kind: str,
    name: str | None = None,
    fields: Mapping[str, str] | None = None,
    room: MemoryBudget | None = None,
) -> Dataset:
    """The dataset of records in memory or streamed from a file: exploded, then built."""
    exploded = ExplodedRecords(place, kind, name, fields or {}, room or MemoryBudget())
    for chunk in in_chunks(typed_records(records, place)):
        exploded.add(chunk)
    return exploded.dataset()
