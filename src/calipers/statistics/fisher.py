"""Whether something happens more often in one group than in another: Fisher's exact test."""

import math


def more_often(hits: int, of: int, other_hits: int, others: int) -> float:
    """The one-sided p that ``hits`` of some are no larger a share than those of the others.

    The chance of at least so many hits, if all hits of both groups were dealt out at random.

    >>> round(more_often(3, 9, 0, 150), 6), more_often(0, 5, 3, 10)
    (0.000128, 1.0)
    """
    if not hits:
        return 1.0
    dealt = hits + other_hits
    every = _ways(of + others, dealt)
    chances = (
        math.exp(_ways(of, some) + _ways(others, dealt - some) - every)
        for some in range(max(hits, dealt - others), min(of, dealt) + 1)
    )
    return min(1.0, math.fsum(chances))


def _ways(n: int, k: int) -> float:
    """The logarithm of the number of ways to take k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
