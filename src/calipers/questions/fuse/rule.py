"""Measure every setting on the same candidates, and decide which to use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.scoring import compute, facts_of
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim
from calipers.model.matched import Matched
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse import worth
from calipers.questions.fuse.bench import Bench
from calipers.questions.fuse.result import FusedSetting, Fusion, Lane, WeightPoint
from calipers.questions.fuse.snippets import snippets
from calipers.questions.fuse.verdict import FEWEST, decide
from calipers.questions.fuse.ways import Way, alone, every_way
from calipers.statistics.paired_rows import paired_rows

TODAY, AS_GIVEN = "today's run", "the order as given"
MANY_SILENT = 0.25
"""From this share of queries without results on, a lane is named in the first line."""


def fuse_lanes(
    pairs: Mapping[str, Matched],
    metrics: Sequence[Metric],
    *,
    today: Matched | None = None,
    reranks: bool = False,
    clusters: Ints | None = None,
    confidence: float = 0.95,
) -> Fusion:
    """Measure every setting, and what the best will gain; see ``calipers.fuse``.

    The first metric leads. With ``reranks``, the pairs are the candidates and the reranked run.
    """
    k = max(metric.k or 0 for metric in metrics) or 10
    bench = Bench.of(pairs, metrics, k)
    names, n, queries = bench.lanes.names, bench.lanes.n, len(bench.lanes.queries)
    if queries < FEWEST:
        raise InvalidInput(
            "There is one query, and a setting is chosen on some queries and measured on others; "
            "give at least two."
        )
    ways = every_way(n, bench.lanes.scored)
    measured = bench.values(ways)
    settings = [
        FusedSetting(
            way.called(names),
            way.kind,
            dict(zip(names, way.weights, strict=True)),
            way.constant,
            way.norm,
            bench.means(values),
        )
        for way, values in zip(ways, measured, strict=True)
    ]
    usual, default, in_use = measured[0], settings[0], ways[0]
    if reranks:
        in_use = alone(0, n)
        usual = measured[ways.index(in_use)]
        default = replace(settings[ways.index(in_use)], name=AS_GIVEN, kind="recorded")
    if today is not None:
        usual = compute(today.matches, metrics, today.policy)
        default = FusedSetting(TODAY, "recorded", {}, None, None, bench.means(usual))
    every = [default, *settings]
    found = decide(
        every,
        np.stack([usual, *measured]),
        [facts_of(one) for one in metrics],
        clusters,
        confidence,
        1 + ways.index(in_use) if reranks else None,
    )
    best, advised, by = every[found.best], every[found.advised], str(metrics[found.decided_by])
    way = ways[found.advised - 1] if found.advised else in_use
    singles = np.stack([measured[ways.index(alone(lane, n))] for lane in range(n)])
    latency = worth.latencies(pairs)
    lanes = worth.lanes_worth(bench, way, singles, latency)
    return Fusion(
        claim=_with_silent(found.claim, lanes, queries),
        queries=queries,
        k=k,
        metrics=tuple(str(metric) for metric in metrics),
        decided_by=by,
        lanes=lanes,
        default=default,
        best=best,
        advised=advised,
        expected_gain=ExpectedGain.of(found.gain),
        over_best_lane=best.means[by] - every[found.lane].means[by],
        over_weight=_over_weight(
            ways,
            measured[:, :, found.decided_by],
            ways[max(found.best - 1, 0)],
            usual[:, found.decided_by],
            clusters,
        ),
        settings=tuple(sorted(settings, key=lambda one: -one.means[by])),
        ceiling=worth.ceiling_of(bench),
        reranker=worth.reranker_of(bench, *pairs.values()) if reranks else None,
        latency={name: one for name, one in latency.items() if name not in names},
        tokens=_tokens(bench, way),
        snippets=snippets(advised),
        run=today.as_read[1]
        if today is not None and advised is default
        else bench.lanes.run_of(*bench.ranking(way, None)),
    )


def _with_silent(claim: Claim, lanes: Sequence[Lane], queries: int) -> Claim:
    """The claim; a lane that returns nothing for many queries is named beside it."""
    most = max(lanes, key=lambda one: one.silent)
    if most.silent < MANY_SILENT * queries:
        return claim
    said = f"{most.name} returned nothing for {most.silent:,} of {queries:,} queries."
    return replace(claim, fact=f"{claim.fact} {said}")


def _over_weight(
    ways: Sequence[Way], measured: Floats, best: Way, usual: Floats, clusters: Ints | None
) -> tuple[WeightPoint, ...]:
    """For two lanes the gain by weight of the second, fused like the best setting or by RRF 60."""
    like = best if best.kind in ("rrf", "sum") else ways[0]
    gains = {
        way.weights[1]: values - usual
        for way, values in zip(ways, measured, strict=True)
        if (way.kind, way.constant, way.norm) == (like.kind, like.constant, like.norm)
    }
    found = []
    for weight, column in sorted(gains.items()) if len(like.weights) == 2 else ():
        [row] = paired_rows([column], clusters)
        ends = (None, None) if row.interval is None else row.interval
        found.append(WeightPoint(weight, row.difference or 0.0, *ends))
    return tuple(found)


def _tokens(bench: Bench, way: Way) -> float | None:
    """Tokens of the first k results per query, if known."""
    if "tokens" not in bench.lanes.rows.columns:
        return None
    tokens = bench.lanes.rows["tokens"][bench.ranking(way, bench.k)[0]]
    return None if tokens.null_count() else float(tokens.sum()) / len(bench.lanes.queries)
