"""Facts about one system at one k, each computed when a rule asks for it, and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.measures.counts import recall
from calipers.measures.views import Found, Gains, ratio
from calipers.model.arrays import Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches
from calipers.model.scores import Interval, Scores
from calipers.model.slicing import MOST_SLICES, clusters_in, cut, has_questions
from calipers.questions.diagnose.result import Confidence
from calipers.questions.shown_results import Context, wanted_per_query
from calipers.questions.slices.result import Slice
from calipers.questions.slices.rule import slice_scores
from calipers.questions.sweep.result import RecallAdvice
from calipers.questions.sweep.rule import advise_recall, usual_cutoffs
from calipers.questions.tokens import TokenCounts
from calipers.statistics.clusters import exact_mean
from calipers.statistics.score_interval import UNIT, Bounds, mean_interval


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
    """The k among which one is advised; None: those of a sweep."""

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

    def recall_at(self, k: int) -> Floats:
        """Recall per query at another k."""
        return np.where(self.answerable, recall(self._found, k), np.nan)

    @cached_property
    def enough_k(self) -> RecallAdvice | None:
        """The smallest k that loses little recall against the longest list, as a sweep has it."""
        ks = list(self.ks or usual_cutoffs(max(int(self.matches.retrieved.max()), 1)))
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


FEW = 20
"""With fewer queries than this a finding is a hint."""


def confidence(*deciding: tuple[Fact, float, int]) -> Confidence:
    """High where every interval lies beyond its threshold on the side that decides."""
    if min(fact.n for fact, _, _ in deciding) < FEW:
        return "low"
    for fact, threshold, side in deciding:
        if fact.interval is None:
            return "low"
        if (fact.interval.low < threshold) if side > 0 else (fact.interval.high > threshold):
            return "moderate"
    return "high"


def multi_hop(seen: Evidence) -> list[str]:
    """Whether queries with several targets suffer most."""
    recall = seen.metric("recall")
    several = seen.fact(np.where(seen.wanted > 1, recall, np.nan))
    one = seen.fact(np.where(seen.wanted == 1, recall, np.nan))
    if not several or not one or min(several.n, one.n) < 5 or several.value >= one.value:
        return []
    return [
        f"Queries with several targets are hit hardest: recall {several.value:.3f} ({several.n} "
        f"queries) against {one.value:.3f} with one target ({one.n})."
    ]


def raise_k(seen: Evidence, recall: Fact) -> list[str]:
    """How much more the longer lists hold, where they hold more."""
    depth = int(seen.matches.retrieved.max(initial=0))
    deeper = seen.fact(seen.recall_at(depth))
    if depth <= seen.k or not deeper or deeper.value <= recall.value + 0.01:
        return []
    return [f"Raise k: at k = {depth} recall is {deeper.value:.3f} (`calipers sweep`)."]


def waste(seen: Evidence) -> list[str]:
    """What is spent on results that hold no target, in tokens and in money."""
    wasted = seen.wasted_tokens()
    if wasted is None or seen.tokens is None:
        return []
    mean = float(wasted[seen.answerable].mean())
    roughly = " (estimated as characters / 4)" if seen.tokens.source == "estimate" else ""
    line = f"{mean:,.0f} tokens per query are spent on results that hold no target{roughly}"
    if seen.price is not None:
        line += f": {mean / 1000 * seen.price:,.2f} per 1,000 queries"
    return [f"{line}."]


def in_words(fact: Fact) -> str:
    """A mean with its interval."""
    ends = f" ({fact.interval.low:.3f}–{fact.interval.high:.3f})" if fact.interval else ""
    return f"{fact.value:.3f}{ends}"


def in_percent(fact: Fact) -> str:
    """A share with its interval."""
    ends = f" ({fact.interval.low:.0%}–{fact.interval.high:.0%})" if fact.interval else ""
    return f"{fact.value:.0%}{ends}"


def worst_slices(
    scores: Scores, *, gap: float, least: int, cuts: Sequence[str] | None = None
) -> list[Slice] | str:
    """Slices of at least so many queries, significantly below the rest by at least the gap.

    Where no cuts are named, all tags are looked at, the length of the query and the number of
    its targets; worst first. A sentence where the queries cannot be cut in any way.
    """
    cuts = usable_cuts(scores) if cuts is None else cuts
    if not cuts:
        return "the queries have no tags with a few values, and are alike in length and targets"
    recall = next(m.name for m in scores.metrics if m.stem.partition("(")[0] == "recall")
    found = slice_scores(scores, cuts, metrics=[recall])
    worst = [
        row
        for row in found.rows
        if row.is_worse and row.n >= least and row.difference is not None and row.difference <= -gap
    ]
    return sorted(worst, key=lambda row: row.difference or 0.0)


def usable_cuts(scores: Scores) -> list[str]:
    """The ways to cut these queries that give between 2 and 100 slices."""
    has_texts = has_questions(scores.queries)
    computed = [*(["length"] if has_texts else []), "targets"]
    few = [name for name, values in scores.tags.items() if 1 < values.n_unique() <= MOST_SLICES]
    named = [*few, *(name for name in computed if name not in scores.tags)]
    return [name for name in named if len(cut(scores, name)) > 1]
