"""Browse the queries of one evaluation, a page at a time."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, StoreAway
from calipers.match.pair import match_pair
from calipers.model.arrays import Ints
from calipers.model.evaluation import Evaluation
from calipers.model.matched import Matched
from calipers.model.matching import Matching
from calipers.model.scores import MetricFacts, Scores
from calipers.present.escape import clean
from calipers.present.paging import PAGE_SIZE, Page, page_of
from calipers.questions.compare.query_differences import ContrastRow
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.shown_results import ceilings, list_results, wanted_one_by_one
from calipers.store.load import load_retrieved
from calipers.store.open import Store
from calipers.words import did_you_mean

SHOWN = ("recall", "precision", "ndcg", "mrr")
"""The metrics in the list of queries, at the cut-off of the evaluation."""
RESULT = ("item", "score", "title", "text", "document", "start", "end")
"""What is shown of a result."""
DEFAULT_K = 10
FEWEST_SHOWN = 10
"""The fewest results of a ranking that a page shows, even if k is smaller."""


_EXPLAINING = threading.RLock()
"""Only one evaluation is explained at a time, to limit memory."""
MOST_VALUES = 50
"""Tags with more values than this cannot be filtered by."""


def tag_values(scores: Scores) -> dict[str, list[str]]:
    """The values of each tag that has few enough to filter by."""
    by_tag = {}
    for name, tag in scores.tags.items():
        values = tag.drop_nulls().cast(pl.String).unique().sort().to_list()
        if 1 < len(values) <= MOST_VALUES:
            by_tag[name] = values
    return by_tag


def with_tags(scores: Scores, slices: Mapping[str, str]) -> pl.Series:
    """The queries with these tag values."""
    unknown = [tag for tag in slices if tag not in scores.tags]
    if unknown:
        raise InvalidInput(
            f"The queries have no tag {unknown[0]!r:.60}; they have "
            f"{', '.join(scores.tags) or 'none'}."
        )
    fits = pl.Series([True]).new_from_index(0, len(scores.queries))
    for tag, value in slices.items():
        fits &= (scores.tags[tag].cast(pl.String) == value).fill_null(False)
    return scores.queries["query"].filter(fits)


@dataclass(frozen=True, kw_only=True)
class View:
    """Which queries to list, in which order; all of it fits into a URL."""

    text: str = ""
    """Words to find in the query or its id."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """The values that a query must have, by tag."""
    failures: bool = False
    """Only queries without a hit among the first k."""
    sort: str = ""
    """A metric, "query" or "missed"; empty: the worst first."""
    down: bool = False
    page: int = 1


@dataclass(frozen=True)
class QueryRow:
    """One query in the list."""

    row: int
    """Its index in the evaluation, from 0."""
    query: str
    text: str | None
    status: str
    tags: Mapping[str, str | None]
    values: Mapping[str, float | None]
    missed: int | None
    """The number of targets not in the first k; None if unknown."""


@dataclass(eq=False)
class Browse:
    """One evaluation. ``pair`` is None if the results were not saved."""

    name: str
    scores: Scores
    pair: Matched | None = None
    corpus: Any = None
    """The indexed documents, to explain misses in more detail."""
    _misses: Misses | None = field(default=None, repr=False)

    @cached_property
    def _deepest(self) -> dict[str, MetricFacts]:
        """The saved metric with the largest cut-off, by kind of metric."""
        ordered = sorted(self.scores.metrics, key=lambda metric: metric.k or 0)
        return {metric.kind: metric for metric in ordered}

    @cached_property
    def k(self) -> int:
        """The cut-off for misses: that of recall, or else the largest."""
        recall = self._deepest.get("recall")
        known = [
            metric.k
            for metric in ([recall] if recall else self.scores.metrics)
            if metric.k
        ]
        return max(known, default=DEFAULT_K)

    @cached_property
    def shown(self) -> list[str]:
        """The metrics in the list: the main ones among those saved."""
        telling = [self._deepest[kind].name for kind in SHOWN if kind in self._deepest]
        return (telling or self.metrics)[: len(SHOWN)]

    @cached_property
    def _found(self) -> tuple[Ints, Ints] | None:
        """How many targets each query has, and how many are in the first k; None: unknown."""
        if self.pair is None:
            return None
        matches = self.pair.matches
        relevant = matches.relevant(self.pair.rel)
        near = (matches.edge_rank <= self.k) & relevant[matches.edge_target]
        wanted, found = (
            # Alternatives of one unit count once.
            np.bincount(
                matches.target_query[some][np.unique(matches.target_unit[some], True)[1]],
                minlength=matches.n_queries,
            )
            for some in (np.flatnonzero(relevant), matches.edge_target[near])
        )
        # A query that is not counted has no misses.
        counts = ~np.isnan(self.scores.values).all(axis=1)
        return np.where(counts, wanted, 0), np.where(counts, found, 0)

    def explain(self) -> Misses:
        """Why targets are missing; computed once."""
        if self.pair is None:
            raise InvalidInput(
                "What was retrieved was not kept, so misses cannot be explained."
            )
        with _EXPLAINING:
            if self._misses is None:
                self._misses = explain_misses(self.pair, self.k, corpus=self.corpus)
            return self._misses

    def why(self, queries: Sequence[str]) -> dict[str, str]:
        """Why each of these queries misses something, in words; only queries with misses."""
        lost = self.explain().by_query.filter(
            pl.col("query").is_in(pl.Series(queries).implode())
        )
        means = {reason_kind.name: reason_kind.means for reason_kind in REASONS}
        by_query: dict[str, list[str]] = {}
        for query, reason in (
            lost.select("query", "reason").unique(maintain_order=True).iter_rows()
        ):
            by_query.setdefault(query, []).append(means[reason])
        return {query: "; ".join(reasons) for query, reasons in by_query.items()}

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per query, with every column to filter or sort by."""
        scores = self.scores
        frame = pl.DataFrame(
            [
                *scores.queries.select("query", "text", "status"),
                *(tag.alias(f"tag.{name}") for name, tag in scores.tags.items()),
                *(
                    pl.Series(name, scores.of(name)).fill_nan(None)
                    for name in self.metrics
                ),
            ]
        ).with_row_index("row")
        missed = pl.lit(None, dtype=pl.Int64)
        failed = pl.col(self.shown[0]) == 0
        if self._found is not None:
            wanted, found = self._found
            missed = pl.lit(pl.Series(wanted - found))
            failed = pl.lit(pl.Series((wanted > 0) & (found == 0)))
        return frame.with_columns(
            missed=missed,
            failed=failed,
            searched=pl.concat_str(
                "query", pl.col("text").fill_null(""), separator="\n"
            ).str.to_lowercase(),
        )

    @property
    def metrics(self) -> list[str]:
        """All saved metrics."""
        return [facts.name for facts in self.scores.metrics]

    @property
    def tags(self) -> dict[str, list[str]]:
        """The values of each tag that has few enough to filter by."""
        return tag_values(self.scores)

    @cached_property
    def _worst(self) -> list[str]:
        first = [
            self._deepest[kind].name
            for kind in ("recall", "ndcg")
            if kind in self._deepest
        ]
        return first or self.shown[:1]

    def select(self, view: View) -> Page:
        """One page of the queries that match a view."""
        known = [*self.metrics, "query", "missed"]
        if view.sort and view.sort not in known:
            raise InvalidInput(
                f"The queries have no {view.sort!r:.60}; they have {', '.join(known)}."
                f"{did_you_mean(view.sort, known)}"
            )
        found = self.table.lazy()
        for condition in self._conditions(view):
            found = found.filter(condition)
        # Sorting needs few columns; the rest is read from the table for the listed rows.
        by = {"": self._worst, "query": ["searched"]}.get(view.sort, [view.sort])
        rows = (
            found.select("row", *by)
            .sort(
                [*by, "row"], descending=[view.down] * len(by) + [False], nulls_last=True
            )
            .select("row")
            .collect()["row"]
        )
        within, page, pages = page_of(len(rows), view.page, PAGE_SIZE)
        chosen = self.table[rows[within].to_numpy()]
        return Page(tuple(self._rows(chosen)), len(rows), self.table.height, page, pages)

    def _conditions(self, view: View) -> Iterator[pl.Expr]:
        words = view.text.strip().lower()
        if words:
            yield pl.col("searched").str.contains(words, literal=True)
        if view.slices:
            yield pl.col("query").is_in(with_tags(self.scores, view.slices).implode())
        if view.failures:
            yield pl.col("failed")

    def _rows(self, chosen: pl.DataFrame) -> Iterator[QueryRow]:
        for row in chosen.iter_rows(named=True):
            yield QueryRow(
                row["row"],
                row["query"],
                row["text"],
                row["status"],
                {name: row[f"tag.{name}"] for name in self.scores.tags},
                {name: row[name] for name in self.metrics},
                row["missed"],
            )

    @property
    def worst_first(self) -> Ints:
        """The rows sorted from worst to best, those without a value last."""
        order: Ints = np.lexsort([self.scores.of(name) for name in reversed(self._worst)])
        return order

    def rankings(self, wanted: pl.Series | None = None) -> pl.DataFrame:
        """The results of these queries (default: all), as deep as a page shows them."""
        if self.pair is None:
            return pl.DataFrame()
        return rank_table(self.pair, max(self.k, FEWEST_SHOWN), wanted)

    @property
    def targets(self) -> pl.DataFrame:
        """The targets, in the order of the numbers in ``rankings``."""
        return pl.DataFrame() if self.pair is None else self.pair.targets

    @property
    def by_id(self) -> bool:
        """Whether results are judged by id, and not by quotes or spans."""
        return self.scores.recorded.match in ("id", "document")

    @cached_property
    def ceilings(self) -> dict[str, float]:
        """The highest possible precision with this ground truth, by metric."""
        wanted = None if self.pair is None else wanted_one_by_one(self.pair)
        found = {
            metric.name: most
            for metric in self.scores.metrics
            if wanted is not None and metric.kind == "precision" and metric.k
            if (most := ceilings(wanted, metric.k)[1]) is not None
        }
        return found if any(most < 1 for most in found.values()) else {}

    def row_of(self, query: str) -> int | None:
        """The row of a query id, or None."""
        rows = self.table.filter(pl.col("query") == query)["row"]
        return int(rows[0]) if len(rows) else None

    def row(self, at: int) -> QueryRow:
        """The query in a row."""
        if not 0 <= at < self.table.height:
            raise InvalidInput(
                f"There is no query number {at}; the evaluation has {self.table.height}, "
                "from 0."
            )
        [found] = self._rows(self.table[at : at + 1])
        return found


