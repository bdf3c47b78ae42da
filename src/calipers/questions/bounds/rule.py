"""The lowest and highest value of each metric over all ways to judge what nobody judged.

Each unjudged result is taken as irrelevant or as relevant, and with n of them there are 2^n
ways. Not all need to be tried: with the number of relevant ones held fixed, what there is to
find is the same for all ways, and moving a relevant result up never makes a metric worse. So for
every number m only two ways matter: the first m unjudged results are the relevant ones, or the
last m. Results below a cut-off matter as well: found relevant there, they are more to find, and
recall within the cut-off falls, the more the lower. So either none of them is relevant, or all.

A grade in between changes no metric but nDCG beyond these ways, and of nDCG only the highest
value: `gain_bounds` has it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from reprlib import repr as short
from typing import ClassVar

import numpy as np
import polars as pl

from calipers.engines.scoring import compute
from calipers.engines.summary import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.measures.define import Aggregate, from_scale, to_scale
from calipers.measures.gain import RELATIVE_GAIN
from calipers.measures.parameter import GainTable
from calipers.measures.views import Gains
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matched, Matches
from calipers.model.policy import Policy
from calipers.model.result import HasRows, Plain
from calipers.questions.bounds.gain import highest_ndcg
from calipers.questions.shown_facts import over_contexts
from calipers.questions.shown_results import Context
from calipers.statistics.clusters import exact_mean


@dataclass(frozen=True)
class Bound:
    """The mean of one metric as it is, and the limits of what it could be."""

    metric: str
    value: float | None
    """As it is: what nobody judged counts as wrong, or is passed over where the metric does so."""
    lowest: float | None
    highest: float | None
    all_irrelevant: float | None
    """Were every unjudged result irrelevant."""
    all_relevant: float | None
    """Were every unjudged result relevant. Not always the highest: recall and nDCG then have
    more to find, too."""
    n: int


@dataclass(frozen=True, repr=False)
class Bounds(Plain, HasRows):
    """The bounds of several metrics over one result."""

    shown_by: ClassVar[str] = "calipers.questions.bounds.show"

    bounds: tuple[Bound, ...]
    grade: float
    """What an unjudged result is graded where it is taken as relevant: the highest grade."""
    depth: int
    """How far down unjudged results are considered for a metric without a cut-off."""
    unjudged: int
    shown: int
    """Results down to that depth, repetitions left out."""
    skipped: tuple[str, ...]
    """Metrics that have no such bounds."""

    def __getitem__(self, metric: str) -> Bound:
        for one in self.bounds:
            if one.metric == metric:
                return one
        known = ", ".join(one.metric for one in self.bounds)
        raise InvalidInput(f"There are no bounds of {short(metric)}; there are those of {known}.")


ABOUT_JUDGING = frozenset({"judged", "unjudged", "rbp_residual"})
"""These measure how much was judged; they would say nothing if everything were."""
NOT_BY_JUDGEMENT = frozenset({"Coverage", "Leaks"})
"""Views of characters and of what is forbidden."""
NDCG = "ndcg"
DEPTH = 100
"""How deep a metric without a cut-off is looked at."""


def bound_metrics(pair: Matched, metrics: Sequence[Metric], *, depth: int = DEPTH) -> Bounds:
    """Each metric as it is, with the lowest and highest value that more judgements could give."""
    bounded = [metric for metric in metrics if has_bounds(metric)]
    matches, policy, rel = pair.matches, pair.policy, pair.rel
    enforce(policy, audit_counts(pair.ground_truth, matches, pair.tally, depth=None, rel=rel))
    # A result below k that turns out relevant is one more to find, so all of them are listed.
    deepest = max([depth, *(one.k for one in bounded if one.k is not None)])
    grade = float(max(matches.highest_grade, rel or 0.0)) or 1.0
    tables = [np.empty((matches.n_queries, len(bounded))) for _ in range(5)]
    silent = np.ones(matches.n_queries, dtype=np.bool_)
    unjudged = shown = 0
    values = partial(_values, metrics=bounded, policy=policy, grade=grade, depth=depth)
    for codes, found, added, listed in over_contexts(pair, partial(_of_block, values, deepest)):
        for table, column in zip(tables, found, strict=True):
            table[codes] = column
        silent[codes] = False
        unjudged, shown = unjudged + added, shown + listed
    rest = np.flatnonzero(silent)
    found = values(matches.some(rest)[0], pl.DataFrame(schema=_LISTED))
    for table, column in zip(tables, found, strict=True):
        table[rest] = column
    return Bounds(
        bounds=_means(bounded, tables),
        grade=grade,
        depth=deepest,
        unjudged=unjudged,
        shown=shown,
        skipped=tuple(str(metric) for metric in metrics if not has_bounds(metric)),
    )


_LISTED = {"query": pl.Int64, "rank": pl.Int64, "repeated": pl.Boolean}


def _of_block(
    values: Callable[[Matches, pl.DataFrame], tuple[Floats, ...]], deepest: int, block: Context
) -> tuple[Ints, tuple[Floats, ...], int, int]:
    """The queries of a block, their values, and how many results are unjudged and shown."""
    listed = {"query": block.code, "rank": block.rank, "repeated": block.repeats}
    listing = pl.DataFrame(listed).filter(pl.col("rank") <= deepest)
    added = int(unjudged_results(block.matches, listing).added.sum())
    shown = listing.filter(~pl.col("repeated")).height
    return block.codes, values(block.matches, listing), added, shown


def check_bounded(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of which none has bounds, before any file is read."""
    if not any(map(has_bounds, metrics)):
        raise InvalidInput(
            f"None of the metrics has bounds: {', '.join(map(str, metrics))}; name one that counts "
            "relevant results, such as recall@10."
        )


