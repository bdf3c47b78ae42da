"""Facts about one system at one k, each computed when a rule asks for it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from calipers.measures.counts import recall
from calipers.measures.gain import ndcg
from calipers.measures.views import Found, Gains, ratio
from calipers.model.arrays import Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches
from calipers.model.scores import Interval, Scores
from calipers.model.slicing import clusters_in
from calipers.questions.shown_results import Context, wanted_per_query
from calipers.questions.sweep.result import RecallAdvice
from calipers.questions.sweep.rule import advise_recall, usual_cutoffs
from calipers.questions.tokens import TokenCounts
from calipers.statistics.clusters import exact_mean
from calipers.statistics.score_interval import UNIT, Bounds, mean_interval

MANY_NEEDS = 3
"""With fewer needs that differ, the same list for all of them says nothing."""


@dataclass(frozen=True)
class Fact:
    """The mean of a quantity over the queries that bear on it."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the rules look at. A fact is None where no query bears on it."""

    k: int
    scores: Scores
    """recall, precision, ndcg, mrr, hit_rate and judged at k."""
    ground_truth: GroundTruth
    matches: Matches
    context: Context
    rel: float | None
    tokens: TokenCounts | None
    price: float | None
    cuts: tuple[str, ...] | None = None
    """How to slice the queries; None: in every way they allow."""
    ks: tuple[int, ...] | None = None
    """The k among which a smaller one is advised; None: those of a sweep."""

    def metric(self, stem: str) -> Floats:
        """The values of a metric at k, one per query."""
        for column, metric in enumerate(self.scores.metrics):
            if metric.stem.partition("(")[0] == stem:
                return self.scores.values[:, column]
        raise KeyError(stem)

    def fact(self, values: Floats, bounds: Bounds = UNIT) -> Fact | None:
        """Mean and interval of a column, NaN left out."""
        defined = values[~np.isnan(values)]
        if not defined.size:
            return None
        level = self.scores.settings["confidence"]
        interval = mean_interval(values, level, bounds, clusters_in(self.scores))
        return Fact(exact_mean(defined), interval, defined.size)

    @property
    def judges_results(self) -> bool:
        """Whether the ground truth judges results by their ids.

        Quotes and spans name evidence instead: a result without it is wrong, not unjudged.
        """
        return str(self.scores.settings.get("match", "id")).startswith(("id", "document"))

    @cached_property
    def wanted(self) -> Ints:
        """How many targets each query has to find."""
        return wanted_per_query(self.matches, self.rel)

    @cached_property
    def answerable(self) -> np.ndarray:
        """Which queries have anything to find and are measured at all."""
        return (self.wanted > 0) & ~np.isnan(self.metric("recall"))

    @cached_property
    def shown(self) -> Floats:
        """How many results each query shows, k at most."""
        return np.minimum(self.matches.retrieved, self.k).astype(np.float64)

    @cached_property
    def useful_share(self) -> Floats:
        """The share of what was shown that holds a target; NaN where nothing was shown."""
        useful = self.context.summed(self.context.holds_target, self.k)
        return self._per_shown(useful)

    @cached_property
    def repeated_share(self) -> Floats:
        """The share of what was shown that repeats an earlier result."""
        repeated = self.context.summed(self.context.repeats, self.k)
        return np.where(self.shown > 0, repeated / np.maximum(self.shown, 1), np.nan)

    @cached_property
    def best_order_ndcg(self) -> Floats:
        """nDCG at k if the very results that were shown stood in the best order."""
        matches, ndcg = self.matches, self.metric("ndcg")
        shown = np.zeros(matches.target_grade.size, dtype=np.bool_)
        shown[matches.edge_target[matches.edge_rank <= self.k]] = True
        grade = np.where(shown, matches.target_grade, 0.0)
        best = ratio(
            _best_dcg(replace(matches, target_grade=grade), self.k), _best_dcg(matches, self.k)
        )
        return np.where(np.isnan(ndcg), np.nan, np.maximum(best, ndcg))

    def ndcg_in(self, order: Literal["reversed", "both ends"]) -> Floats:
        """nDCG at k of what is shown, read from its end, or from both ends towards the middle."""
        matches = self.matches
        kept = np.flatnonzero(matches.edge_rank <= self.k)
        query, rank = matches.edge_query[kept], matches.edge_rank[kept]
        last = self.shown[query].astype(np.int64)
        behind = last + 1 - rank
        from_ends = np.where(rank <= behind, 2 * rank - 1, 2 * behind)
        rank = behind if order == "reversed" else from_ends
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
    def reading(self) -> tuple[Floats, bool]:
        """nDCG at k as the list is best read, and whether that is from both ends.

        Who puts the best results first and last, because language models use these places most,
        has ordered them well.
        """
        straight, ends = self.metric("ndcg"), self.ndcg_in("both ends")
        from_ends = bool(np.nanmean(ends) > np.nanmean(straight))
        return (ends if from_ends else straight), from_ends

    @cached_property
    def possible_recall(self) -> Floats:
        """The recall at k of a perfect ranking; 1 where one result may hold several targets."""
        if not self.matches.is_one_to_one:
            return np.where(self.answerable, 1.0, np.nan)
        reachable = np.minimum(self.wanted, self.k) / np.maximum(self.wanted, 1)
        return np.where(self.answerable, reachable, np.nan)

    @cached_property
    def answered(self) -> Floats:
        """Recall at k over what is possible, of the queries that got any results."""
        got = self.answerable & (self.shown > 0)
        return np.where(got, self.metric("recall") / self.possible_recall, np.nan)

    @cached_property
    def has_commonest_list(self) -> Floats | None:
        """Per query with results: whether they are the very list that most queries get.

        None where those who get it ask for the same things, or too few ask for different ones.
        """
        frame = self.context.frame
        if "item" not in frame.columns or not self.judges_results:
            return None
        truth = self.ground_truth
        needs = (
            pl.DataFrame({"code": truth.target_query, "item": truth.targets["item"]})
            .group_by("code")
            .agg(pl.col("item").sort().str.join("\n").alias("need"))
        )
        lists = (
            frame.filter((pl.col("rank") <= self.k) & pl.lit(self.answerable[self.context.code]))
            .group_by("code", maintain_order=True)
            .agg(pl.col("item").str.join("\n").alias("list"))
            .join(needs.with_columns(pl.col("code").cast(pl.Int64)), on="code")
        )
        if lists.is_empty():
            return None
        commonest = lists["list"].mode().sort()[0]
        alike = lists.filter(pl.col("list") == commonest)
        if alike.n_unique("need") < max(MANY_NEEDS, alike.height / 2):
            return None
        share = np.full(self.matches.n_queries, np.nan)
        share[lists["code"].to_numpy()] = (lists["list"] == commonest).to_numpy()
        return share

    @cached_property
    def middle_excess(self) -> Floats:
        """Per query with hits: share of them in the middle third, less what chance would put there.

        Only lists of at least six results have a middle worth the name.
        """
        context, n = self.context, self.matches.n_queries
        length = self.shown[context.code]
        place = (context.rank - 0.5) / np.maximum(length, 1)
        in_middle = (place > 1 / 3) & (place < 2 / 3) & (length >= 6)
        hits = context.summed(context.holds_target & (length >= 6), self.k)
        middle_hits = context.summed(context.holds_target & in_middle, self.k)
        middle = context.summed(in_middle, self.k)
        excess = np.full(n, np.nan)
        has = (hits > 0) & self.answerable
        excess[has] = middle_hits[has] / hits[has] - middle[has] / self.shown[has]
        return excess

    @cached_property
    def wrong_chunk_share(self) -> Floats | None:
        """Per query with misses: share of them whose document is shown; None without documents."""
        documents = self._target_documents()
        if documents is None or "document" not in self.context.frame.columns:
            return None
        matches = self.matches
        found = np.zeros(matches.target_grade.size, dtype=np.bool_)
        found[matches.edge_target[matches.edge_rank <= self.k]] = True
        missed = matches.relevant(self.rel) & ~found & documents.is_not_null().to_numpy()
        targets = pl.DataFrame({"code": matches.target_query, "document": documents})
        shown = (
            self.context.frame.filter(pl.col("rank") <= self.k)
            .select("code", "document")
            .drop_nulls()
            .unique()
            .with_columns(near=pl.lit(True))
        )
        near = targets.join(shown, on=["code", "document"], how="left", maintain_order="left")
        is_near = near["near"].fill_null(False).to_numpy()
        n = matches.n_queries
        misses = np.bincount(matches.target_query[missed], minlength=n)
        close = np.bincount(matches.target_query[missed & is_near], minlength=n)
        share: Floats = np.divide(close, misses, out=np.full(n, np.nan), where=misses > 0)
        return share

    def wasted_tokens(self) -> Floats | None:
        """Tokens per query in results among the first k that hold no target."""
        if self.tokens is None:
            return None
        wasted = np.where(self.context.holds_target, 0, self.tokens.counts)
        return self.context.summed(wasted, self.k)

    def tokens_at(self, k: int) -> float | None:
        """Mean tokens of the first k results, over queries with something to find."""
        if self.tokens is None:
            return None
        return float(self.context.summed(self.tokens.counts, k)[self.answerable].mean())

    def recall_at(self, k: int) -> Floats:
        """Recall per query at another k."""
        return np.where(self.answerable, recall(self._found, k), np.nan)

    @cached_property
    def enough_k(self) -> RecallAdvice | None:
        """The smallest k that loses little recall against this one, as a sweep has it."""
        ks = sorted({k for k in self.ks or usual_cutoffs(self.k) if k < self.k} | {self.k})
        return advise_recall(
            ks,
            np.column_stack([self.recall_at(k) for k in ks]),
            confidence=self.scores.settings["confidence"],
            clusters=clusters_in(self.scores),
        )

    @cached_property
    def _found(self) -> Found:
        return Found.of(self.matches, self.rel)

    def _per_shown(self, counts: Floats) -> Floats:
        has = (self.shown > 0) & self.answerable
        return np.where(has, counts / np.maximum(self.shown, 1), np.nan)

    def _target_documents(self) -> pl.Series | None:
        """The document of each target of the matches: as given, or as the run names it."""
        truth = self.ground_truth
        order = np.argsort(truth.target_query, kind="stable")
        documents = truth.targets["document"].gather(order)
        frame = self.context.frame
        if "document" in frame.columns and "item" in frame.columns:
            known = frame.select("item", "document").drop_nulls().unique("item", keep="first")
            items = truth.targets.select("item")[order]
            named = items.join(known, on="item", how="left", maintain_order="left")["document"]
            documents = pl.select(pl.coalesce(documents, named)).to_series()
        return None if documents.null_count() == len(documents) else documents


def _best_dcg(matches: Matches, k: int) -> Floats:
    """The DCG at k of all relevant targets in the best order."""
    gains = Gains.of(matches)
    return gains.ideal(gains.ideal_grade, k)
