"""Whether targets stand more and more often down to a rank, and seldom behind it.

So it is where the first results are in reverse order: read from that rank up, targets become fewer
and fewer, and the ranks behind it hold no more than the last of them. Targets that are only ranked
late are as many at its neighbours, or stand there as if they began at some rank.
"""

import math

import numpy as np

from calipers.model.arrays import Floats, Ints
from calipers.statistics.paired_rows import sign_test

RISES = 0.025
"""The level at which the ranks must not hold equally many targets."""
ENDS = 0.01
"""The level at which those behind have to hold fewer than the last ones."""
LATE = 0.05
"""The level at which those behind may not hold more than the first ones, where targets are late."""
STEP = 3.0
"""A step may explain the ranks better than a fall by so much log-likelihood, as it has a place and
a height to be chosen. At this value few lists are called reversed whose targets begin at a rank."""
_FALLS = tuple(step / 20 for step in range(1, 20))
"""From one rank to the next, the share of targets that is left: a geometric fall."""
_POWERS = tuple(step / 4 for step in range(1, 13))
"""The same as powers of the rank."""


def rise_and_end(at: Ints, depth: int) -> bool:
    """Whether targets rise towards a rank and end there; ``at`` are the targets at each rank.

    >>> falling = np.array([0, 1, 2, 3, 6, 12, 0, 1, 0])
    >>> rise_and_end(falling, 5), rise_and_end(falling[::-1], 3)
    (True, False)
    """
    behind = int(at[depth + 1 : depth + 3].sum())
    ends = sign_test(int(at[depth - 1 : depth + 1].sum()), behind) <= ENDS
    is_late = any(
        sign_test(int(at[depth + 1 :][:few].sum()), int(at[1:][:few].sum())) <= LATE
        for few in (1, 2)
    )
    # In reverse order it has the second best; targets that begin at the depth stand behind it.
    has_next = bool(at[depth - 1] >= at[depth + 1])
    first = at[1 : depth + 1]
    return (
        ends
        and has_next
        and not is_late
        and p_that_flat(first) <= RISES
        and falls_as_a_step(first[::-1])
    )


def p_that_flat(counts: Ints) -> float:
    """The one-sided p that the ranks hold equally many, against more and more of them.

    >>> [round(p_that_flat(np.array(counts)), 3) for counts in ([1, 4, 7], [5, 5], [7, 4, 1])]
    [0.017, 0.5, 0.983]
    """
    steps = np.arange(counts.size) - (counts.size - 1) / 2
    spread = math.sqrt(counts.sum() * np.mean(steps**2)) or 1.0
    return math.erfc(float(counts @ steps) / spread / math.sqrt(2)) / 2


def falls_as_a_step(counts: Ints) -> bool:
    """Whether a steady fall explains the counts about as well as a step down does.

    >>> falls_as_a_step(np.array([12, 6, 3, 2, 1])), falls_as_a_step(np.array([8, 8, 8, 0, 0]))
    (True, False)
    """
    ranks = np.arange(counts.size, dtype=np.float64)
    shapes: list[Floats] = [fall**ranks for fall in _FALLS]
    shapes += [(ranks + 1) ** -power for power in _POWERS]
    fall = max(_log_likelihood(counts, shape) for shape in shapes)
    # A step behind the first rank alone is a fall, too.
    steps = range(2, counts.size + 1)
    return all(fall >= _of_step(counts, width) - STEP for width in steps)


def fall_from_rank_to_rank(ranks: Ints, lengths: Ints) -> float:
    """The share of targets that is left from one rank to the next, most likely; at most 1.

    ``ranks`` are those of targets, ``lengths`` those of their lists.

    >>> fall_from_rank_to_rank(np.array([1] * 8 + [2] * 4 + [3] * 2 + [4]), np.full(15, 4))
    0.5
    >>> fall_from_rank_to_rank(np.array([1, 2, 3, 4]), np.full(4, 4))
    1.0
    """
    many = np.bincount(lengths)
    steps = int((ranks - 1).sum())

    def likelihood(fall: float) -> float:
        of_lists = np.log(np.cumsum(fall ** np.arange(many.size)))
        return steps * math.log(fall) - float(many[1:] @ of_lists[:-1])

    return max((*_FALLS, 1.0), key=likelihood)


def _log_likelihood(counts: Ints, shape: Floats) -> float:
    """Of counts that are drawn in proportion to a shape."""
    return float(counts @ np.log(shape / shape.sum()))


def _of_step(counts: Ints, width: int) -> float:
    """Of counts that are drawn evenly from the first ranks, and evenly and less from the rest."""
    shape = np.empty(counts.size)
    shape[:width] = counts[:width].mean()
    shape[width:] = counts[width:].mean() if width < counts.size else 0.0
    if shape[0] < shape[-1]:
        return -math.inf
    some = counts > 0
    return float(counts[some] @ np.log(shape[some] / shape.sum()))
