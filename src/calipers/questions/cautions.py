"""What makes a number say less than it seems: ties, and lists that are the whole corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from calipers.engines.scoring import compute
from calipers.measures import Metric
from calipers.measures.spec import parse
from calipers.model.arrays import Floats, Ints
from calipers.model.fact import Fact, Sentence, joined, replaced, sentence
from calipers.model.matched import Matched, Matches
from calipers.model.ranking import result_names
from calipers.model.scores import Scores
from calipers.present.scores import leading
from calipers.questions.shown_results import Context, over_contexts
from calipers.statistics.clusters import exact_mean

FAR = 0.02
"""So far apart must the worst and the best order of ties be to be worth a note."""
NAMED = 3
"""Systems of which a sentence says what ties decide; then "and 2 more"."""
MOST_RESULTS = 1_000_000
"""With more results than this nothing is looked at a second time."""
ORDER = ("ndcg", "mrr", "map")
FINDING = ("recall", "hit_rate", "precision", "f1")
"""With those of order, what is measured again with other ranks; spans have places of their own."""


def cautions(pair: Matched, scores: Scores, of: Sequence[str] | None = None) -> list[str]:
    """Notes on lists that are the whole corpus, and on ties that decide a mean.

    ``of`` are the metrics that ties may decide; default: those that lead.
    """
    if scores.audit.retrieved > MOST_RESULTS:
        return []
    return [*_whole_corpus(pair, scores), *_ties(pair, scores, of)]


def _whole_corpus(pair: Matched, scores: Scores) -> Iterator[str]:
    """A note where every query gets the same results, and with them all that it should find."""
    every = pair.matches.retrieved
    depth = int(every.min()) if every.size else 0
    whole = [
        metric.name
        for metric in scores.metrics
        if metric.kind == "recall" and (metric.k is None or metric.k >= depth)
    ]
    if len(every) < 2 or depth < 2 or depth != every.max() or not whole:
        return
    if scores[whole[0]].mean == 1.0:
        yield from whole_corpus(pair, depth)


def whole_corpus(pair: Matched, depth: int) -> Iterator[str]:
    """A note where every query gets the same results; that they hold all targets is known."""
    if _all_the_same(pair, depth):
        yield sentence(
            "Every query gets the same {it.count} results, the whole corpus as it seems: any "
            "order finds all.",
            it=Fact(about="count", count=depth, text="whole corpus"),
        )


def _all_the_same(pair: Matched, depth: int) -> bool:
    """Whether every query has the same results, so many of them and none of them twice."""
    names: set[str] = set()
    pairs: list[pl.DataFrame] = []
    for frame in pair.run.scan():
        name = result_names(frame)
        names.update(name.unique().to_list())
        if len(names) > depth or name.null_count():
            return False
        pairs.append(pl.DataFrame([frame["query"], name.alias("name")]))
    each = pl.concat(pairs).group_by("query").agg(pl.col("name").n_unique())
    return len(names) == depth and bool((each["name"] == depth).all())


class _Orders(NamedTuple):
    """The values of some queries with their ties in the worst and in the best order."""

    codes: Ints
    worst: Floats
    best: Floats
    """One row per query and one column per metric."""


def _ties(pair: Matched, scores: Scores, of: Sequence[str] | None) -> Iterator[str]:
    """A note where the order of equal scores moves the leading mean, or one of order, by much."""
    if scores.recorded.weight_by:
        return
    names = _at_stake(scores) if of is None else of
    if not names:
        return
    metrics = tuple(parse(name)[0] for name in names)
    worst = np.column_stack([scores.of(name) for name in names])
    best = worst.copy()
    for orders in over_contexts(pair, lambda block: _orders(block, metrics, pair)):
        if orders is None:
            return
        worst[orders.codes] = orders.worst
        best[orders.codes] = orders.best
    facts = [
        Fact(about="bound", metric=name, low=low, high=high, text="ties")
        for name, low, high in zip(names, _means(worst), _means(best), strict=True)
        if high - low >= FAR
    ]
    if facts:
        first, *others = facts
        yield sentence(
            "Equal scores decide {it.metric}: it is {it.low} in their worst order and {it.high} "
            "in their best{others}.",
            it=first,
            others=joined(*map(_and_of, others), by=""),
        )


def ties_of_systems(facts: Sequence[Fact]) -> Sentence:
    """What equal scores decide in several systems, as one sentence."""
    metrics = [*dict.fromkeys(fact.metric for fact in facts)]
    of_first, *of_others = [
        [fact for fact in facts if fact.metric == metric] for metric in metrics
    ]
    first, *others = _widest(of_first)
    return sentence(
        "Equal scores decide {it.metric}: {it.system} is {it.low} in their worst order and "
        "{it.high} in their best{others}{more}.",
        it=first,
        others=joined(*map(_and_system, others), _rest(of_first), by=""),
        more=joined(*map(_and_metric, of_others), by=""),
    )


def _widest(facts: Sequence[Fact]) -> list[Fact]:
    """The few systems whose ranges are widest."""
    return sorted(facts, key=lambda fact: (fact.low or 0.0) - (fact.high or 0.0))[:NAMED]


def _and_system(fact: Fact) -> Sentence:
    return sentence(", {it.system} {it.low} and {it.high}", it=fact)


def _and_metric(facts: Sequence[Fact]) -> Sentence:
    ranges = joined(*map(_and_system, _widest(facts)), _rest(facts), by="")
    return joined(
        f"; {facts[0].metric}: ", replaced(ranges, ranges.removeprefix(", ")), by=""
    )


def _rest(facts: Sequence[Fact]) -> Sentence | None:
    """How many systems are not named, with the ranges of all as facts."""
    if len(facts) <= NAMED:
        return None
    rest = Fact(about="count", count=len(facts) - NAMED, text="more systems")
    more = sentence(", and {it.count} more", it=rest)
    return Sentence(more, [*more.facts, *facts])


def _at_stake(scores: Scores) -> list[str]:
    """The metric that leads, and the first one of order, each at its largest cut-off."""
    first = leading(scores)
    names = [first.name] if first.kind in (*FINDING, *ORDER) else []
    ordered = [
        metric for kind in ORDER for metric in scores.metrics if metric.kind == kind
    ]
    alike = (metric for metric in ordered if metric.kind == ordered[0].kind)
    deepest = max(alike, key=lambda metric: metric.k or 0, default=None)
    return [*dict.fromkeys([*names, *([deepest.name] if deepest else [])])]


def _and_of(fact: Fact) -> str:
    return sentence("; {it.metric} is {it.low} and {it.high}", it=fact)


def _means(values: Floats) -> list[float]:
    """The mean of each column over the queries that have a value; NaN where none has."""
    return [
        exact_mean(known) if (known := column[~np.isnan(column)]).size else np.nan
        for column in values.T
    ]


def _orders(block: Context, metrics: Sequence[Metric], pair: Matched) -> _Orders | None:
    """The values of the queries of a block in both orders; None without scores."""
    if "score" not in block.frame.columns or block.frame["score"].null_count():
        return None
    score = block.frame["score"].to_numpy()
    new = np.ones(score.size, dtype=np.bool_)
    new[1:] = (block.code[1:] != block.code[:-1]) | (score[1:] != score[:-1])
    group: Ints = np.cumsum(new)
    grade = block.grade
    worst, best = (
        compute(_reordered(block, group, low), metrics, pair.policy)
        for low in (grade, -grade)
    )
    return _Orders(block.codes, worst, best)


def _reordered(block: Context, group: Ints, key: Floats) -> Matches:
    """The matches where results of equal score are sorted by a key, the lowest first."""
    matches = block.matches
    order = np.lexsort((block.rank, key, group))
    rank = np.empty_like(block.rank)
    rank[order] = block.rank
    place = block.place(matches.edge_query, matches.edge_rank)
    moved = rank[place]
    edges = np.lexsort((moved, matches.edge_query))
    return replace(
        matches,
        edge_query=matches.edge_query[edges],
        edge_rank=moved[edges],
        edge_target=matches.edge_target[edges],
        edge_overlap=matches.edge_overlap[edges],
    )
