"""A dataset query by query, in plain Python: what is written with one record per query."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import polars as pl

from calipers.io.records.facets import Remarks
from calipers.io.tables.checked import TAG
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run

AT_ONCE = 2_000
"""Queries that are plain Python at one time."""
MADE_IDS = "Quotes without an id, each given one made from its text: {n}."


@dataclass(frozen=True)
class Entry:
    """One query with all that is known about it; absent fields of a row are left out of it."""

    query: str
    text: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    targets: list[dict[str, Any]] | None = None
    forbidden: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] | None = None
    stages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    latency_ms: float | None = None
    error: str | None = None
    missing_from: str | None = None
    """The side that does not have it: run or ground_truth; its list is empty then."""


def entries(dataset: Dataset, filled: Counter[str] | None = None) -> Iterator[Entry]:
    """Every query once, a few thousand in memory at a time.

    A query that only one side has is given an empty list on the other; ``filled`` counts them.
    """
    truth, run = dataset.ground_truth, dataset.run
    maker = _Maker(truth, run, Counter() if filled is None else filled)
    seen: set[str] = set()
    if run is not None and run.queries is None:
        # Results on their way from a file: they set the order, so that they need not wait.
        for batch in run.ranked():
            seen.update(batch.queries.to_list())
            yield from maker.make_batch(batch)
    if truth is not None:
        yield from maker.make_all(_rest(truth.queries, seen))
    if run is not None and run.queries is not None:
        yield from maker.make_all(_rest(run.queries, seen))
        yield from maker.make_all(
            _rest(run.frame.select("query").unique(maintain_order=True), seen)
        )


def _rest(queries: pl.DataFrame, seen: set[str]) -> list[str]:
    rest = [query for query in queries["query"].to_list() if query not in seen]
    seen.update(rest)
    return rest


@dataclass(frozen=True, eq=False)
class _Maker:
    truth: GroundTruth | None
    run: Run | None
    filled: Counter[str]

    def make_batch(self, batch: RankedBatch) -> Iterator[Entry]:
        """The queries of a batch with its results."""
        names = batch.queries.to_list()
        ends = [*batch.starts[1:].tolist(), batch.frame.height]
        for first in range(0, len(names), AT_ONCE):
            last = min(first + AT_ONCE, len(names))
            rows = batch.frame[int(batch.starts[first]) : ends[last - 1]]
            yield from self._make(names[first:last], rows)

    def make_all(self, names: Iterable[str]) -> Iterator[Entry]:
        """Queries by name, with the results that are in memory."""
        waiting, run = iter(names), self.run
        while some := list(islice(waiting, AT_ONCE)):
            yield from self._make(some, None if run is None or run.queries is None else run.frame)

    def _make(self, names: list[str], rows: pl.DataFrame | None) -> Iterator[Entry]:
        asked = pl.DataFrame({"query": names}, schema={"query": pl.String})
        truth, run = self.truth, self.run
        targets = _by_query(None if truth is None else truth.targets, asked)
        forbidden = _by_query(None if truth is None else truth.forbidden, asked)
        known = _by_query(None if truth is None else with_tags(truth), asked)
        results = _by_query(rows, asked)
        answered = _by_query(None if run is None else run.queries, asked)
        stages: dict[str, dict[str, list[dict[str, Any]]]] = {
            name: {query: [] for query in _by_query(stage.queries, asked)}
            | _by_query(stage.frame, asked)
            for name, stage in (run.stages if run is not None else {}).items()
        }
        for name in names:
            missing = None
            if truth is not None and name not in known:
                missing = "ground_truth"
            elif run is not None and name not in results and name not in answered:
                missing = "run"
            if missing is not None:
                self.filled[f"missing_from_{missing}"] += 1
            # Whichever side knows it; the wording of the ground truth comes before the run's.
            about = {**answered.get(name, [{}])[0], **known.get(name, [{}])[0]}
            yield Entry(
                query=name,
                text=about.get("text"),
                tags={k.removeprefix(TAG): v for k, v in about.items() if k.startswith(TAG)},
                targets=None if truth is None else targets.get(name, []),
                forbidden=forbidden.get(name, []),
                results=None if run is None else results.get(name, []),
                stages={stage: lists[name] for stage, lists in stages.items() if name in lists},
                latency_ms=about.get("latency_ms"),
                error=about.get("error"),
                missing_from=missing,
            )


def with_tags(truth: GroundTruth) -> pl.DataFrame:
    """The queries of a ground truth with their texts and a column for each tag."""
    tags = (column.alias(f"{TAG}{name}") for name, column in truth.tags.items())
    return truth.queries.select("query", "text").with_columns(*tags)


def _by_query(frame: pl.DataFrame | None, asked: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The rows of those queries that are asked for, without what they leave empty."""
    lists: dict[str, list[dict[str, Any]]] = {}
    if frame is None:
        return lists
    found = frame.join(asked, on="query", how="semi", maintain_order="left")
    names = [name for name in frame.columns if name not in ("query", "rank")]
    for query, *row in found.select("query", *names).iter_rows():
        present = {k: v for k, v in zip(names, row, strict=True) if v is not None}
        lists.setdefault(query, []).append(present)
    return lists


