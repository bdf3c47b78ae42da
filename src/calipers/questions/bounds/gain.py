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

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.model.arrays import Bools, Floats, Ints

_STEPS = 50
_AT_ONCE = 500_000
"""Numbers of unjudged results that are tried together, over all queries and grades."""


def highest_ndcg(
    reached: Floats,
    judged: tuple[Ints, Floats],
    unjudged: tuple[Ints, Ints],
    levels: Sequence[float],
    k: int | None = None,
) -> Floats:
    """The highest nDCG of each query.

    ``reached`` are their DCGs as judged, ``judged`` the queries and gains of all targets,
    ``unjudged`` the queries and ranks of results nobody judged, both sorted by query, ``levels``
    the gains that a result can have, those of ``judged`` among them.

    >>> targets, results = (np.array([0]), np.array([0.5])), (np.array([0]), np.array([1]))
    >>> highest_ndcg(np.array([0.5 / np.log2(3)]), targets, results, [1.0, 0.5]).tolist()
    [1.0]
    """
    query, rank = unjudged
    if k is not None:
        query, rank = query[rank <= k], rank[rank <= k]
    order = np.lexsort((rank, query))
    query, rank = query[order], rank[order]
    gains = np.unique(np.asarray(levels, dtype=np.float64))[::-1]
    gains = gains[gains > 0.0]
    best = np.zeros(reached.size)
    if not gains.size:
        return best
    # How many of its targets are worth as much as each level, or more.
    above = np.zeros((reached.size, gains.size), dtype=np.int64)
    for at, gain in enumerate(gains):
        above[:, at] = np.bincount(judged[0][judged[1] >= gain], minlength=reached.size)
    counts = np.bincount(query, minlength=reached.size)
    most = int(counts.max(initial=0))
    discounts = 1.0 / np.log2(np.arange(most + above.max(initial=0)) + 2.0)
    if k is not None:
        discounts[k:] = 0.0
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])
    steps = -np.diff(gains, append=0.0)
    for some in _portions(reached.size, gains.size * (most + 1)):
        first, last = np.searchsorted(query, [some.start, some.stop])
        mine, own = query[first:last] - some.start, counts[some]
        place = np.arange(last - first) - (np.cumsum(own) - own)[mine]
        # What the first c unjudged results add for each unit of gain.
        added = np.zeros((own.size, most + 1))
        added[mine, place + 1] = 1.0 / np.log2(rank[first:last] + 1.0)
        np.cumsum(added, axis=1, out=added)
        there = np.arange(most + 1) <= own[:, np.newaxis]
        best[some] = _raised(reached[some], added, above[some], there, ideal, steps)
    return np.minimum(best, 1.0)


def _portions(queries: int, each: int) -> Iterator[slice]:
    size = max(1, _AT_ONCE // each)
    return (slice(at, min(at + size, queries)) for at in range(0, queries, size))


def _raised(
    reached: Floats, added: Floats, above: Ints, there: Bools, ideal: Floats, steps: Floats
) -> Floats:
    """The ratio of each query, raised until it no longer grows."""
    best = np.zeros(reached.size)
    rising = np.arange(reached.size)
    counts = np.arange(added.shape[1])
    for _ in range(_STEPS):
        gained, possible = added[rising], there[rising]
        # What the first c of them cost at each level; more than there are cannot be taken.
        costs = [ideal[np.minimum(one[:, np.newaxis] + counts, ideal.size - 1)] for one in above.T]
        ratio = best[rising, np.newaxis]
        worth = (
            np.where(possible, step * (gained - ratio * cost), -np.inf)
            for step, cost in zip(steps, costs, strict=True)
        )
        value, whole = reached[rising], np.zeros(rising.size)
        for step, cost, chosen in zip(steps, costs, _best_counts(worth), strict=True):
            value = value + step * np.take_along_axis(gained, chosen, 1)[:, 0]
            whole += step * np.take_along_axis(cost, chosen, 1)[:, 0]
        next_best = np.divide(value, whole, out=np.zeros_like(whole), where=whole > 0.0)
        grows = next_best > best[rising] * (1.0 + 1e-15)
        rising, above = rising[grows], above[grows]
        best[rising] = next_best[grows]
        if not rising.size:
            break
    return best


def _best_counts(worth: Iterator[Floats]) -> list[Ints]:
    """One column for each table, never falling from table to table, with the largest sums."""
    totals: list[Floats] = []
    for one in worth:
        totals.append(one + np.maximum.accumulate(totals[-1], axis=1) if totals else one)
    chosen: list[Ints] = []
    for total in reversed(totals):
        if chosen:
            total = np.where(np.arange(total.shape[1]) <= chosen[-1], total, -np.inf)
        chosen.append(np.argmax(total, axis=1)[:, np.newaxis])
    return chosen[::-1]
