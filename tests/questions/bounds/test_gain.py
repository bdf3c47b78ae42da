"""The highest nDCG against all ways of grading."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    found = highest_ndcg(reached, judged, ranks, [1.0, 2.0, 3.0], k)
    assert found == pytest.approx(max(seen), abs=1e-9)
