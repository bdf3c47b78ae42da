"""Where the targets stand: MRR, MAP, R-precision, first rank, and precision over recall."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from calipers.measures.define import metric
from calipers.measures.views import Claims, Found, per_query, ratio, within
from calipers.model.arrays import Floats


@metric(better="higher", also=("rr", "recip_rank", "reciprocal_rank"))
def mrr(view: Found, k: int | None = None) -> Floats:
    """1 over the rank of the first target; 0 if there is none, or none in the first k."""
    first = view.first()
    return np.where(first <= (np.inf if k is None else k), 1.0 / first, 0.0)


@metric(better="higher", also=("ap", "map_cut", "average_precision"))
def map(  # noqa: A001 - the metric's own name; the builtin is not used here
    claims: Claims, k: int | None = None, denominator: Literal["all", "min"] = "all"
) -> Floats:
    """Average precision: targets so far / position, summed over the found targets, over R.

    Divided by the number of all targets, found or not; ``denominator=min`` divides by
    min(targets, k), the highest number k results can hold.
    """
    keep = within(claims.position, k)
    total = (
        claims.total if denominator == "all" or k is None else np.minimum(claims.total, k)
    )
    points = claims.ordinal[keep] / claims.position[keep]
    return ratio(per_query(claims.query[keep], claims.n_queries, points), total)


@metric(better="higher", also=("rprec", "r_prec"))
def r_precision(view: Found) -> Floats:
    """The share of the R targets that stand in the first R results."""
    total = view.total
    return ratio(view.hits_within(total.astype(np.int64)), total)


@metric(better="lower", bounds=(1, None))
def first_rank(view: Found) -> Floats:
    """The rank of the first target; undefined if none was found.

    Its median says more than its mean.
    """
    first = view.first()
    return np.where(np.isinf(first), np.nan, first)


# The curve of precision over recall, with trec_eval's names and values.

LEVELS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
"""The levels of recall, as they are written in names."""
CURVE = "iprec_at_recall"
"""The name before the level; alone it stands for all levels."""


def _at_level(level: str) -> Callable[[Claims], Floats]:
    """The function of one level."""

    def precision_at_recall(claims: Claims) -> Floats:
        return claims.precision_at_recall(float(level))

    precision_at_recall.__doc__ = (
        f"The highest precision at or below the rank where recall reaches {level}; 0 if "
        "it never does."
    )
    return precision_at_recall


for _level in LEVELS:
    metric(better="higher", name=f"{CURVE}_{_level}")(_at_level(_level))


@metric(better="higher", name="11pt_avg", also=("11pt", "eleven_point_average"))
def eleven_points(claims: Claims) -> Floats:
    """The mean of iprec_at_recall over the eleven levels from 0.00 to 1.00."""
    # From the last level down, as trec_eval sums, so that the last digit is the same.
    total = np.zeros(claims.n_queries)
    for level in reversed(LEVELS):
        total += claims.precision_at_recall(float(level))
    return total / len(LEVELS)
