"""A dataset query by query in plain Python, for writing, with counts of what a format loses."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.write import whole_file
from calipers.io.tables.columns import TAG
from calipers.model.fact import Fact, Sentence, facts_of
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.run import Run
from calipers.names import EMPTY

Counts = Counter[str]

_OF_TARGETS = {"groups": "group", "quotes": "quote", "spans": "start"}
_OF_RESULTS = {
    "scores": "score",
    "texts": "text",
    "result_documents": "document",
    "pages": "page",
    "tokens": "tokens",
    "calls": "call",
}
"""Facets that are a column of the targets or of the results."""
FACETS: Mapping[str, str] = {
    "targets": "targets",
    "groups": "targets with a group of alternatives",
    "quotes": "quotes",
    "spans": "targets with start and end",
    "targets_without_id": "targets without an id",
    "queries_without_targets": "queries without targets",
    "only_returned": "queries of which only what was returned was judged",
    "forbidden": "things that must not be found",
    "excluded": "things that do not count",
    "tags": "queries with tags",
    "query_texts": "texts of queries beside their ids",
    "results": "results",
    "scores": "scores",
    "texts": "texts of results",
    "result_documents": "results with their documents",
    "pages": "results with their pages",
    "tokens": "counts of tokens",
    "calls": "results with the numbers of their calls",
    "results_without_id": "results without an id",
    "latencies": "latencies",
    "errors": "errors of the retriever",
    "queries_without_results": "queries without results",
    "stages": "lists of earlier stages",
}
"""What a format may be unable to hold, in words."""
DETAILS: Mapping[str, frozenset[str]] = {
    "targets": frozenset(
        {*_OF_TARGETS, "targets_without_id", "queries_without_targets", "only_returned"}
    ),
    "results": frozenset(
        {*_OF_RESULTS, "results_without_id", "latencies", "errors", "stages"}
        | {"queries_without_results"}
    ),
}
"""Facets that need no mention if the whole is lost."""
EVERYTHING = frozenset(FACETS)
TRUTH_BY_ID = frozenset({"targets"})
RESULTS_BY_ID = frozenset({"results", "scores"})


def counted(data: Dataset, counts: Counts) -> Iterator[Dataset]:
    """Yield the dataset and count what it holds; results are counted as they are read."""
    truth = data.ground_truth
    run = data.run
    if truth is not None:
        counts.update(_of_truth(truth))
    if run is not None:
        counts.update(_of_queries(run, known=truth is not None))
        data = replace(data, run=_counting(run, counts))
    yield data
    if data.run is not None and not counts["results"]:
        # The format has no place for results, so they were not read; count them.
        for _ in data.run.scan():
            pass
    asked = [held.queries for held in (truth, run) if held is not None]
    if not counts["results"] and not any(one.height for one in asked if one is not None):
        # Raised while the writer waits for more, so that no empty file takes its name.
        raise InvalidInput(
            "The input holds no queries, so there is nothing to write; check that it is the right "
            "file."
        )


def _of_truth(truth: GroundTruth) -> Counts:
    targets = truth.targets
    found = Counter(
        targets=targets.height,
        targets_without_id=targets["item"].null_count(),
        queries_without_targets=truth.queries.height - targets["query"].n_unique(),
        only_returned=truth.queries.height if truth.only_returned else 0,
        forbidden=0 if truth.forbidden is None else truth.forbidden.height,
        excluded=0 if truth.excluded is None else truth.excluded.height,
        query_texts=_texts(truth.queries),
        **{name: targets[column].count() for name, column in _OF_TARGETS.items()},
    )
    if truth.tags:
        tags = pl.DataFrame(dict(truth.tags))
        tagged = tags.select(pl.any_horizontal(pl.all().is_not_null()))
        found["tags"] = int(tagged.to_series().sum())
    return found


def _texts(queries: pl.DataFrame) -> int:
    return queries.filter(
        pl.col("text").is_not_null() & (pl.col("text") != pl.col("query"))
    ).height


def _of_queries(run: Run, *, known: bool) -> Counts:
    """Count what a run has beside its results; texts only if no ground truth has them."""
    queries = run.queries
    found: Counts = Counter(
        stages=sum(
            0 if stage.queries is None else stage.queries.height
            for stage in run.stages.values()
        )
    )
    if queries is None:
        return found
    for name, column in (("latencies", "latency_ms"), ("errors", "error")):
        if column in queries.columns:
            found[name] = queries[column].count()
    if "text" in queries.columns and not known:
        found["query_texts"] = _texts(queries)
    return found


def _counting(run: Run, counts: Counts) -> Run:
    def scan() -> Iterator[pl.DataFrame]:
        seen: set[str] = set()
        for frame in run.scan():
            counts["results"] += frame.height
            has_item = "item" in frame.columns
            counts["results_without_id"] += (
                frame["item"].null_count() if has_item else frame.height
            )
            for name, column in _OF_RESULTS.items():
                if column in frame.columns:
                    counts[name] += frame[column].count()
            if run.queries is not None:
                seen.update(frame["query"].unique().to_list())
            yield frame
        if run.queries is not None:
            counts["queries_without_results"] += run.queries.height - len(seen)

    return replace(run, scan=scan)


@dataclass(eq=False)
class Remarks:
    """Sentences with counts, in order of first use."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, template: str, count: int = 1) -> None:
        """Count one kind of change; ``{n}`` in the template becomes the total."""
        if count:
            self.counts[template] += count

    def sentences(self) -> list[str]:
        """The sentences with their counts filled in."""
        return [
            Sentence(
                template.replace("{n}", f"{count:,}"),
                [*facts_of(template), Fact(about="count", count=count, text="changed")],
            )
            for template, count in self.counts.items()
        ]


