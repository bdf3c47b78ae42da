"""The answer about a fusion: use a setting, use one lane, or keep what is in use.

Every metric that was asked for decides, by default one for finding and one for order. The gain of
the best setting is measured on queries that did not choose it; a lane alone is no choice of ours
and is compared as it is. All of it is tested together, by the paired test of ``compare``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calipers.engines.scoring import compute, facts_of
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim, Standing
from calipers.model.matched import Matched
from calipers.model.scores import MetricFacts
from calipers.questions.compare.paired_claim import claim_of
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse import worth
from calipers.questions.fuse.lanes import Bench, Way, alone, every_way
from calipers.questions.fuse.result import FusedSetting, Fusion, Lane, WeightPoint
from calipers.questions.fuse.snippets import snippets
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.score_interval import t_quantile
from calipers.statistics.winner import WinnerGain, winner_gain
from calipers.words import number, plural

FEWEST = 2
"""The fewest queries: some to choose a setting on, others to measure it on."""
FEWEST_TO_DROP = 20
"""On fewer queries it may be luck that a second lane adds nothing."""
TIE = 1e-12
MARGIN = 0.05
"""A lane is enough where dropping the others may lose at most this much."""


class FusionDecision(NamedTuple):
    """What to use; settings and metrics are given by their place."""

    claim: Claim
    advised: int
    best: int
    decided_by: int
    """The metric by which ``best`` was chosen."""
    gain: WinnerGain
    """The gain of ``best`` over the setting in use."""
    lane: int
    """The best lane alone."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """A setting that may be advised, and its test in each metric against the one in use."""

    setting: int
    rows: Sequence[PairedRow]
    by: int = 0
    """The metric by which it was chosen."""

    def first(self, standing: Standing) -> int | None:
        """The first metric in which it has a standing; the one that chose it goes first."""
        order = sorted(range(len(self.rows)), key=lambda at: at != self.by)
        return next((at for at in order if self.rows[at].standing == standing), None)

    @property
    def wins(self) -> bool:
        """Whether it is better in a metric and worse in none."""
        return self.first("better") is not None and self.first("worse") is None

    @property
    def as_good(self) -> bool:
        """Whether it loses nothing on these queries, and little on new ones."""
        lows = (0.0 if row.interval is None else row.interval.low for row in self.rows)
        means = (row.difference or 0.0 for row in self.rows)
        return min(means) >= -TIE and min(lows) >= -MARGIN


def decide(
    settings: Sequence[FusedSetting],
    values: Floats,
    metrics: Sequence[MetricFacts],
    clusters: Ints | None,
    confidence: float,
    lane_in_use: int | None = None,
) -> FusionDecision:
    """Choose among settings, the first of which is in use; values by setting, query and metric.

    ``lane_in_use`` is the lane that this is, if it is one: the others are compared with it.
    """
    values = values * np.array([one.turn for one in metrics])
    every, alpha = range(len(metrics)), 1.0 - confidence
    over = values - values[0]
    gains: dict[int, WinnerGain] = {}
    for at in every:
        gain = winner_gain(values[:, :, at].T, 0, clusters, confidence=confidence)
        if gain is not None:
            gains[at] = replace(gain, winner=_winner(gain, values, at))
    if 0 not in gains:
        raise InvalidInput(
            f"{metrics[0].name} is defined for fewer than {FEWEST} queries, so that nothing can be "
            "chosen; add queries with targets."
        )
    alones = (at for at, one in enumerate(settings) if one.kind == "alone")
    lanes = [at for at in alones if at != lane_in_use]
    columns = [
        _fresh(gain) if at == by else over[gain.winner, :, at]
        for by, gain in gains.items()
        for at in every
    ]
    columns += [over[lane, :, at] for lane in lanes for at in every]
    rows = iter(paired_rows(columns, clusters, alpha=alpha))
    chosen = [_Choice(gain.winner, [next(rows) for _ in every], by) for by, gain in gains.items()]
    alone = [_Choice(lane, [next(rows) for _ in every]) for lane in lanes]
    lane = max(alone, key=lambda one: (one.wins, sum(row.difference or 0.0 for row in one.rows)))
    sure = (one for one in chosen if _sure(gains[one.by], alpha, len(metrics)))
    best = next((one for one in sure if one.wins), None)
    advised = best or (lane if lane.wins else None)
    if best and lane.wins and settings[best.setting].kind != "alone":
        # A lane alone is simpler than a setting that is not clearly better than it.
        further = _fresh(gains[best.by]) - over[lane.setting, :, best.by]
        [row] = paired_rows([further], clusters, alpha=alpha)
        advised = best if row.standing == "better" else lane
    shown = best or chosen[0]
    gain = gains[shown.by]
    likely = ExpectedGain.of(gain).sentence(settings[shown.setting].name)
    if advised is None:
        droppable = lane if lane_in_use is None else None
        standing, fact, use = _keep(settings, metrics, chosen, alone, droppable)
        claim = Claim(standing, fact, likely)
    else:
        claim, use = _use(settings, metrics, advised), advised.setting
        claim = replace(claim, range=likely) if advised is best else claim
    return FusionDecision(claim, use, shown.setting, shown.by, gain, lane.setting)


def _sure(gain: WinnerGain, alpha: float, metrics: int) -> bool:
    """Whether the interval of the gain is above 0, at the level at which that of each metric is."""
    if gain.interval is None:
        return gain.expected > 0
    level, each = (t_quantile(1.0 - alpha / two, gain.units - 1) for two in (2, 2 * metrics))
    return gain.expected > (gain.expected - gain.interval.low) * each / level


def _winner(gain: WinnerGain, values: Floats, by: int) -> int:
    """Of settings that tie for the lead, the one that is best in the other metrics."""
    means = np.nanmean(values, axis=1)
    rest = np.delete(means, by, axis=1).sum(axis=1)
    tied = means[:, by] >= means[gain.winner, by] - TIE
    leads = gain.winner and rest[tied].max() > rest[gain.winner] + TIE
    return int(np.argmax(np.where(tied, rest, -np.inf))) if leads else gain.winner


def _fresh(gain: WinnerGain) -> Floats:
    """The gain of each query with the setting that the others chose."""
    column = np.full(len(gain.whole), np.nan)
    column[gain.whole] = gain.gains
    return column


def _use(settings: Sequence[FusedSetting], metrics: Sequence[MetricFacts], one: _Choice) -> Claim:
    default, new, at = settings[0], settings[one.setting], one.first("better") or 0
    ends = (of.means[metrics[at].name] for of in (default, new))
    claim = claim_of(one.rows[at], metrics[at], *ends, names=(default.name, new.name))
    return replace(claim, fact=f"Use {new.name}. It{claim.fact.removeprefix(new.name)}")


def _keep(
    settings: Sequence[FusedSetting],
    metrics: Sequence[MetricFacts],
    chosen: Sequence[_Choice],
    alone: Sequence[_Choice],
    lane: _Choice | None,
) -> tuple[Standing, str, int]:
    """Where nothing is clearly better: the standing, the sentence, and what to use."""
    default, n = settings[0].name, alone[0].rows[0].n
    queries = plural(n, "query", "queries")
    for one in (*chosen, *alone):
        ends = [one.first("better"), one.first("worse")]
        names = [metrics[at].name for at in ends if at is not None]
        if len(names) == len(ends):
            now, before = settings[one.setting], settings[0].means
            said = [f"{m} ({number(now.means[m])}, it was {number(before[m])})" for m in names]
            fact = f"Keep {default}: {now.name} is better in {said[0]} but worse in {said[1]}."
            return "no clear difference", fact, 0
    if lane and n >= FEWEST_TO_DROP and lane.as_good:
        fact = f"{settings[lane.setting].name} is enough: {default} adds nothing on {queries}."
        return "no clear difference", fact, lane.setting
    if all(one.first("worse") is not None for one in alone):
        others = "each lane alone" if len(alone) > 1 else settings[alone[0].setting].name
        fact = f"It is better than {others}; no setting is clearly better."
        return "passed", f"Keep {default}. {fact}", 0
    fact = f"Keep {default}: no setting is clearly better on {queries}."
    return "no clear difference", fact, 0


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