def lost_because(
    systems: Mapping[str, Browse], rows: Iterable[ContrastRow]
) -> dict[str, str]:
    """Why queries of a comparison that got worse miss their targets, in words by query."""
    by_query: dict[str, list[str]] = {}
    for system, browse in systems.items():
        lost = [row.query for row in rows if system in row.worse]
        if not lost or browse.pair is None:
            continue
        whose = f"{clean(system)}: " if len(systems) > 2 else ""
        for query, reason in browse.why(lost).items():
            by_query.setdefault(query, []).append(whose + reason)
    return {query: ". ".join(reasons) for query, reasons in by_query.items()}


def open_saved(store: Store, evaluation: Evaluation, scores: Scores) -> Browse:
    """A saved evaluation, matched as it was when it was saved."""
    try:
        data = load_retrieved(store, evaluation)
    except StoreAway:
        raise
    except InvalidInput:
        return Browse(evaluation.name, scores, None)
    if data.ground_truth is None or data.run is None:
        return Browse(evaluation.name, scores, None)
    recorded = scores.recorded
    at_documents = recorded.match == "document"
    pair = match_pair(
        data.ground_truth,
        data.run,
        Matching(
            policy=scores.policy,
            match=None if at_documents else recorded.match,
            level=recorded.level,
            rel=recorded.rel,
            corpus_size=recorded.corpus_size,
        ),
        fingerprints=False,
    )
    browse = Browse(evaluation.name, scores, pair)
    # Before the misses are explained: both at once would need the memory of both.
    _ = browse.table
    return browse