AT_ONCE = 2_000
"""Queries held as Python objects at once."""


def query_records(dataset: Dataset, missing: Counter[str]) -> Iterator[dict[str, object]]:
    """Yield every query once as one of our records, a few thousand in memory at a time.

    ``missing`` counts the queries that only one side has.
    """
    truth = dataset.ground_truth
    run = dataset.run
    seen: set[str] = set()
    if run is not None and run.queries is None:
        # Results streamed from a file set the order, so that they need not wait.
        for batch in run.ranked():
            names = batch.queries.to_list()
            seen.update(names)
            ends = [*batch.starts[1:].tolist(), batch.frame.height]
            for first in range(0, len(names), AT_ONCE):
                last = min(first + AT_ONCE, len(names))
                rows = batch.frame[int(batch.starts[first]) : ends[last - 1]]
                yield from _records(dataset, names[first:last], rows, missing)
    kept = run.frame if run is not None and run.queries is not None else None
    sides = [one.queries for one in (truth, run) if one is not None]
    asked = [one["query"] for one in (*sides, kept) if one is not None]
    waiting = (
        fromkey
        for fromkey in dict.fromkeys(chain.from_iterable(asked))
        if fromkey not in seen
    )
    while some := list(islice(waiting, AT_ONCE)):
        yield from _records(dataset, some, kept, missing)


