"""The smallest k that gives away no more recall than a margin.

From the largest k the walk goes down. Each smaller k must show, with the confidence asked for,
that it loses at most the margin of recall against the largest; the walk ends at the first that
does not show it. As true recall never grows with a smaller k, a k that loses too much is only
ever advised where its own test was wrong, so the walk needs no correction for its many steps.

The losses are not negative and mostly zero. Their bound is `largest_mean`, which holds for few
queries too: with no loss at all, a margin of 0.05 takes 59 queries.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.statistics.clusters import as_shares, exact_mean
from calipers.statistics.largest_share import largest_mean

MARGIN = 0.05
CONFIDENCE = 0.95
_MOST_TIMES = 1000.0


@dataclass(frozen=True, slots=True)
class EnoughK:
    """The k that is advised, and what it may lose."""

    k: int
    """The largest k where no smaller one is supported."""
    largest: int
    n: int
    """Queries with a recall, or clusters of them."""
    loss: float
    """Mean recall at the largest k less that at this one."""
    bound: float
    """With the confidence asked for, the loss over all such queries is at most this."""
    margin: float
    confidence: float
    refused: int | None
    """The next smaller k, which was not shown to be within the margin; None if there is none."""
    refused_loss: float | None
    more: int | None
    """About how many more queries would support the refused k; None if it loses too much."""


def enough_k(
    ks: Sequence[int],
    recall: ArrayLike,
    margin: float = MARGIN,
    confidence: float = CONFIDENCE,
    clusters: ArrayLike | None = None,
) -> EnoughK | None:
    """From recall per query (rows) at each rising k (columns); None without any whole row.

    >>> table = np.repeat([[0.0, 1.0, 1.0]], 70, axis=0)
    >>> found = enough_k([1, 5, 20], table)
    >>> found.k, found.loss, round(found.bound, 3), found.refused, found.more
    (5, 0.0, 0.042, 1, None)
    >>> found = enough_k([1, 5, 20], table[:40])
    >>> found.k, found.refused, found.more
    (20, 5, 19)
    """
    values = np.asarray(recall, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(ks):
        raise InvalidInput(
            f"The recall has the shape {values.shape}; one column for each of {len(ks)} k "
            "is needed."
        )
    if not 0.0 < margin < 1.0:
        raise InvalidInput(
            f"The margin is out of range: found {margin}, a number above 0 and below 1 is allowed."
        )
    whole = ~np.isnan(values).any(axis=1)
    values = values[whole]
    if not len(values):
        return None
    named = None if clusters is None else np.asarray(clusters)[whole]
    # Recall is a share with few places; what subtraction leaves below that is rounding.
    losses = np.maximum(values[:, -1:] - values, 0.0)
    losses[losses < 1e-12] = 0.0
    at, bound = len(ks) - 1, 0.0
    refused = None
    while at > 0:
        next_bound = _bound(losses[:, at - 1], named, confidence)
        if next_bound > margin:
            refused = at - 1
            break
        at, bound = at - 1, next_bound
    units = len(values) if named is None else len(np.unique(named))
    return EnoughK(
        k=ks[at],
        largest=ks[-1],
        n=units,
        loss=exact_mean(losses[:, at]),
        bound=bound,
        margin=margin,
        confidence=confidence,
        refused=None if refused is None else ks[refused],
        refused_loss=None if refused is None else exact_mean(losses[:, refused]),
        more=None if refused is None else _more(losses[:, refused], named, margin, confidence),
    )


def _bound(losses: Floats, named: ArrayLike | None, confidence: float) -> float:
    values, scale = as_shares(losses, named)
    return min(1.0, scale * largest_mean(values, confidence))


def _more(losses: Floats, named: ArrayLike | None, margin: float, confidence: float) -> int | None:
    """How many more queries like these would do, were their losses as they are now."""
    if exact_mean(losses) >= margin:
        return None
    values, scale = as_shares(losses, named)

    def enough(times: float) -> bool:
        return scale * largest_mean(values, confidence, times) <= margin

    low, high = 1.0, 2.0
    while not enough(high):
        low, high = high, 2.0 * high
        if high > _MOST_TIMES:
            return None
    n = len(losses)
    while (high - low) * n > 0.5 and high - low > 0.01 * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(1, math.ceil(high * n - 1e-6) - n)