def rank_table(
    pair: Matched, depth: int, wanted: pl.Series | None = None
) -> pl.DataFrame:
    """The first ``depth`` results of the ``wanted`` queries (default: all in the ground truth).

    Columns: ``query`` (its code), ``rank``, the columns of the result, ``targets`` (the
    numbers of the targets it contains), ``grade`` (the highest of them) and ``state``:
    relevant, not relevant (judged so), repeated (already ranked higher) or unjudged.
    """
    matches = pair.matches
    rel = pair.rel
    among = (
        None
        if wanted is None
        else matches.query_rows["query"].is_in(wanted.implode()).to_numpy()
    )
    listed = list_results(pair.run, matches, pair.policy.ties, depth, RESULT, among)
    matched = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "targets": matches.edge_target,
                "grade": matches.target_grade[matches.edge_target],
                "useful": matches.relevant(rel)[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg("targets", pl.col("grade").max(), pl.col("useful").any())
    )
    return (
        listed.join(matched, on=["query", "rank"], how="left", maintain_order="left")
        .with_columns(
            state=pl.when(pl.col("useful"))
            .then(pl.lit("relevant"))
            .when(pl.col("useful").is_not_null())
            .then(pl.lit("not relevant"))
            .when(pl.col("repeated"))
            .then(pl.lit("repeated"))
            .otherwise(pl.lit("unjudged"))
        )
        .drop("useful", "repeated")
        .sort("query", "rank")
    )
