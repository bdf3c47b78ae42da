"""What each lane and the reranker add, how deep lanes are needed, and what is left to gain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from calipers.measures import parse
from calipers.measures.views import Found, within
from calipers.model.arrays import Bools, Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched, Matches
from calipers.model.run import Run
from calipers.model.slicing import FROM_TEXT, UNTAGGED, has_questions, is_cut, labels_of
from calipers.questions.fuse.bench import Bench, at_ranks
from calipers.questions.fuse.result import Ceiling, Lane, Latency, Reranker
from calipers.questions.fuse.ways import Way, alone

SAME = 1e-12
FEWEST_IN_SLICE = 8
PARALLEL = "parallel"
SEQUENCE = "sequence"


def lanes_worth(
    bench: Bench, way: Way, singles: Floats, latency: Mapping[str, Latency]
) -> tuple[Lane, ...]:
    """What each lane adds to a setting; ``singles`` are the values of the lanes alone."""
    lanes = bench.lanes
    n = bench.lanes.n
    [whole] = _units_within(bench, [way], bench.k)
    returned = _units_within(bench, [alone(lane, n) for lane in range(n)], None)
    # Of two lanes, the other alone is left.
    left_out = [alone(1 - at, n) if n == 2 else way.without(at) for at in range(n)]
    without = _units_within(bench, left_out, bench.k)
    slices = _slices(bench.pair.ground_truth)
    worths = []
    for lane, name in enumerate(lanes.names):
        others = np.delete(np.arange(n), lane)
        won = singles[lane, :, 0] - singles[others, :, 0].max(axis=0) > SAME
        elsewhere = np.any([returned[other] for other in others], axis=0)
        worths.append(
            Lane(
                name,
                bench.means(singles[lane]),
                lanes.silent[lane],
                lanes.depths[lane],
                _depth_needed(bench, way, lane),
                int((returned[lane] & ~elsewhere).sum()),
                int((whole & ~without[lane]).sum()),
                {label: int(won[chosen].sum()) for label, chosen in slices.items()},
                latency.get(name),
            )
        )
    return tuple(worths)


def _units_within(bench: Bench, ways: Sequence[Way], k: int | None) -> list[Bools]:
    """Which relevant targets (alternatives count once) each setting has in its first k results."""
    matched = bench.matches(ways, k=k)
    return [within(Found.of(matches, bench.pair.rel).rank, k) for matches in matched]


def _depth_needed(bench: Bench, way: Way, lane: int) -> int:
    """The smallest depth of a lane at which the mean is as good as at full depth."""
    deepest = bench.lanes.depths[lane]
    if not way.weights[lane]:
        return 0
    steps = (step * power for power in (1, 10, 100, 1000) for step in (1, 2, 3, 5, 7))
    ladder = [*(depth for depth in steps if depth < deepest), deepest]
    whole = np.nanmean(bench.values([way])[0, :, 0])
    low = 0
    high = len(ladder) - 1
    # Mostly every depth above the smallest one is enough too, so bisect.
    while low < high:
        middle = (low + high) // 2
        depths = [ladder[middle] if at == lane else None for at in range(bench.lanes.n)]
        if np.nanmean(bench.values([way], depths)[0, :, 0]) >= whole - SAME:
            high = middle
        else:
            low = middle + 1
    return ladder[low]


def _slices(truth: GroundTruth) -> dict[str, Bools]:
    """The slices of some size: by every tag, and by what ``--by auto`` sees in the texts."""
    texts = FROM_TEXT if has_questions(truth.queries) else ()
    slices = {}
    for name in dict.fromkeys([*truth.tags, *texts]):
        labels = labels_of(truth.queries, truth.tags, name)
        if is_cut(labels.to_list()):
            for value in labels.unique().sort():
                chosen = (labels == value).to_numpy()
                if value != UNTAGGED and chosen.sum() >= FEWEST_IN_SLICE:
                    slices[f"{name}={value}"] = chosen
    return slices


def ceiling_of(bench: Bench) -> Ceiling:
    """Recall of all candidates, and every metric in the best order."""
    known = bench.pair.matches
    rel = bench.pair.rel
    [recall] = parse([f"recall@{max(1, bench.pair.depth)}"])
    [whole] = replace(bench, metrics=(recall.with_rel(rel),)).measured(known).values()
    return Ceiling(whole, bench.measured(best_order(known, rel)))


def best_order(known: Matches, rel: float | None) -> Matches:
    """The same results, with those that contain the best targets first."""
    grade = np.where(known.relevant(rel), known.target_grade, 0.0)[known.edge_target]
    holder = np.cumsum(known.is_new_rank) - 1
    best = np.zeros(int(holder[-1]) + 1 if holder.size else 0)
    np.maximum.at(best, holder, grade)
    query = known.edge_query[known.is_new_rank]
    rank = known.edge_rank[known.is_new_rank]
    order = np.lexsort((rank, -best, query))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - np.searchsorted(query, query[order]) + 1
    return at_ranks(known, place[holder])


def reranker_of(bench: Bench, given: Matched, pair: Matched) -> Reranker:
    """A run beside the candidates that its reranker was given: the two lanes of the bench."""
    was, now = _units_within(bench, [alone(0, 2), alone(1, 2)], bench.k)
    before, after = (_times(side.as_read[1]) for side in (given, pair))
    timed = before.size and after.size and np.median(after) > 0
    share = max(0.0, 1.0 - float(np.median(before) / np.median(after))) if timed else None
    return Reranker(
        bench.measured(given.matches),
        bench.measured(pair.matches),
        bench.measured(best_order(given.matches, pair.rel)),
        int((was & ~now).sum()),
        bench.lanes.depths[0],
        _candidates_needed(bench),
        share,
    )


def _candidates_needed(bench: Bench) -> int:
    """How many candidates are enough, found by removing deeper ones from the reranked list."""
    rank = bench.lanes.rank
    deepest = bench.lanes.depths[0]
    whole = np.nanmean(bench.values([alone(1, 2)])[0, :, 0])
    shallower: list[int] = [bench.k, *range(10, deepest, 10)]
    for depth in shallower:
        kept = np.where(rank[:, 0] <= depth, rank[:, 1], 0)
        cut = replace(
            bench, lanes=replace(bench.lanes, rank=np.stack([rank[:, 0] * 0, kept], 1))
        )
        if (
            depth < deepest
            and np.nanmean(cut.values([alone(1, 2)])[0, :, 0]) >= whole - SAME
        ):
            return depth
    return deepest


def _times(run: Run) -> Floats:
    """The latencies of a run in the order of its own queries; empty if it was not timed."""
    queries = run.queries
    if queries is None or "latency_ms" not in queries.columns:
        return np.zeros(0)
    return queries["latency_ms"].cast(pl.Float64).drop_nulls().to_numpy()


def latencies(pairs: Mapping[str, Matched]) -> dict[str, Latency]:
    """The latency of each timed lane, and of all in parallel and in sequence if all were timed."""
    times = {name: _times(pair.as_read[1]) for name, pair in pairs.items()}
    if len({len(time) for time in times.values()}) == 1:
        table = np.stack(list(times.values()))
        times |= {PARALLEL: table.max(axis=0), SEQUENCE: table.sum(axis=0)}
    return {
        name: Latency(*(float(np.percentile(milliseconds, at)) for at in (50, 95)))
        for name, milliseconds in times.items()
        if milliseconds.size
    }
