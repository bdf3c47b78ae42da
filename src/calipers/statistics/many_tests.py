"""Many tests at once: Holm's correction, what it leaves within reach, and which systems differ.

How small a p-value can become is known before anything is measured: three queries that all got
worse have 2 / 2**3, whatever happened. A row whose smallest p-value would not pass the correction
could never be shown: it takes no part, so that it costs the others nothing, and its answer is
"cannot tell", never "no difference".
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from calipers.errors import InvalidInput

FEWEST_PILOT = 5
"""Fewer queries are no pilot, and nothing is shown with fewer."""


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values: reject those below alpha, and the chance of any false alarm is alpha.

    The smallest of m p-values is multiplied by m, the next by m - 1 and so on; an adjusted value
    is never below that of a smaller p-value, and never above 1. None and NaN (no test was made)
    stay where they are and do not count towards m.

    >>> holm([0.01, 0.04, None, 0.02])
    [0.03, 0.04, None, 0.04]
    """
    adjusted: list[float | None] = list(p_values)
    tested = [(p, at) for at, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    for p, at in tested:
        if not 0.0 <= p <= 1.0:
            raise InvalidInput(
                f"A p-value is out of range, position {at}: found {p}, 0 to 1 is allowed."
            )
    highest = 0.0
    for rank, (p, at) in enumerate(sorted(tested)):
        highest = max(highest, min(1.0, p * (len(tested) - rank)))
        adjusted[at] = highest
    return adjusted


@dataclass(frozen=True, slots=True)
class Family:
    """What several tests say together; one error in 1 / alpha such families, or fewer."""

    adjusted: tuple[float | None, ...]
    """By Holm among the rows within reach; above alpha for every other; None: no test was made."""
    reachable: tuple[bool, ...]
    """Which rows could have been shown, whatever was measured."""
    rows: tuple[int, ...]
    """How many rows each is corrected for, itself among them."""
    tests: int
    """Rows that were tested together."""
    alpha: float


_ROUNDING = 1.0 + 1e-9


def family_of(
    p_values: Sequence[float | None], least: Sequence[float | None], alpha: float = 0.05
) -> Family:
    """Holm's correction over as many rows as could each be shown beside the others.

    ``least`` is the smallest p-value that each row could have had (``least_p`` of a paired or
    two-sample test; 0.5**n one-sided). It depends on numbers of queries alone, so choosing rows by
    it costs nothing. Rows are marked where ``adjusted`` is at most alpha; where not ``reachable``
    the answer is "cannot tell".

    >>> found = family_of([0.01, 0.25, 0.04], [0.001, 0.25, 0.001])
    >>> found.adjusted, found.reachable, found.tests
    ((0.02, 0.75, 0.04), (True, False, True), 2)
    """
    known = [
        at
        for at, p in enumerate(p_values)
        if p is not None and not math.isnan(p) and least[at] is not None
    ]
    order = sorted(known, key=lambda at: (least[at] or 0.0, at))
    within = 0
    while within < len(order) and (least[order[within]] or 0.0) * (within + 1) <= alpha * _ROUNDING:
        within += 1
    # Of equal rows all are in or none: which of them is named first must not matter.
    while 0 < within < len(order) and least[order[within]] == least[order[within - 1]]:
        within -= 1
    tested = order[:within]
    adjusted = dict(zip(tested, holm([p_values[at] for at in tested]), strict=True))
    rows = dict.fromkeys(tested, within)
    limits = [least[at] or 0.0 for at in order]
    for at in order[within:]:
        rows[at] = bisect_right(limits, least[at] or 0.0)
        adjusted[at] = min(1.0, (p_values[at] or 0.0) * rows[at])
    every = range(len(p_values))
    return Family(
        tuple(adjusted.get(at) for at in every),
        tuple(at in tested for at in every),
        tuple(rows.get(at, within + 1) for at in every),
        within,
        alpha,
    )


def groups_of(
    order: Sequence[int], apart: Collection[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """First and last place (both within) of the longest stretches without a pair that is apart.

    ``order`` are numbers of systems, best first; ``apart`` are pairs of numbers, the smaller first.

    >>> groups_of([2, 0, 1], {(1, 2)})
    ((0, 1), (1, 2))
    """

    def together(first: int, last: int) -> bool:
        within = order[first : last + 1]
        return not any((min(a, b), max(a, b)) in apart for a, b in combinations(within, 2))

    groups: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and together(first, last + 1):
            last += 1
        if not groups or last > groups[-1][1]:
            groups.append((first, last))
    return tuple(groups)


def fewest_queries(level: float) -> int:
    """With fewer queries than this, not even the same difference on all of them is shown.

    n equal differences have a two-sided p-value of 2 / 2**n, as in the sign test.

    >>> fewest_queries(0.05)
    6
    """
    return max(FEWEST_PILOT, 1 + math.ceil(math.log2(1.0 / level) - 1e-9))
