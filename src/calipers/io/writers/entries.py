"""A dataset query by query, in plain Python: what forms with one record per query are made of."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import polars as pl

from calipers.model.dataset import Dataset
from calipers.model.ground_truth import GroundTruth
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run

AT_ONCE = 2_000
"""Queries that are plain Python at one time."""


@dataclass(frozen=True)
class Entry:
    """One query with all that is known about it; absent fields of a row are left out of it."""

    query: str
    text: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    targets: list[dict[str, Any]] | None = None
    results: list[dict[str, Any]] | None = None
    stages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    latency_ms: float | None = None
    error: str | None = None


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
        waiting = iter(names)
        while some := list(islice(waiting, AT_ONCE)):
            rows = None
            if self.run is not None and self.run.queries is not None:
                asked = pl.DataFrame({"query": some}, schema={"query": pl.String})
                rows = self.run.frame.join(asked, on="query", how="semi", maintain_order="left")
            yield from self._make(some, rows)

    def _make(self, names: list[str], rows: pl.DataFrame | None) -> Iterator[Entry]:
        asked = pl.DataFrame({"query": names}, schema={"query": pl.String})
        targets = self._targets(asked)
        results = {} if rows is None else _by_query(rows.drop("rank", strict=False))
        stages = self._stages(asked)
        about = self._about(asked)
        for name, fact in zip(names, about, strict=True):
            if self.truth is not None and not fact["in_truth"]:
                self.filled["unknown_to_ground_truth"] += 1
            if self.run is not None and name not in results and not fact["in_run"]:
                self.filled["missing_from_run"] += 1
            yield Entry(
                query=name,
                text=fact["text"],
                tags=fact["tags"],
                targets=None if self.truth is None else targets.get(name, []),
                results=None if self.run is None else results.get(name, []),
                stages={stage: lists[name] for stage, lists in stages.items() if name in lists},
                latency_ms=fact.get("latency_ms"),
                error=fact.get("error"),
            )

    def _targets(self, asked: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
        if self.truth is None:
            return {}
        return _by_query(
            self.truth.targets.join(asked, on="query", how="semi", maintain_order="left")
        )

    def _stages(self, asked: pl.DataFrame) -> dict[str, dict[str, list[dict[str, Any]]]]:
        found = {}
        for name, stage in (self.run.stages if self.run is not None else {}).items():
            part = stage.frame.join(asked, on="query", how="semi", maintain_order="left")
            lists = _by_query(part.drop("rank", strict=False))
            if stage.queries is not None:
                silent = stage.queries.join(asked, on="query", how="semi")["query"]
                lists = {**{query: [] for query in silent}, **lists}
            found[name] = lists
        return found

    def _about(self, asked: pl.DataFrame) -> list[dict[str, Any]]:
        """Text, tags, latency and error of each query, from whichever side knows."""
        facts = asked.with_columns(
            in_truth=pl.lit(False), in_run=pl.lit(False), text=pl.lit(None, dtype=pl.String)
        )
        tags: list[str] = []
        if self.truth is not None:
            tags = [f"tag {name}" for name in self.truth.tags]
            known = self.truth.queries.select("query", "text").with_columns(
                *(column.alias(f"tag {name}") for name, column in self.truth.tags.items())
            )
            facts = _joined(facts, known, "in_truth")
        if self.run is not None and self.run.queries is not None:
            facts = _joined(facts, self.run.queries, "in_run")
        rows = []
        for row in facts.iter_rows(named=True):
            worn = {tag.removeprefix("tag "): row.pop(tag) for tag in tags}
            row["tags"] = {tag: value for tag, value in worn.items() if value is not None}
            rows.append(row)
        return rows


def _joined(facts: pl.DataFrame, known: pl.DataFrame, mark: str) -> pl.DataFrame:
    known = known.with_columns(found=pl.lit(True))
    if "text" in known.columns:
        known = known.rename({"text": "their_text"})
    else:
        known = known.with_columns(their_text=pl.lit(None, dtype=pl.String))
    joined = facts.join(known, on="query", how="left", maintain_order="left")
    return joined.with_columns(
        pl.col("found").fill_null(False).alias(mark),
        text=pl.coalesce("text", "their_text"),
    ).drop("found", "their_text")


def _by_query(frame: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    lists: dict[str, list[dict[str, Any]]] = {}
    names = [name for name in frame.columns if name != "query"]
    rows = zip(frame["query"].to_list(), frame.select(names).iter_rows(), strict=True)
    for query, row in rows:
        present = {k: v for k, v in zip(names, row, strict=True) if v is not None}
        lists.setdefault(query, []).append(present)
    return lists
