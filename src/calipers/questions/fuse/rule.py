"""Measure every setting on the same candidates, and the gain to expect on new queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.engines.scoring import compute, facts_of
from calipers.errors import InvalidInput
from calipers.match.pair import match_again
from calipers.measures import Metric, parse
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched, Matches
from calipers.model.run import Run
from calipers.model.slicing import FROM_TEXT, UNTAGGED, has_questions, is_cut, labels_of
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse.lanes import Lanes
from calipers.questions.fuse.result import (
    Ceiling,
    FusedSetting,
    Fusion,
    Lane,
    Latency,
    Reranker,
    WeightPoint,
)
from calipers.questions.fuse.snippets import snippets
from calipers.questions.fuse.verdict import Weighed, fusion_claim
from calipers.questions.fuse.ways import (
    Fuser,
    Way,
    alone,
    every_way,
    first_of,
    ranks_of,
)
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.winner import winner_gain

FEWEST = 2
"""The fewest queries: some to choose a setting on, others to measure it on."""
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Bench:
    """Lanes that are matched once, to measure any setting on them."""

    lanes: Lanes
    pair: Matched
    """All candidates of all lanes as one run, matched."""
    metrics: tuple[Metric, ...]
    k: int

    @classmethod
    def of(cls, pairs: Mapping[str, Matched], metrics: Sequence[Metric], k: int) -> "Bench":
        """Build a bench from matched pairs with the same ground truth."""
        first = next(iter(pairs.values()))
        asked = first.ground_truth.queries["query"]
        lanes = Lanes.of({name: pair.as_read[1] for name, pair in pairs.items()}, asked)
        return cls(lanes, match_again(first, lanes.as_run()), tuple(metrics), k)

    @cached_property
    def _by_id(self) -> bool:
        """Whether edges do not depend on other candidates; a quote may be split over several."""
        return self.pair.settings["match"] == "id" and self.pair.matches.leaked is None

    @cached_property
    def _column(self) -> Ints:
        """The column of each edge's candidate within its query."""
        return self.pair.matches.edge_rank - 1

    def values(self, ways: Sequence[Way], depths: Sequence[int | None] = ()) -> list[Floats]:
        """For each setting an array with one row per query and one column per metric."""
        if not self._by_id:
            # A metric without a cut-off looks at the whole list.
            deepest = self.k if all(metric.k for metric in self.metrics) else None
            return [self._matched(self.ranking(way, deepest, depths)[0]) for way in ways]
        return [
            compute(each, self.metrics, self.pair.policy) for each in self.matches(ways, depths)
        ]

    def matches(self, ways: Sequence[Way], depths: Sequence[int | None] = ()) -> list[Matches]:
        """The matches of each setting: the same edges at new ranks."""
        known = self.pair.matches
        ranks = np.zeros((len(ways), known.edge_query.size), dtype=np.int64)
        for block in self.lanes.blocks():
            begin, end = np.searchsorted(
                known.edge_query, [block.first, block.first + len(block.there)]
            )
            row, column = known.edge_query[begin:end] - block.first, self._column[begin:end]
            fuser = Fuser(block, depths)
            for i, way in enumerate(ways):
                ranks[i, begin:end] = ranks_of(fuser(way), row, column)
        return [_at_ranks(known, one) for one in ranks]

    def ranking(
        self, way: Way, k: int | None, depths: Sequence[int | None] = ()
    ) -> tuple[Ints, Floats]:
        """The rows of the first k candidates of each query under a setting, and their scores."""
        rows, numbers = [], []
        for block in self.lanes.blocks():
            fused = Fuser(block, depths)(way)
            for i, order in enumerate(first_of(fused, k)):
                rows.append(self.lanes.start[block.first + i] + order)
                numbers.append(fused[i, order])
        return np.concatenate(rows), np.concatenate(numbers)

    def _matched(self, rows: Ints) -> Floats:
        pair = match_again(self.pair, self.lanes.run_of(rows))
        return compute(pair.matches, self.metrics, pair.policy)

    def means(self, values: Floats) -> dict[str, float]:
        """The mean of each metric over the queries that have a value."""
        return {
            str(metric): exact_mean(column[~np.isnan(column)])
            if not np.isnan(column).all()
            else 0.0
            for metric, column in zip(self.metrics, values.T, strict=True)
        }

    def setting(self, way: Way, values: Floats) -> FusedSetting:
        """A way to fuse, with its metrics."""
        weights = dict(zip(self.lanes.names, way.weights, strict=True))
        return FusedSetting(
            way.called(self.lanes.names),
            way.kind,
            weights,
            way.constant,
            way.norm,
            self.means(values),
        )


