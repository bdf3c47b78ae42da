"""The highest nDCG against all ways of grading."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.questions.bounds import gain as module
from calipers.questions.bounds.gain import highest_ndcg


def ndcg(gains, missing, k):
    reached = sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, 1) if rank <= k)
    best = sorted([*gains, *missing], reverse=True)
    ideal = sum(gain / np.log2(rank + 1) for rank, gain in enumerate(best, 1) if rank <= k)
    return reached / ideal if ideal else 0.0


@given(
    st.lists(st.sampled_from([None, 0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=6),
    st.lists(st.sampled_from([1.0, 2.0, 3.0]), max_size=3),
    st.integers(1, 7),
)
def test_all_ways_tried_one_by_one(returned, missing, k):
    open_ones = [at for at, gain in enumerate(returned) if gain is None]
    seen = []
    # Halves as well: grades that the ground truth does not hold are no better.
    for way in product([0.0, 0.5, 1.0, 1.5, 2.0, 3.0], repeat=min(len(open_ones), 4)):
        gains = [gain or 0.0 for gain in returned]
        for at, gain in zip(open_ones, way, strict=False):
            gains[at] = gain
        seen.append(ndcg(gains, missing, k))
    judged = np.array([gain for gain in [*returned, *missing] if gain])
    reached = sum(
        gain / np.log2(rank + 1) for rank, gain in enumerate(returned, 1) if gain and rank <= k
    )
    ranks = np.array(open_ones[:4], dtype=np.int64) + 1
    found = highest_ndcg(
        np.array([reached]),
        (np.zeros(judged.size, dtype=np.int64), judged),
        (np.zeros(ranks.size, dtype=np.int64), ranks),
        [1.0, 2.0, 3.0],
        k,
    )
    assert found == pytest.approx(max(seen), abs=1e-9)


def one_by_one(reached, judged, ranks, levels, k):
    """The same for one query, with loops over levels and numbers of results."""
    ranks = sorted(rank for rank in ranks if k is None or rank <= k)
    gains = sorted({level for level in levels if level > 0}, reverse=True)
    steps = [gain - after for gain, after in zip(gains, [*gains[1:], 0.0], strict=True)]
    discount = [1 / np.log2(at + 2) if k is None or at < k else 0.0 for at in range(40)]
    added = [sum(1 / np.log2(rank + 1) for rank in ranks[:c]) for c in range(len(ranks) + 1)]
    above = [sum(one >= gain for one in judged) for gain in gains]
    best = 0.0
    for way in product(range(len(ranks) + 1), repeat=len(gains)):
        if list(way) == sorted(way):
            more = sum(step * added[c] for step, c in zip(steps, way, strict=True))
            costs = [sum(discount[: n + c]) for n, c in zip(above, way, strict=True)]
            whole = sum(step * cost for step, cost in zip(steps, costs, strict=True))
            best = max(best, (reached + more) / whole if whole > 0 else 0.0)
    return min(best, 1.0)


RANKS = st.permutations(range(1, 9))


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(RANKS, st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([[1.0], [0.5, 1.0], [0.25, 0.5, 1.0]]),
    st.sampled_from([None, 1, 3, 6]),
    st.sampled_from([1, 500_000]),
)
def test_many_queries_together_are_each_alone(queries, levels, k, at_once):
    targets, results, reached, alone = [], [], [], []
    for number, (order, unjudged, found, lost) in enumerate(queries):
        ranks, held = order[:unjudged], order[unjudged : unjudged + found]
        gains = [levels[at % len(levels)] for at in range(found + lost)]
        points = (
            gain / np.log2(rank + 1)
            for gain, rank in zip(gains, held, strict=False)
            if k is None or rank <= k
        )
        reached.append(float(sum(points)))
        targets += [(number, gain) for gain in gains]
        results += [(number, rank) for rank in ranks]
        alone.append(one_by_one(reached[-1], gains, ranks, levels, k))
    with patch.object(module, "_AT_ONCE", at_once):
        found = highest_ndcg(
            np.array(reached), _columns(targets, float), _columns(results, int), levels, k
        )
    assert found == pytest.approx(alone, abs=1e-12)


def test_without_a_grade_above_zero_nothing_is_gained():
    none = np.empty(0, dtype=np.int64)
    found = highest_ndcg(np.zeros(2), (none, np.empty(0)), (np.array([0]), np.array([1])), [0.0])
    assert found.tolist() == [0.0, 0.0]


def _columns(rows, kind):
    """Query and value of each row."""
    numbers, values = zip(*rows, strict=True) if rows else ((), ())
    return np.array(numbers, dtype=np.int64), np.array(values, dtype=kind)
