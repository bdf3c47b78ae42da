"""What a dataset holds beyond plain ids, and what writing it changed: nothing goes in silence."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.run import Run
from calipers.names import words_in

Counts = Counter[str]

FACETS: dict[str, tuple[str, str]] = {
    "targets": ("target", "targets"),
    "grades": ("grade other than 1", "grades other than 1"),
    "not_relevant": ("target judged not relevant", "targets judged not relevant"),
    "groups": ("target with a group of alternatives", "targets with a group of alternatives"),
    "quotes": ("quote", "quotes"),
    "spans": ("target with start and end", "targets with start and end"),
    "spans_alone": ("target with a span and nothing else", "targets with a span and nothing else"),
    "targets_without_id": ("target without an id", "targets without an id"),
    "forbidden": ("thing that must not be found", "things that must not be found"),
    "tags": ("query with tags", "queries with tags"),
    "query_ids": ("query id beside its text", "query ids beside their texts"),
    "query_texts": ("text of a query beside its id", "texts of queries beside their ids"),
    "queries_without_targets": ("query without targets", "queries without targets"),
    "results": ("result", "results"),
    "scores": ("score", "scores"),
    "texts": ("text of a result", "texts of results"),
    "result_documents": ("result with its document", "results with their documents"),
    "pages": ("result with its page", "results with their pages"),
    "tokens": ("count of tokens", "counts of tokens"),
    "versions": ("result with its version", "results with their versions"),
    "calls": ("result with the number of its call", "results with the numbers of their calls"),
    "results_without_id": ("result without an id", "results without an id"),
    "latencies": ("latency", "latencies"),
    "errors": ("error of the retriever", "errors of the retriever"),
    "queries_without_results": ("query without results", "queries without results"),
    "stages": ("list of an earlier stage", "lists of earlier stages"),
    "missing_from_run": ("query missing from the run", "queries missing from the run"),
    "missing_from_ground_truth": (
        "query missing from the ground truth",
        "queries missing from the ground truth",
    ),
}
"""Each thing a form may be unable to hold, in words: one of it, several of it."""

EVERYTHING = frozenset(FACETS)
MISSING = frozenset({"missing_from_run", "missing_from_ground_truth"})
"""Queries that one side does not have, which two files of their own say by themselves."""
TRUTH_BY_ID = frozenset({"targets", "grades", "not_relevant", "query_ids"})
RESULTS_BY_ID = frozenset({"results", "scores", "query_ids", *MISSING})

DETAILS: dict[str, frozenset[str]] = {
    "targets": frozenset(
        {
            *words_in(
                "grades not_relevant groups quotes spans spans_alone targets_without_id "
                "queries_without_targets"
            ),
            *MISSING,
        }
    ),
    "targets_without_id": frozenset({"spans_alone"}),
    "results": frozenset(
        {
            *words_in(
                "scores texts result_documents pages tokens calls results_without_id latencies "
                "errors queries_without_results stages"
            ),
            *MISSING,
        }
    ),
}
"""What goes without saying where the whole is lost."""


def in_words(facet: str, count: int) -> str:
    """A count of one thing.

    >>> in_words("grades", 2)
    '2 grades other than 1'
    """
    one, many = FACETS[facet]
    return f"{count:,} {one if count == 1 else many}"


def counted(parts: Iterator[Dataset], counts: Counts) -> Iterator[Dataset]:
    """The same datasets; what passes is counted, the results whenever they are read."""
    queries = 0
    for part in parts:
        for held in (part.ground_truth, part.run):
            queries += held.queries.height if held and held.queries is not None else 0
        if part.ground_truth is not None:
            counts.update(_of_truth(part.ground_truth))
        if part.run is None:
            yield part
            continue
        counts.update(_of_queries(part.run, known=part.ground_truth is not None))
        before = counts["results"]
        watched = _watched(part.run, counts, part.ground_truth)
        yield replace(part, run=watched)
        if counts["results"] == before:
            # The form has no place for results, so nobody read them; say how many they were.
            for _ in watched.scan():
                pass
    if not queries and not counts["results"]:
        # Raised while the writer waits for more, so that no empty file takes its name.
        raise InvalidInput(
            "The input holds no queries, so there is nothing to write; check that it is the right "
            "file."
        )


def _of_truth(truth: GroundTruth) -> Counts:
    targets, grade = truth.targets, truth.targets["grade"]
    found = Counter(
        targets=targets.height,
        grades=int(((grade > 0) & (grade != 1)).sum()),
        not_relevant=int((grade <= 0).sum()),
        groups=targets["group"].count(),
        quotes=targets["quote"].count(),
        spans=targets["start"].count(),
        spans_alone=targets.filter(pl.col("item").is_null() & pl.col("quote").is_null()).height,
        targets_without_id=targets["item"].null_count(),
        queries_without_targets=truth.queries.height - targets["query"].n_unique(),
        forbidden=0 if truth.forbidden is None else truth.forbidden.height,
        **_texts(truth.queries),
    )
    if truth.tags:
        tags = pl.DataFrame(dict(truth.tags))
        tagged = tags.select(pl.any_horizontal(pl.all().is_not_null()))
        found["tags"] = int(tagged.to_series().sum())
    return found


def _texts(queries: pl.DataFrame) -> dict[str, int]:
    different = queries.filter(pl.col("text").is_not_null() & (pl.col("text") != pl.col("query")))
    return {"query_ids": different.height, "query_texts": different.height}


def _of_queries(run: Run, *, known: bool) -> Counts:
    """What stands beside the results; the texts are counted where no ground truth has them."""
    queries = run.queries
    found: Counts = Counter(
        stages=sum(0 if one.queries is None else one.queries.height for one in run.stages.values())
    )
    if queries is None:
        return found
    for name, column in (("latencies", "latency_ms"), ("errors", "error")):
        if column in queries.columns:
            found[name] = queries[column].count()
    if "text" in queries.columns and not known:
        found.update(_texts(queries))
    return found


def _watched(run: Run, counts: Counts, truth: GroundTruth | None) -> Run:
    columns = {
        "scores": "score",
        "texts": "text",
        "result_documents": "document",
        "pages": "page",
        "tokens": "tokens",
        "calls": "call",
        "versions": "version",
    }

    def scan() -> Iterator[pl.DataFrame]:
        seen: set[str] = set()
        for frame in run.scan():
            counts["results"] += frame.height
            has_item = "item" in frame.columns
            counts["results_without_id"] += frame["item"].null_count() if has_item else frame.height
            for name, column in columns.items():
                if column in frame.columns:
                    counts[name] += frame[column].count()
            if run.queries is not None or truth is not None:
                seen.update(frame["query"].unique().to_list())
            yield frame
        if run.queries is not None:
            counts["queries_without_results"] += run.queries.height - len(seen)
            seen.update(run.queries["query"])
        if truth is not None:
            known = set(truth.queries["query"])
            counts["missing_from_run"] += len(known - seen)
            counts["missing_from_ground_truth"] += len(seen - known)

    return replace(run, scan=scan)


@dataclass(eq=False)
class Remarks:
    """Sentences with counts, in the order in which they came up."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: str, count: int = 1) -> None:
        """Note one kind of change; ``{n}`` in the sentence will be how often it happened."""
        if count:
            self.counts[sentence] += count

    def sentences(self) -> list[str]:
        """The sentences with their numbers."""
        return [sentence.replace("{n}", f"{count:,}") for sentence, count in self.counts.items()]


def note_filled(filled: Counter[str], remarks: Remarks) -> None:
    """Say how many queries were on one side only."""
    for side, what in (("run", "results"), ("ground_truth", "targets")):
        remarks.add(
            f"Queries missing from the {side.replace('_', ' ')}, written with an empty list of "
            f"{what}: {{n}}.",
            filled[f"missing_from_{side}"],
        )
