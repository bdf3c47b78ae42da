"""The share of the exact first k that an index found, where equal distances are equal."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput

CLOSE = 1e-6
"""Scores nearer than this, as a share of their size, are the same score: float32 rounds so."""


def share_found(
    exact: Sequence[Hashable],
    found: Sequence[Hashable],
    k: int,
    exact_scores: ArrayLike | None = None,
    found_scores: ArrayLike | None = None,
) -> float:
    """Of the first k exact neighbours of one query, the share among the first k found.

    Scores (or distances: only their being equal matters) may come with either side. What lies
    as far away as the last of the exact k is as good as it: such ids fill the places that its
    equals take, whichever of them exact search happened to list first.

    >>> share_found([1, 2, 3], [1, 3, 9], k=2)
    0.5
    >>> share_found([1, 2, 3], [1, 3, 9], k=2, exact_scores=[0.9, 0.7, 0.7])
    1.0
    """
    wanted = list(exact)
    if len(wanted) < k:
        raise InvalidInput(
            f"exact search lists {len(wanted)} neighbours, and the recall at k = {k} needs {k}; "
            f"search for {k} or more, or ask for a k up to {len(wanted)}."
        )
    if len(set(wanted)) < len(wanted):
        raise InvalidInput("exact search lists an id twice; each neighbour counts once.")
    first, got = set(wanted[:k]), list(dict.fromkeys(list(found)[:k]))
    if exact_scores is None:
        return len(first.intersection(got)) / k
    scores = _scores(exact_scores, len(wanted), "exact")
    last = scores[k - 1]
    tied = {one for one, score in zip(wanted, scores, strict=True) if _same(score, last)}
    nearer = first - tied
    if found_scores is not None:
        own = _scores(found_scores, len(found), "found")
        known = set(wanted)
        tied |= {
            one
            for one, score in zip(found, own, strict=True)
            if one not in known and _same(score, last)
        }
    places = k - len(nearer)
    hits = len(nearer.intersection(got)) + min(places, len(tied.intersection(got)))
    return hits / k


def _scores(values: ArrayLike, n: int, side: str) -> list[float]:
    scores = np.asarray(values, dtype=np.float64).ravel()
    if len(scores) != n:
        raise InvalidInput(
            f"The {side} scores do not fit: found {len(scores)} for {n} ids; give one for each."
        )
    return [float(score) for score in scores]


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other))
