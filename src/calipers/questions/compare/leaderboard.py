"""All systems by one metric, best first, and what their results cost in tokens."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from calipers.engines.summary import interval_of_metric
from calipers.model.arrays import Floats, Ints
from calipers.model.matched import Matched
from calipers.model.scores import MetricFacts, Scores
from calipers.questions.compare.result import Leaderboard, Ranked, SystemMean
from calipers.questions.default_metrics import choose_primary
from calipers.questions.tokens import may_have_tokens, tokens_shown
from calipers.statistics.clusters import as_units, exact_mean
from calipers.statistics.paired_rows import SMALLEST


def ranked(
    means: Sequence[SystemMean], facts: Sequence[MetricFacts], asked: Sequence[str]
) -> list[str]:
    """The systems sorted by the first deciding metric, best first; empty where it is undefined."""
    turn = next((one.turn for one in facts if one.name in asked[:1]), 1.0)
    known = [one for one in means if one.metric in asked[:1] and one.mean is not None]
    return [one.system for one in sorted(known, key=lambda one: -turn * (one.mean or 0.0))]


def leaderboard(
    means: Sequence[SystemMean],
    metric: str,
    order: Sequence[str],
    near: Collection[str],
    tokens: Mapping[str, float],
) -> Leaderboard | None:
    """Rank the systems by one metric; None where no query is defined in all of them."""
    by_name = {one.system: one for one in means if one.metric == metric}
    rows = [
        Ranked(name, mean, by_name[name].interval, name in near, tokens.get(name))
        for name in order
        if (mean := by_name[name].mean) is not None
    ]
    return Leaderboard(metric, by_name[order[0]].n, tuple(rows)) if rows else None


def tokens_per_query(
    pairs: Mapping[str, Matched], measured: Mapping[str, Scores], primary: str | None
) -> dict[str, float]:
    """Mean tokens in the results that the primary metric reads, where tokens or texts are known."""
    found = {}
    for name, pair in pairs.items():
        facts = measured[name].metrics
        decisive = choose_primary(facts, None if primary == "score" else primary)
        k = next((one.k for one in facts if one.name == decisive), None) or pair.depth
        if not may_have_tokens(pair):
            continue
        tokens = _tokens_at(pair, k)
        if tokens is not None:
            found[name] = exact_mean(tokens.astype(np.float64))
    return found


def _tokens_at(pair: Matched, k: int) -> Ints | None:
    found = tokens_shown(pair, lambda block, counts: block.summed(counts, [k]))
    return None if found is None else found.table[:, 0]


def system_means(
    values: Mapping[str, Floats],
    facts: Sequence[MetricFacts],
    level: float,
    clusters: Ints | None,
    weights: Floats | None = None,
) -> tuple[SystemMean, ...]:
    """The mean of every system in every metric, over the queries that all systems have."""
    found = []
    for at, metric in enumerate(facts):
        each = None if metric.aggregate == "sum" else weights
        defined = {name: t[~np.isnan(t[:, at]), at] for name, t in values.items()}
        means = {
            name: as_units(t[:, at], None, each).mean if len(defined[name]) else None
            for name, t in values.items()
        }
        best = _best([mean for mean in means.values() if mean is not None], metric.better)
        for name, mean in means.items():
            n = len(defined[name])
            found.append(
                SystemMean(
                    name,
                    metric.name,
                    mean,
                    interval_of_metric(values[name][:, at], metric, level, clusters, each),
                    n,
                    len(values[name]) - n,
                    mean is not None and best is not None and abs(mean - best) < SMALLEST,
                )
            )
    return tuple(found)


def _best(means: Sequence[float], better: str) -> float | None:
    if not means or better == "neither" or max(means) - min(means) < SMALLEST:
        return None
    return max(means) if better == "higher" else min(means)
