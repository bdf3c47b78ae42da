"""Facts about one system at one k, each computed when a rule first needs it."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from calipers.measures.counts import recall
from calipers.measures.gain import ndcg
from calipers.measures.views import Found, Gains, ratio
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matched, Matches
from calipers.model.scores import Interval, Scores
from calipers.model.slicing import clusters_in
from calipers.questions.shown_results import (
    Context,
    over_contexts,
    wanted_per_query,
    with_documents,
)
from calipers.questions.sweep.result import RecallAdvice
from calipers.questions.sweep.rule import advise_recall, usual_cutoffs
from calipers.statistics.clusters import exact_mean
from calipers.statistics.score_interval import UNIT, mean_interval

MANY_NEEDS = 3
"""With fewer distinct needs, one list for all of them is no sign of a fault."""


@dataclass(frozen=True, eq=False)
class ShownFacts:
    """Facts about the first k results of every query."""

    queries: pl.DataFrame
    """By query: ``repeated`` (how many of the first k repeat an earlier one), ``listed`` (a hash of
    their ids), ``first`` (the document, or else the id, ranked first)."""
    near: Bools | None
    """Which targets have a chunk of their document in the first k; None without documents."""

    @classmethod
    def of(cls, pair: Matched, targets: pl.DataFrame, k: int) -> Self:
        """Read the results once more, block by block."""
        parts = [*over_contexts(pair, partial(_of_block, k), targets)]
        everyone = pl.DataFrame({"code": np.arange(pair.matches.n_queries)})
        queries = pl.concat([_NOTHING, *(one for one, _ in parts)])
        near = np.zeros(targets.height, dtype=np.bool_)
        for _, (rows, is_near) in parts:
            near[rows] = is_near
        return cls(
            everyone.join(queries, on="code", how="left", maintain_order="left"),
            near if pair.run.has("document") else None,
        )


_NOTHING = pl.DataFrame(
    schema={
        "code": pl.Int64,
        "repeated": pl.Int64,
        "listed": pl.UInt64,
        "first": pl.String,
    }
)


def _of_block(k: int, block: Context) -> tuple[pl.DataFrame, tuple[Ints, Bools]]:
    """The facts of one block of whole queries, and its targets that are near."""
    frame = block.first(k)
    missing = [name for name in ("item", "document") if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in missing)
    listed = frame.group_by("code", maintain_order=True).agg(
        pl.col("item").str.join("\n").hash().alias("listed"),
        pl.coalesce("document", "item").first().cast(pl.String).alias("first"),
    )
    if "item" in missing:
        listed = listed.with_columns(pl.lit(None, dtype=pl.UInt64).alias("listed"))
    codes = listed["code"].to_numpy()
    facts = listed.with_columns(
        pl.Series("code", block.codes[codes]),
        pl.Series("repeated", block.summed(block.repeats, [k])[codes, 0]),
    ).select(_NOTHING.columns)
    return facts, (block.target_rows, block.near(k))


@dataclass(frozen=True)
class Fact:
    """The mean of a quantity over the queries for which it is defined."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """The input of the rules. A fact is None if no query has it."""

    pair: Matched
    scores: Scores
    """recall, precision, ndcg, mrr, hit_rate and judged at k."""
    k: int

    @property
    def matches(self) -> Matches:
        """The matches of the pair."""
        return self.pair.matches

    @cached_property
    def _targets(self) -> pl.DataFrame:
        return with_documents(self.pair)

    @cached_property
    def facts(self) -> ShownFacts:
        """What the results themselves show."""
        return ShownFacts.of(self.pair, self._targets, self.k)

    def metric(self, stem: str) -> Floats:
        """The values of a metric at k, one per query."""
        for column, metric in enumerate(self.scores.metrics):
            if metric.kind == stem:
                return self.scores.values[:, column]
        raise KeyError(stem)

    def fact(self, values: Floats) -> Fact | None:
        """Mean and interval of a column, without NaN."""
        defined = values[~np.isnan(values)]
        if not defined.size:
            return None
        level = self.scores.settings["confidence"]
        interval = mean_interval(values, level, UNIT, clusters_in(self.scores))
        return Fact(exact_mean(defined), interval, defined.size)

    def share(self, which: Bools) -> Fact | None:
        """The share of the queries with targets that a mask selects."""
        return self.fact(np.where(self.answerable, which.astype(np.float64), np.nan))

    @property
    def judges_results(self) -> bool:
        """Whether the ground truth judges results by their ids.

        Quotes and spans name evidence instead: a result without it is wrong, not unjudged.
        """
        return str(self.scores.settings.get("match", "id")).startswith(("id", "document"))

    @cached_property
    def wanted(self) -> Ints:
        """How many targets each query has."""
        return wanted_per_query(self.matches, self.pair.rel)

    @cached_property
    def answerable(self) -> np.ndarray:
        """Which queries have targets and are measured."""
        return (self.wanted > 0) & ~np.isnan(self.metric("recall"))

    @cached_property
    def shown(self) -> Floats:
        """How many results each query returned, at most k."""
        return np.minimum(self.matches.retrieved, self.k).astype(np.float64)

    @cached_property
    def useful_share(self) -> Floats:
        """The share of the first k results that contain a target; NaN without results."""
        query, _ = self._useful
        useful = np.bincount(query, minlength=self.matches.n_queries)
        has = (self.shown > 0) & self.answerable
        return np.where(has, useful / np.maximum(self.shown, 1), np.nan)

    @cached_property
    def _useful(self) -> tuple[Ints, Ints]:
        """Query and rank of each of the first k results that contains a relevant target."""
        found, near = self._found, self._found.holding_rank <= self.k
        return found.holding_query[near], found.holding_rank[near]

    @cached_property
    def repeated(self) -> Ints:
        """How many of the first k results repeat an earlier one."""
        return self.facts.queries["repeated"].fill_null(0).to_numpy()

    @property
    def repeated_share(self) -> Floats:
        """The share of the first k results that repeat an earlier one."""
        return np.where(self.shown > 0, self.repeated / np.maximum(self.shown, 1), np.nan)

    @cached_property
    def best_order_ndcg(self) -> Floats:
        """nDCG at k of the same results in the best order."""
        matches, ndcg = self.matches, self.metric("ndcg")
        shown = np.zeros(matches.target_grade.size, dtype=np.bool_)
        shown[matches.edge_target[matches.edge_rank <= self.k]] = True
        grade = np.where(shown, matches.target_grade, 0.0)
        best = ratio(_best_dcg(matches.with_grades(grade), self.k), _best_dcg(matches, self.k))
        return np.where(np.isnan(ndcg), np.nan, np.maximum(best, ndcg))

    def ndcg_from(self, place: Literal["the end", "both ends"]) -> Floats:
        """nDCG at k of the same results read from the end, or from both ends to the middle."""
        matches = self.matches
        kept = np.flatnonzero(matches.edge_rank <= self.k)
        query, rank = matches.edge_query[kept], matches.edge_rank[kept]
        behind = self.shown[query].astype(np.int64) + 1 - rank
        between = np.where(rank <= behind, 2 * rank - 1, 2 * behind)
        rank = behind if place == "the end" else between
        by_rank = np.lexsort((rank, query))
        read = replace(
            matches,
            edge_query=query[by_rank],
            edge_rank=rank[by_rank],
            edge_target=matches.edge_target[kept][by_rank],
            edge_overlap=matches.edge_overlap[kept][by_rank],
        )
        return np.where(np.isnan(self.metric("ndcg")), np.nan, ndcg(Gains.of(read), self.k))

    @cached_property
    def possible_recall(self) -> Floats:
        """Recall at k of a perfect ranking; 1 where one result may contain several targets."""
        if not self.matches.is_one_to_one:
            return np.where(self.answerable, 1.0, np.nan)
        reachable = np.minimum(self.wanted, self.k) / np.maximum(self.wanted, 1)
        return np.where(self.answerable, reachable, np.nan)

    @cached_property
    def answered(self) -> Floats:
        """Recall at k relative to the possible recall, for queries with results."""
        got = self.answerable & (self.shown > 0)
        return np.where(got, self.metric("recall") / self.possible_recall, np.nan)

    @cached_property
    def _needs(self) -> pl.Series:
        """A hash of the targets of each query."""
        truth = self.pair.ground_truth
        named = pl.concat_str(
            pl.col("item", "quote", "document").cast(pl.String), ignore_nulls=True, separator="\n"
        )
        needs = truth.targets.select(
            named.alias("target"), pl.Series("code", truth.target_query, dtype=pl.Int64)
        )
        hashed = needs.group_by("code").agg(pl.col("target").sort().str.join("\n").hash())
        every = self.facts.queries.select("code")
        return every.join(hashed, on="code", how="left", maintain_order="left")["target"]

    def _commonest(self, given: pl.Series, asked: Bools) -> Any:
        """The value that most of these queries get if their targets differ enough; else None.

        Among equally common values, the one with the most distinct needs.
        """
        known = pl.DataFrame({"given": given, "need": self._needs}).filter(pl.Series(asked))
        most = (
            known.group_by("given")
            .agg(pl.len(), pl.col("need").n_unique())
            .sort("len", "need", "given", descending=[True, True, False])
        )
        if most.is_empty() or most["need"][0] < max(MANY_NEEDS, most["len"][0] / 2):
            return None
        return most["given"][0]

    @cached_property
    def _got_results(self) -> Bools:
        got: Bools = self.answerable & (self.shown > 0)
        return got

    @cached_property
    def has_commonest_list(self) -> Floats | None:
        """Per query with results: whether they are the list that most queries get.

        None if the queries that get it have the same targets, or too few have different ones.
        """
        listed = self.facts.queries["listed"]
        if listed.null_count() == len(listed) or not self.judges_results:
            return None
        found = self._commonest(listed, self._got_results)
        if found is None:
            return None
        return np.where(self._got_results, (listed == found).fill_null(False), np.nan)

    @cached_property
    def hub(self) -> tuple[str, Floats] | None:
        """The document that is wrongly ranked first most often, and for which queries.

        None without ids; all zeros if the queries that get it have the same targets.
        """
        first = self.facts.queries["first"].fill_null("")
        if (first == "").all():
            return None
        query, rank = self._useful
        wrong = self._got_results.copy()
        wrong[query[rank == 1]] = False
        found = self._commonest(first, wrong)
        is_first = wrong & (first == found).to_numpy() if found is not None else wrong & False
        return str(found), np.where(self._got_results, is_first, np.nan)

    @cached_property
    def wrong_chunk_share(self) -> Floats | None:
        """Per query with misses: share of them whose document is found; None without documents."""
        is_near = self.facts.near
        matches, has_document = self.matches, self._targets["document"].is_not_null().to_numpy()
        if is_near is None or not has_document.any():
            return None
        found = np.zeros(matches.target_grade.size, dtype=np.bool_)
        found[matches.edge_target[matches.edge_rank <= self.k]] = True
        missed = matches.relevant(self.pair.rel) & ~found & has_document
        n = matches.n_queries
        misses = np.bincount(matches.target_query[missed], minlength=n)
        close = np.bincount(matches.target_query[missed & is_near], minlength=n)
        share: Floats = np.divide(close, misses, out=np.full(n, np.nan), where=misses > 0)
        return share

    def recall_at(self, k: int) -> Floats:
        """Recall per query at another k."""
        return np.where(self.answerable, recall(self._found, k), np.nan)

    @cached_property
    def enough_k(self) -> RecallAdvice | None:
        """The smallest k that loses little recall against this one, as `sweep` advises."""
        ks = usual_cutoffs(self.k)
        return advise_recall(
            ks,
            np.column_stack([self.recall_at(k) for k in ks]),
            confidence=self.scores.settings["confidence"],
            clusters=clusters_in(self.scores),
        )

    @cached_property
    def _found(self) -> Found:
        return Found.of(self.matches, self.pair.rel)


def _best_dcg(matches: Matches, k: int) -> Floats:
    """The DCG at k of all relevant targets in the best order."""
    gains = Gains.of(matches)
    return gains.ideal(gains.ideal_grade, k)
