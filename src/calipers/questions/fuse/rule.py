"""Measure every way to fuse recorded lanes, decide, and say what each lane is worth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.scoring import compute, facts_of
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures import Metric
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.matched import Matched
from calipers.model.run import Run
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse import worth
from calipers.questions.fuse.bench import Bench
from calipers.questions.fuse.decision import FEWEST, FusionDecision, decide
from calipers.questions.fuse.idle import IdleLane, claim_without, idle_lanes
from calipers.questions.fuse.lanes import Lanes, check_lanes
from calipers.questions.fuse.listed import ListedLane
from calipers.questions.fuse.result import FusedSetting, Fusion, Lane, WeightPoint
from calipers.questions.fuse.snippets import snippets
from calipers.questions.fuse.ways import Way, alone, every_way
from calipers.statistics.paired_rows import paired_rows

TODAY = "today's run"
AS_GIVEN = "the order as given"
MANY_SILENT = 0.25
"""From this share of queries without results on, a lane is named in the first line."""


@dataclass(frozen=True, eq=False)
class _Tried:
    """Every way to fuse the lanes, measured."""

    ways: Sequence[Way]
    values: Floats
    """By way, query and metric."""
    table: Floats
    """The same, behind a row that is left for what is in use: there is no second copy."""
    settings: Sequence[FusedSetting]

    @classmethod
    def of(cls, bench: Bench) -> "_Tried":
        """Measure every way that the lanes allow."""
        names = bench.lanes.names
        ways = every_way(bench.lanes.n, bench.lanes.scored)
        table = bench.room_for(1 + len(ways))
        values = table[1:]
        bench.measure(ways, values)
        settings = [
            FusedSetting(
                way.called(names),
                way.kind,
                dict(zip(names, way.weights, strict=True)),
                way.constant,
                way.norm,
                bench.means(measured),
            )
            for way, measured in zip(ways, values, strict=True)
        ]
        return cls(ways, values, table, settings)

    def beside(self, in_use: Floats) -> Floats:
        """The values of what is in use, then those of every way."""
        self.table[0] = in_use
        return self.table

    def alone(self, lane: int) -> int:
        """The place of a lane alone among the ways."""
        return self.ways.index(alone(lane, len(self.ways[0].weights)))


@dataclass(frozen=True, eq=False)
class _InUse:
    """What the settings are compared with."""

    setting: FusedSetting
    values: Floats
    """By query and metric."""
    way: Way
    """The way of ours that is nearest to it."""
    run: Run | None = None
    """Its run, if it was recorded."""


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
    if len(bench.lanes.queries) < FEWEST:
        raise InvalidInput(
            "There is one query, and a setting is chosen on some queries and measured on others; "
            "give at least two."
        )
    idle = idle_lanes(bench.lanes, pairs)
    check_lanes(bench.lanes, [lane.lane for lane in idle])
    tried = _Tried.of(bench)
    usual = _in_use(bench, tried, today, reranks)
    decision = decide(
        [usual.setting, *tried.settings],
        tried.beside(usual.values),
        [facts_of(metric) for metric in metrics],
        clusters,
        confidence,
        1 + tried.ways.index(usual.way) if reranks else None,
    )
    if not reranks and today is None:
        decision = _without_idle(decision, idle, tried, bench.lanes)
    return _answer(pairs, bench, tried, usual, decision, idle, reranks, clusters)


def _in_use(bench: Bench, tried: _Tried, today: Matched | None, reranks: bool) -> _InUse:
    """What is in use: the recorded run of today, the order before the reranker, or RRF 60."""
    if today is not None:
        values = compute(today.matches, bench.metrics, today.policy)
        setting = FusedSetting(TODAY, "recorded", {}, None, None, bench.means(values))
        return _InUse(setting, values, tried.ways[0], today.as_read[1])
    if reranks:
        at = tried.alone(0)
        setting = replace(tried.settings[at], name=AS_GIVEN, kind="recorded")
        return _InUse(setting, tried.values[at], tried.ways[at])
    return _InUse(tried.settings[0], tried.values[0], tried.ways[0])


def _without_idle(
    decision: FusionDecision, idle: Sequence[IdleLane], tried: _Tried, lanes: Lanes
) -> FusionDecision:
    """The decision; where only one lane adds something, it is the one to use."""
    answer = claim_without(idle, lanes)
    if answer is None:
        return decision
    claim, lane = answer
    advised = 1 + tried.alone(lane)
    # That the lane alone is significantly better says more than that the other adds nothing.
    is_said = decision.claim.standing == "better" and decision.advised == advised
    return decision if is_said else decision._replace(claim=claim, advised=advised)


def _answer(
    pairs: Mapping[str, Matched],
    bench: Bench,
    tried: _Tried,
    usual: _InUse,
    decision: FusionDecision,
    idle: Sequence[IdleLane],
    reranks: bool,
    clusters: Ints | None,
) -> Fusion:
    """The decision with everything that stands beside it."""
    every = [usual.setting, *tried.settings]
    best = every[decision.best]
    advised = every[decision.advised]
    by = str(bench.metrics[decision.decided_by])
    way = tried.ways[decision.advised - 1] if decision.advised else usual.way
    singles = np.stack([tried.values[tried.alone(lane)] for lane in range(bench.lanes.n)])
    latency = worth.latencies(pairs)
    lanes = worth.lanes_worth(bench, way, singles, latency)
    names = bench.lanes.names
    keeps_run = usual.run is not None and not decision.advised
    return Fusion(
        claim=_with_silent(decision.claim, lanes, len(bench.lanes.queries), idle),
        queries=len(bench.lanes.queries),
        k=bench.k,
        metrics=tuple(str(metric) for metric in bench.metrics),
        decided_by=by,
        lanes=lanes,
        default=usual.setting,
        best=best,
        advised=advised,
        expected_gain=ExpectedGain.of(
            decision.gain, facts_of(bench.metrics[decision.decided_by]).most
        ),
        over_best_lane=best.means[by] - every[decision.lane].means[by],
        over_weight=_over_weight(tried, decision, usual, clusters),
        settings=tuple(sorted(tried.settings, key=lambda setting: -setting.means[by])),
        ceiling=worth.ceiling_of(bench),
        reranker=worth.reranker_of(bench, *pairs.values()) if reranks else None,
        latency={name: times for name, times in latency.items() if name not in names},
        tokens=_tokens(bench, way),
        snippets=snippets(advised, _distances(bench.lanes)),
        noticed=tuple(_noticed(bench.lanes, idle, decision.claim)),
        run=usual.run if keeps_run and usual.run is not None else bench.run(way),
    )


def _distances(lanes: Lanes) -> list[str]:
    """The lanes whose scores are distances."""
    orders = zip(lanes.names, lanes.listed, strict=True)
    return [name for name, listed in orders if listed.order == "distances"]


def _noticed(lanes: Lanes, idle: Sequence[IdleLane], claim: Claim) -> Iterator[str]:
    """Yield what a reader must know of the lanes: what their scores are, and idle ones."""
    for name, listed in zip(lanes.names, lanes.listed, strict=True):
        if (said := _of_scores(name, listed)) is not None:
            yield said
    for lane in idle:
        if lane.why not in claim.fact:
            yield sentence(
                "{lane.text} adds nothing. {why}", lane=named(lane.name), why=lane.why
            )


def _of_scores(name: str, listed: ListedLane) -> Sentence | None:
    """What a reader must know of the scores of a lane; None where they are plain similarities."""
    lane = named(name)
    if listed.order == "distances":
        return sentence(
            "The scores of {lane.text} rise down its lists: they are read as distances, "
            "the smallest first.",
            lane=lane,
        )
    if listed.order == "unrelated":
        return sentence(
            "The scores of {lane.text} do not follow the order of its results, so sums of "
            "scores were not tried.",
            lane=lane,
        )
    if listed.order == "equal":
        return sentence(
            "The scores in each list of {lane.text} are equal, so sums of scores were not "
            "tried.",
            lane=lane,
        )
    every = listed.rows.height
    if listed.order == "none" and 0 < listed.unscored < every:
        missing = Fact(
            about="count", system=name, count=listed.unscored, of=every, text="unscored"
        )
        return sentence(
            "{it.count} of {it.of:result|results} of {it.system} {verb} no score, "
            "so sums of scores were not tried.",
            it=missing,
            verb="has" if listed.unscored == 1 else "have",
        )
    return None


def _with_silent(
    claim: Claim, lanes: Sequence[Lane], queries: int, idle: Sequence[IdleLane]
) -> Claim:
    """The claim; a lane that returns nothing for many queries is named beside it."""
    known = {lane.name for lane in idle}
    most = max(lanes, key=lambda lane: lane.silent)
    if most.silent < MANY_SILENT * queries or most.name in known:
        return claim
    silent = sentence(
        "{it.system} returned nothing for {it.count} of {it.of:query|queries}.",
        it=Fact(
            about="count", system=most.name, count=most.silent, of=queries, text="silent"
        ),
    )
    return replace(claim, fact=joined(claim.fact, silent))


def _over_weight(
    tried: _Tried, decision: FusionDecision, usual: _InUse, clusters: Ints | None
) -> tuple[WeightPoint, ...]:
    """For two lanes the gain by weight of the second, fused like the best setting or by RRF 60."""
    best = tried.ways[max(decision.best - 1, 0)]
    like = best if best.kind in ("rrf", "sum") else tried.ways[0]
    if len(like.weights) != 2:
        return ()
    points = []
    for way, values in zip(
        tried.ways, tried.values[:, :, decision.decided_by], strict=True
    ):
        if (way.kind, way.constant, way.norm) == (like.kind, like.constant, like.norm):
            [row] = paired_rows([values - usual.values[:, decision.decided_by]], clusters)
            ends = (None, None) if row.interval is None else row.interval
            points.append(WeightPoint(way.weights[1], row.difference or 0.0, *ends))
    return tuple(sorted(points, key=lambda point: point.weight))


def _tokens(bench: Bench, way: Way) -> float | None:
    """Tokens of the first k results per query, if known."""
    lanes = bench.lanes
    if not any("tokens" in lane.rows.columns for lane in lanes.listed):
        return None
    tokens = lanes.candidates(bench.ranking(way, bench.k)[0])["tokens"]
    return None if tokens.null_count() else float(tokens.sum()) / len(lanes.queries)