def _at_ranks(known: Matches, rank: Ints) -> Matches:
    """The same matches with edges at new ranks, without those that are not returned."""
    kept = np.flatnonzero(rank > 0)
    order = kept[np.lexsort((rank[kept], known.edge_query[kept]))]
    return replace(
        known,
        edge_query=known.edge_query[order],
        edge_rank=rank[order],
        edge_target=known.edge_target[order],
        edge_overlap=known.edge_overlap[order],
    )


def fuse_lanes(
    pairs: Mapping[str, Matched],
    metrics: Sequence[Metric],
    primary: str,
    *,
    today: Matched | None = None,
    reranked: Matched | None = None,
    clusters: Ints | None = None,
    confidence: float = 0.95,
) -> Fusion:
    """Measure every setting, and what the best will gain; see ``calipers.fuse``."""
    k = max(metric.k or 0 for metric in metrics) or 10
    bench = Bench.of(pairs, metrics, k)
    n = bench.lanes.n
    if len(bench.lanes.queries) < FEWEST:
        raise InvalidInput(
            "There is one query, and a setting is chosen on some queries and measured on others; "
            "give at least two."
        )
    ways = every_way(n, all(bench.lanes.scored))
    measured = bench.values(ways)
    at = [str(metric) for metric in metrics].index(primary)
    usual = measured[0] if today is None else compute(today.matches, metrics, today.policy)
    table = np.stack([usual[:, at], *(values[:, at] for values in measured)], axis=1)
    gain = winner_gain(table, 0, clusters, confidence=confidence)
    if gain is None:
        raise InvalidInput(
            f"{primary} is defined for fewer than {FEWEST} queries, so that nothing can be chosen; "
            "add queries with targets."
        )
    best = ways[gain.winner - 1] if gain.winner else ways[0]
    chosen = measured[ways.index(best)] if gain.winner else usual
    default = _recorded(bench, usual) if today is not None else bench.setting(ways[0], usual)
    best_setting = bench.setting(best, chosen) if gain.winner else default
    singles = [measured[ways.index(alone(lane, n))] for lane in range(n)]
    expected = np.full(len(table), np.nan)
    expected[gain.whole] = gain.gains
    rows = paired_rows(
        [expected, *(usual[:, at] - one[:, at] for one in singles)], clusters, alpha=1 - confidence
    )
    lane_means = [bench.means(one)[primary] for one in singles]
    strongest = int(np.argmax(lane_means))
    verdict = Weighed(
        default,
        best_setting,
        bench.lanes.names[strongest],
        lane_means[strongest],
        gain,
        rows[0],
        rows[1 + strongest],
        facts_of(metrics[at]),
    )
    claim = fusion_claim(verdict)
    advised = best if claim.standing == "better" else ways[0]
    order, numbers = bench.ranking(advised, None)
    latency = _latencies(pairs)
    return Fusion(
        claim=claim,
        queries=len(bench.lanes.queries),
        k=k,
        primary=primary,
        metrics=tuple(str(metric) for metric in metrics),
        lanes=_worth(bench, advised, singles, at, latency),
        default=default,
        best=best_setting,
        today=None if today is None else default,
        expected_gain=ExpectedGain.of(gain),
        over_best_lane=best_setting.means[primary] - lane_means[strongest],
        over_weight=_over_weight(ways, measured, best, usual, at, clusters) if n == 2 else (),
        settings=tuple(
            sorted(
                (bench.setting(way, values) for way, values in zip(ways, measured, strict=True)),
                key=lambda one: -one.means[primary],
            )
        ),
        ceiling=_ceiling(bench),
        reranker=None if reranked is None else _reranker(reranked, metrics, k),
        latency=_together(latency),
        tokens=_tokens(bench, advised),
        snippets=snippets(best_setting if claim.standing == "better" else default),
        run=bench.lanes.run_of(order, numbers),
    )


def _over_weight(
    ways: Sequence[Way],
    measured: Sequence[Floats],
    best: Way,
    usual: Floats,
    at: int,
    clusters: Ints | None,
) -> tuple[WeightPoint, ...]:
    """The gain by weight of the second lane, fused like the best setting or by RRF 60."""
    like = best if best.kind in ("rrf", "sum") else ways[0]
    line = [
        (way.weights[1], values[:, at] - usual[:, at])
        for way, values in zip(ways, measured, strict=True)
        if (way.kind, way.constant, way.norm) == (like.kind, like.constant, like.norm)
    ]
    found = []
    for weight, gains in sorted(dict(line).items()):
        [row] = paired_rows([gains], clusters)
        ends = (None, None) if row.interval is None else row.interval
        found.append(WeightPoint(weight, row.difference or 0.0, *ends))
    return tuple(found)