def _records(
    dataset: Dataset, names: list[str], rows: pl.DataFrame | None, missing: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield some queries, each in its shortest form, as written by hand."""
    asked = pl.DataFrame({"query": names}, schema={"query": pl.String})
    truth = dataset.ground_truth
    run = dataset.run
    targets = _by_query(None if truth is None else truth.targets, asked)
    further = {
        "forbidden": _by_query(None if truth is None else truth.forbidden, asked),
        "excluded": _by_query(None if truth is None else truth.excluded, asked),
    }
    known = _by_query(None if truth is None else with_tags(truth), asked)
    results = _by_query(rows, asked)
    answered = _by_query(None if run is None else run.queries, asked)
    stages: dict[str, dict[str, list[Any]]] = {
        name: {query: [] for query in _by_query(stage.queries, asked)}
        | _by_query(stage.frame, asked)
        for name, stage in (run.stages if run is not None else {}).items()
    }
    for name in names:
        lacking = None
        if truth is not None and name not in known:
            lacking = "ground_truth"
        elif run is not None and name not in results and name not in answered:
            lacking = "run"
        # From either side; the ground truth's text of a query wins over the run's.
        about = {**answered.get(name, [{}])[0], **known.get(name, [{}])[0]}
        text = about.get("text", name)
        found: dict[str, Any] = (
            {"id": name, "query": text} if text != name else {"query": name}
        )
        if tags := {
            k.removeprefix(TAG): v for k, v in about.items() if k.startswith(TAG)
        }:
            found["tags"] = tags
        if run is not None and lacking != "run":
            found["retrieved"] = _results(results.get(name, []))
        if truth is not None and lacking != "ground_truth":
            found["ground_truth"] = _targets(targets.get(name, []))
            if truth.only_returned:
                # Grades alone do not say it, where a result was not judged.
                found["judged_only"] = "returned"
        found |= {
            part: _results(some[name]) for part, some in further.items() if name in some
        }
        if of_stages := {
            one: _results(some[name]) for one, some in stages.items() if name in some
        }:
            found["stages"] = of_stages
        found |= {part: about[part] for part in ("latency_ms", "error") if part in about}
        if lacking is not None:
            missing[lacking] += 1
            found["missing_from"] = lacking
        yield found


def with_tags(truth: GroundTruth) -> pl.DataFrame:
    """The queries of a ground truth with their texts and one column per tag."""
    tags = (column.alias(f"{TAG}{name}") for name, column in truth.tags.items())
    return truth.queries.select("query", "text").with_columns(*tags)


def _by_query(
    frame: pl.DataFrame | None, asked: pl.DataFrame
) -> dict[str, list[dict[str, object]]]:
    """The rows of the queries in ``asked``, without empty fields."""
    lists: dict[str, list[dict[str, object]]] = {}
    if frame is None:
        return lists
    found = frame.join(asked, on="query", how="semi", maintain_order="left")
    names = [name for name in frame.columns if name not in ("query", "rank")]
    for query, *row in found.select("query", *names).iter_rows():
        present = {k: v for k, v in zip(names, row, strict=True) if v is not None}
        lists.setdefault(query, []).append(present)
    return lists


def records(parts: Iterable[Dataset], remarks: Remarks) -> Iterator[dict[str, object]]:
    """Yield every query as one of our records."""
    for part in parts:
        yield from query_records(part, missing := Counter[str]())
        for side in ("run", "ground_truth"):
            remarks.add(
                f"Queries that the {side.replace('_', ' ')} does not have, marked as missing_from "
                "it: {n}.",
                missing[side],
            )


def _results(rows: list[dict[str, object]]) -> list[object]:
    """Results as plain ids if they have nothing else, else objects."""
    if all(list(row) == ["item"] for row in rows):
        return [row["item"] for row in rows]
    return [_named(row) for row in rows]


def _targets(rows: list[dict[str, Any]]) -> Any:
    """Targets as a mapping of id to grade if they have nothing else, else objects."""
    if rows and all(row.keys() == {"item", "grade"} for row in rows):
        return {row["item"]: plain_number(row["grade"]) for row in rows}
    return [_graded(_named(row)) for row in rows]


def _named(row: dict[str, object]) -> dict[str, object]:
    """A result or target with its id under ``id``, as in records."""
    if "item" not in row:
        return row
    return {"id": row["item"], **{k: v for k, v in row.items() if k != "item"}}


def _graded(row: dict[str, Any]) -> dict[str, Any]:
    grade = row["grade"]
    rest = {key: value for key, value in row.items() if key != "grade"}
    # Without its grade, an id such as - would be read as no target.
    short = grade == 1 and rest.get("id") not in EMPTY
    return rest if short else {**rest, "grade": plain_number(grade)}


def plain_number(value: float) -> int | float:
    """A whole number without its ``.0``.

    >>> plain_number(3.0), plain_number(0.5)
    (3, 0.5)
    """
    return int(value) if value.is_integer() else value


def write_records(records: list[dict[str, Any]], path: str | Path) -> None:
    """Write records as JSON lines, atomically."""
    encoder = msgspec.json.Encoder()
    with whole_file(path) as file:
        for record in records:
            file.write(encoder.encode(record) + b"\n")