@dataclass(frozen=True, eq=False)
class Unjudged:
    """Matches in which every unjudged result holds a target of its own, not yet graded."""

    matches: Matches
    added: Bools
    """Which targets stand for unjudged results."""
    ordinal: Ints
    """For those, 1 for the first unjudged result of its query, 2 for the second …"""


def has_bounds(metric: Metric) -> bool:
    """Whether judging more could move the metric, as far as this module can tell."""
    definition = metric.definition
    return definition.name not in ABOUT_JUDGING and definition.view.__name__ not in NOT_BY_JUDGEMENT


def unjudged_results(matches: Matches, listing: pl.DataFrame) -> Unjudged:
    """The matches with a target for each listed result that holds none and repeats none."""
    judged = pl.DataFrame({"query": matches.edge_query, "rank": matches.edge_rank}).unique()
    new = (
        listing.filter(~pl.col("repeated"))
        .join(judged, on=["query", "rank"], how="anti")
        .sort("query", "rank")
    )
    query, rank = (new[name].to_numpy().astype(np.int64) for name in ("query", "rank"))
    n, m = matches.target_query.size, query.size
    units = int(matches.target_unit.max(initial=-1)) + 1
    order = np.argsort(np.concatenate([matches.target_query, query]), kind="stable")
    place = np.empty(n + m, dtype=np.int64)
    place[order] = np.arange(n + m)

    item = matches.target_item
    if item is not None:
        item = np.concatenate([item, int(item.max(initial=-1)) + 1 + np.arange(m)])[order]
    edge_query = np.concatenate([matches.edge_query, query])
    edge_rank = np.concatenate([matches.edge_rank, rank])
    edge_target = np.concatenate([place[matches.edge_target], place[n:]])
    edges = np.lexsort((edge_target, edge_rank, edge_query))
    starts = np.searchsorted(query, query, side="left")
    return Unjudged(
        replace(
            matches,
            target_query=np.concatenate([matches.target_query, query])[order],
            target_grade=np.concatenate([matches.target_grade, np.zeros(m)])[order],
            target_unit=np.concatenate([matches.target_unit, units + np.arange(m)])[order],
            target_item=item,
            edge_query=edge_query[edges],
            edge_rank=edge_rank[edges],
            edge_target=edge_target[edges],
            edge_overlap=np.concatenate([matches.edge_overlap, np.ones(m)])[edges],
            spans=None,
        ),
        (np.arange(n + m) >= n)[order],
        np.concatenate([np.zeros(n, np.int64), np.arange(m) - starts + 1])[order],
    )