def _recorded(bench: Bench, values: Floats) -> FusedSetting:
    """The recorded fused run, as a setting."""
    return FusedSetting("today", "recorded", {}, None, None, bench.means(values))


def _worth(
    bench: Bench,
    way: Way,
    singles: Sequence[Floats],
    at: int,
    latency: Mapping[str, Floats],
) -> tuple[Lane, ...]:
    """What each lane adds to the advised setting."""
    lanes, n = bench.lanes, bench.lanes.n
    whole = _units_within(bench, [way])[0]
    returned = [_units_within(bench, [alone(lane, n)], None)[0] for lane in range(n)]
    without = _units_within(bench, [_left_out(way, lane, n) for lane in range(n)])
    table = np.stack([one[:, at] for one in singles])
    ahead = [table[lane] - np.delete(table, lane, axis=0).max(axis=0) for lane in range(n)]
    slices = _slices(bench.pair.ground_truth)
    best_for = _best_for(ahead, slices)
    found = []
    for lane, name in enumerate(lanes.names):
        others = np.any([one for i, one in enumerate(returned) if i != lane], axis=0)
        won = ahead[lane] > _SAME
        found.append(
            Lane(
                name,
                bench.means(singles[lane]),
                lanes.depths[lane],
                _depth_needed(bench, way, lane, at),
                int((returned[lane] & ~others).sum()),
                int((whole & ~without[lane]).sum()),
                int(won.sum()),
                {name: int(won[chosen].sum()) for name, chosen in slices.items()},
                best_for[lane],
                _latency(latency.get(name)),
            )
        )
    return tuple(found)


def _left_out(way: Way, lane: int, lanes: int) -> Way:
    """The setting without one lane; of two lanes, the other alone."""
    if lanes == 2:
        return alone(1 - lane, lanes)
    return way.without(lane)


def _units_within(bench: Bench, ways: Sequence[Way], k: int | None = 0) -> list[np.ndarray]:
    """Which relevant targets (alternatives count once) a setting has in its first k results."""
    from calipers.measures.views import NEVER, Found

    most = bench.k if k == 0 else NEVER - 1 if k is None else k
    if bench._by_id:
        matched = bench.matches(ways)
    else:
        limit = bench.k if k == 0 else k
        matched = [
            match_again(bench.pair, bench.lanes.run_of(bench.ranking(way, limit)[0])).matches
            for way in ways
        ]
    return [Found.of(one, bench.pair.rel).rank <= most for one in matched]


def _depth_needed(bench: Bench, way: Way, lane: int, at: int) -> int:
    """The smallest depth of a lane at which the mean is as good as at full depth."""
    deepest = bench.lanes.depths[lane]
    if not way.weights[lane]:
        return 0
    ladder = sorted(
        {d for step in (1, 2, 3, 5, 7) for p in (1, 10, 100, 1000) if (d := step * p) < deepest}
    )
    [whole] = bench.values([way])
    low, high = 0, len(ladder)
    # Mostly every depth above the smallest one is enough too, so bisect.
    while low < high:
        middle = (low + high) // 2
        depths = [ladder[middle] if i == lane else None for i in range(bench.lanes.n)]
        [cut] = bench.values([way], depths)
        if np.nanmean(cut[:, at]) >= np.nanmean(whole[:, at]) - _SAME:
            high = middle
        else:
            low = middle + 1
    return ladder[low] if low < len(ladder) else deepest


FEWEST_IN_SLICE = 8


def _slices(truth: GroundTruth) -> dict[str, Bools]:
    """The slices of some size: by every tag, and by what ``--by auto`` sees in the texts."""
    texts = FROM_TEXT if has_questions(truth.queries) else ()
    found = {}
    for name in dict.fromkeys([*truth.tags, *texts]):
        labels = labels_of(truth.queries, truth.tags, name)
        if is_cut(labels.to_list()):
            for value in labels.unique().sort():
                chosen = (labels == value).to_numpy()
                if value != UNTAGGED and chosen.sum() >= FEWEST_IN_SLICE:
                    found[f"{name}={value}"] = chosen
    return found


def _best_for(ahead: Sequence[Floats], slices: Mapping[str, Bools]) -> list[tuple[str, ...]]:
    """For each lane the slices in which it is better than every other, all tested together."""
    tried = [
        (lane, name, np.where(chosen, one, np.nan))
        for lane, one in enumerate(ahead)
        for name, chosen in slices.items()
        if np.nansum(one[chosen]) > 0
    ]
    rows = paired_rows([column for *_, column in tried]) if tried else []
    better = [
        (lane, name)
        for (lane, name, _), row in zip(tried, rows, strict=True)
        if row.standing == "better"
    ]
    return [tuple(name for at, name in better if at == lane) for lane in range(len(ahead))]


