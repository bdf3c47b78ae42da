"""The highest nDCG over all ways to grade what nobody judged.

An unjudged result that gets a grade adds to what was reached and to what could have been
reached, so the highest value may need grades in between. Ratios are raised step by step
(Dinkelbach): for a ratio r, find the grades for which reached - r * ideal is largest, take their
ratio as the next r, and stop when it no longer grows.

For a fixed r the best grades fall down the ranking. So of the unjudged results, in order of
rank, the first c1 get the highest grade, those up to c2 the next, and so on, and the sum falls
apart into one term for each number c:

    (gain of the level - gain of the next) * (discounts of the first c - r * ideal discounts)

which is solved level by level with a running maximum. Grades that the ground truth does not
hold cannot do better: between two of its grades the ratio has no peak.
"""

from collections.abc import Sequence

import numpy as np

from calipers.model.arrays import Floats, Ints

_STEPS = 50


def highest_ndcg(
    reached: float, judged: Floats, unjudged: Ints, levels: Sequence[float], k: int | None = None
) -> float:
    """The highest nDCG of one query.

    `reached` is its DCG as judged, `judged` the gains of all its targets, `unjudged` the ranks
    of results nobody judged, `levels` the gains a result can have, those of `judged` among them.

    >>> highest_ndcg(0.5 / np.log2(3), np.array([0.5]), np.array([1]), [1.0, 0.5])
    1.0
    """
    ranks = np.sort(unjudged if k is None else unjudged[unjudged <= k])
    gains = np.sort(np.unique(np.asarray(levels, dtype=np.float64)))[::-1]
    gains = gains[gains > 0.0]
    steps = -np.diff(gains, append=0.0)
    counts = np.arange(len(ranks) + 1)
    # What the first c unjudged results add for each unit of gain, and what they cost.
    added = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(ranks + 1.0))])
    above = np.array([np.count_nonzero(judged >= gain) for gain in gains], dtype=np.int64)
    deepest = len(ranks) + len(judged)
    discounts = 1.0 / np.log2(np.arange(deepest) + 2.0)
    if k is not None:
        discounts[k:] = 0.0
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])
    costs = ideal[above[:, np.newaxis] + counts]
    best = 0.0
    for _ in range(_STEPS):
        chosen = _best_counts(steps[:, np.newaxis] * (added - best * costs))
        value = reached + float(steps @ added[chosen])
        whole = float(steps @ costs[np.arange(len(gains)), chosen])
        if whole <= 0.0 or value / whole <= best * (1.0 + 1e-15):
            break
        best = value / whole
    return min(float(best), 1.0)


def _best_counts(worth: Floats) -> Ints:
    """One column per row, never falling from row to row, with the largest sum of worths."""
    total = np.zeros(worth.shape[1])
    totals = []
    for row in worth:
        total = np.maximum.accumulate(total) + row
        totals.append(total)
    chosen = np.empty(len(worth), dtype=np.int64)
    last = worth.shape[1] - 1
    for at in range(len(worth) - 1, -1, -1):
        last = int(np.argmax(totals[at][: last + 1]))
        chosen[at] = last
    return chosen