def records(parts: Iterable[Dataset], remarks: Remarks) -> Iterator[dict[str, Any]]:
    """Every query as one of our records."""
    for part in parts:
        yield from map(record, entries(part, kept := Counter[str]()))
        for side in ("run", "ground_truth"):
            remarks.add(
                f"Queries that the {side.replace('_', ' ')} does not have, marked as missing_from "
                "it: {n}.",
                kept[f"missing_from_{side}"],
            )


def record(entry: Entry) -> dict[str, Any]:
    """One query as people would write it by hand: short where little is known.

    >>> record(Entry("q1", "What?", targets=[{"item": "a", "grade": 2.0}], results=[{"item": "b"}]))
    {'id': 'q1', 'query': 'What?', 'retrieved': ['b'], 'ground_truth': {'a': 2}}
    """
    worded = entry.text is not None and entry.text != entry.query
    found: dict[str, Any] = {"id": entry.query} if worded else {}
    found["query"] = entry.text if worded else entry.query
    if entry.tags:
        found["tags"] = entry.tags
    if entry.results is not None and entry.missing_from != "run":
        found["retrieved"] = _results(entry.results)
    if entry.targets is not None and entry.missing_from != "ground_truth":
        found["ground_truth"] = _targets(entry.targets)
    if entry.forbidden:
        found["forbidden"] = _results(entry.forbidden)
    if entry.stages:
        found["stages"] = {name: _results(rows) for name, rows in entry.stages.items()}
    if entry.latency_ms is not None:
        found["latency_ms"] = entry.latency_ms
    if entry.error is not None:
        found["error"] = entry.error
    if entry.missing_from is not None:
        found["missing_from"] = entry.missing_from
    return found


def _results(rows: list[dict[str, Any]]) -> list[Any]:
    """Ids alone where there is nothing else, else objects."""
    if all(list(row) == ["item"] for row in rows):
        return [row["item"] for row in rows]
    return [named(row) for row in rows]


def _targets(rows: list[dict[str, Any]]) -> Any:
    """Grades by id where ids are all there is, else objects."""
    if rows and all(row.keys() == {"item", "grade"} for row in rows):
        return {row["item"]: plain_number(row["grade"]) for row in rows}
    return [_graded(named(row)) for row in rows]


def named(row: dict[str, Any]) -> dict[str, Any]:
    """A result or target with its id under the name that records have for it."""
    if "item" not in row:
        return row
    return {"id": row["item"], **{k: v for k, v in row.items() if k != "item"}}


def _graded(row: dict[str, Any]) -> dict[str, Any]:
    grade = row["grade"]
    rest = {key: value for key, value in row.items() if key != "grade"}
    return rest if grade == 1 else {**rest, "grade": plain_number(grade)}


def plain_number(value: float) -> int | float:
    """A whole number without its ``.0``.

    >>> plain_number(3.0), plain_number(0.5)
    (3, 0.5)
    """
    return int(value) if value.is_integer() else value


def id_of(text: str) -> str:
    """An id made from a text: the same text always has the same one.

    >>> id_of("some evidence")
    'quote-3bd75f9d3321'
    """
    return "quote-" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