def _ceiling(bench: Bench) -> Ceiling:
    """Recall of all candidates, and every metric in the best order."""
    known = bench.pair.matches
    whole = parse([f"recall@{max(1, bench.pair.depth)}"])
    [recall] = compute(known, [whole[0].with_rel(bench.pair.rel)], bench.pair.policy).T
    return Ceiling(
        exact_mean(recall[~np.isnan(recall)]) if not np.isnan(recall).all() else 0.0,
        bench.means(compute(best_order(known, bench.pair.rel), bench.metrics, bench.pair.policy)),
    )


def best_order(known: Matches, rel: float | None) -> Matches:
    """The same results, with those that contain the best targets first."""
    grade = np.where(known.relevant(rel), known.target_grade, 0.0)[known.edge_target]
    holder = np.cumsum(known.is_new_rank) - 1
    best = np.zeros(int(holder[-1]) + 1 if holder.size else 0)
    np.maximum.at(best, holder, grade)
    query, rank = known.edge_query[known.is_new_rank], known.edge_rank[known.is_new_rank]
    order = np.lexsort((rank, -best, query))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - np.searchsorted(query, query[order]) + 1
    return _at_ranks(known, place[holder])


def _reranker(pair: Matched, metrics: Sequence[Metric], k: int) -> Reranker:
    """Compare a run with the candidates that its reranker was given."""
    from calipers.measures.views import Found

    given = pair.as_read[1].stages["candidates"]
    before = match_again(pair, given)
    bench = Bench.of({"candidates": before, "reranked": pair}, metrics, k)

    def means(matches: Matches) -> dict[str, float]:
        return bench.means(compute(matches, metrics, pair.policy))

    was = Found.of(before.matches, pair.rel).rank <= k
    now = Found.of(pair.matches, pair.rel).rank <= k
    deepest = bench.lanes.depths[0]
    return Reranker(
        means(before.matches),
        means(pair.matches),
        means(best_order(before.matches, pair.rel)),
        int((was & ~now).sum()),
        deepest,
        _candidates_needed(bench, compute(pair.matches, metrics, pair.policy), deepest),
        _share_of_time(given, pair.as_read[1]),
    )


def _candidates_needed(bench: Bench, whole: Floats, deepest: int) -> int:
    """How many candidates are enough, found by removing deeper ones from the reranked list."""
    rank = bench.lanes.rank
    shallower: list[int] = [d for d in (bench.k, *range(10, deepest, 10)) if d < deepest]
    for depth in shallower:
        kept = np.where(rank[:, 0] <= depth, rank[:, 1], 0)
        cut = replace(bench, lanes=replace(bench.lanes, rank=np.stack([rank[:, 0] * 0, kept], 1)))
        [values] = cut.values([alone(1, 2)])
        if np.nanmean(values[:, 0]) >= np.nanmean(whole[:, 0]) - _SAME:
            return depth
    return deepest


def _times(run: Run) -> Floats | None:
    queries = run.queries
    if queries is None or "latency_ms" not in queries.columns:
        return None
    times = queries["latency_ms"].cast(pl.Float64).drop_nulls().to_numpy()
    return times if times.size else None


def _share_of_time(given: Run, run: Run) -> float | None:
    before, after = _times(given), _times(run)
    if before is None or after is None or not after.sum():
        return None
    return max(0.0, 1.0 - float(np.median(before)) / float(np.median(after)))


def _latencies(pairs: Mapping[str, Matched]) -> dict[str, Floats]:
    """The latencies of each timed lane, in the order of its own queries."""
    found = {name: _times(pair.as_read[1]) for name, pair in pairs.items()}
    return {name: times for name, times in found.items() if times is not None}


def _latency(times: Floats | None) -> Latency | None:
    if times is None:
        return None
    return Latency(*(float(np.percentile(times, at)) for at in (50, 95)))


def _together(latency: Mapping[str, Floats]) -> dict[str, Latency]:
    """The latency of all lanes in parallel and in sequence, if timed on equally many queries."""
    sizes = {len(times) for times in latency.values()}
    if len(latency) < FEWEST or len(sizes) != 1:
        return {}
    table = np.stack(list(latency.values()))
    several = {"parallel": table.max(axis=0), "sequence": table.sum(axis=0)}
    return {name: one for name, times in several.items() if (one := _latency(times))}


def _tokens(bench: Bench, way: Way) -> float | None:
    """Tokens of the first k results per query, if known."""
    if "tokens" not in bench.lanes.rows.columns:
        return None
    rows, _ = bench.ranking(way, bench.k)
    tokens = bench.lanes.rows["tokens"][rows]
    return None if tokens.null_count() else float(tokens.sum()) / len(bench.lanes.queries)