def _values(
    matches: Matches,
    listing: pl.DataFrame,
    metrics: Sequence[Metric],
    policy: Policy,
    *,
    grade: float,
    depth: int,
) -> tuple[Floats, ...]:
    """Per query and metric, over the unjudged results down to the depth, or its cut-off.

    As it is, the lowest, the highest, with all irrelevant, with all relevant.
    """
    as_is = compute(matches, metrics, policy)
    lowest, highest = np.full_like(as_is, np.inf), np.full_like(as_is, -np.inf)
    irrelevant, relevant = np.empty_like(as_is), np.empty_like(as_is)
    by_scope = {
        scope: unjudged_results(matches, listing.filter(pl.col("rank") <= scope))
        for scope in {max(depth, metric.k or 0) for metric in metrics}
    }
    for k in dict.fromkeys(metric.k for metric in metrics):
        columns = [i for i, metric in enumerate(metrics) if metric.k == k]
        chosen = [metrics[i] for i in columns]
        scope = max(depth, k or 0)
        unjudged = by_scope[scope]
        for number, grades in enumerate(_ways(unjudged, grade, k or scope)):
            values = compute(unjudged.matches.with_grades(grades), chosen, policy)
            lowest[:, columns] = np.fmin(lowest[:, columns], values)
            highest[:, columns] = np.fmax(highest[:, columns], values)
            if number == 0:
                irrelevant[:, columns] = values
            relevant[:, columns] = values
        for i in columns:
            if metrics[i].name == NDCG:
                peaks = _highest_ndcg(unjudged, metrics[i], grade)
                highest[:, i] = np.fmax(highest[:, i], peaks)
    return as_is, lowest, highest, irrelevant, relevant


def _means(metrics: Sequence[Metric], tables: Sequence[Floats]) -> tuple[Bound, ...]:
    # What is undefined as it is stays so: a query that has no answer by the ground truth does
    # not get one from here.
    defined = ~np.isnan(tables[0])
    result = []
    for i, metric in enumerate(metrics):
        counted, aggregate = defined[:, i], metric.definition.aggregate
        value, low, high, none, every = (_over_all(t[counted, i], aggregate) for t in tables)
        n = int(counted.sum())
        result.append(Bound(str(metric), value, low, high, none, every, n))
    return tuple(result)


def _ways(unjudged: Unjudged, grade: float, k: int) -> Iterator[Floats]:
    """The ways of judging that can be extreme: none relevant first, all relevant last."""
    matches, added = unjudged.matches, unjudged.added
    near = added[matches.edge_target] & (matches.edge_rank <= k)
    counts = np.bincount(matches.edge_query[near], minlength=matches.n_queries)
    within, numbers = counts[matches.target_query], range(int(counts.max(initial=0)) + 1)
    for m in numbers:
        relevant = added & (unjudged.ordinal <= np.minimum(m, within))
        yield np.where(relevant, grade, matches.target_grade)
    for m in numbers:
        relevant = added & (unjudged.ordinal > within - m)
        yield np.where(relevant, grade, matches.target_grade)


def _highest_ndcg(unjudged: Unjudged, metric: Metric, grade: float) -> Floats:
    """With any grades of the ground truth, not the highest alone.

    Where a result holds several targets, those found later may have to give way to an unjudged
    one; what is reached is then less than the sum taken here, and the bound still a bound.
    """
    matches, given = unjudged.matches, dict(metric.parameters)
    grades = matches.target_grade if matches.grades_in_all is None else matches.grades_in_all
    levels = np.unique(np.append(grades, grade))
    if (table := GainTable.read(str(given.get("gains", "")))) is not None:
        # What each grade is worth stands in place of it.
        levels = table.of(levels)
        matches = matches.with_grades(table.of(matches.target_grade))
    gain = RELATIVE_GAIN[str(given.get("gain", "linear"))]
    best = np.array(levels.max() or 1.0)
    gains = Gains.of(matches)
    reached = gains.discounted(gains.added(lambda one: gain(one, best)), metric.k)
    edges = unjudged.added[matches.edge_target]
    return highest_ndcg(
        reached,
        (gains.ideal_query, gain(gains.ideal_grade, best)),
        (matches.edge_query[edges], matches.edge_rank[edges]),
        gain(levels, best).tolist(),
        metric.k,
    )


def _over_all(values: Floats, aggregate: Aggregate) -> float | None:
    """The number for all queries, as an evaluation has it."""
    if not values.size:
        return None
    if aggregate == "sum":
        return math.fsum(values)
    return from_scale(exact_mean(to_scale(values, aggregate)), values.size, aggregate)
