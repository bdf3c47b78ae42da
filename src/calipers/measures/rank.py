"""Where the targets stand: MRR, MAP, R-precision, first rank."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from calipers.measures.define import Series, metric
from calipers.measures.parameter import AboveZero, Level
from calipers.measures.views import NEVER, Claims, Found, per_query, ratio, within
from calipers.model.arrays import Floats

LEAST_IN_GEOMETRIC_MEAN = 1e-5
"""The least value of a query, as a single 0 would make the whole mean 0."""


@metric(better="higher", also=("rr", "recip_rank", "reciprocal_rank"))
def mrr(found: Found, k: int | None = None) -> Floats:
    """1 over the rank of the first target; 0 if there is none, or none in the first k."""
    first = found.first()
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
    total = claims.total if denominator == "all" or k is None else np.minimum(claims.total, k)
    points = claims.ordinal[keep] / claims.position[keep]
    return ratio(per_query(claims.query[keep], claims.n_queries, points), total)


@metric(better="higher", also=("rprec", "r_prec"))
def r_precision(found: Found) -> Floats:
    """The share of the R targets that stand in the first R results."""
    total = found.total
    return ratio(found.hits_within(total.astype(np.int64)), total)


@metric(
    better="higher", series=Series("multiple", (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0))
)
def rprec_mult(found: Found, multiple: AboveZero) -> Floats:
    """Precision at a multiple of R: at the rank multiple × R, rounded up.

    ``multiple=1`` is r_precision; without a multiple those of trec_eval are meant, 0.2 to 2.
    """
    depth = np.ceil(np.minimum(multiple * found.total, NEVER >> 32) - 1e-9)
    return ratio(np.minimum(found.hits_within(depth.astype(np.int64)), depth), depth)


@metric(better="higher", bounds=(LEAST_IN_GEOMETRIC_MEAN, 1), also=("gmap",), aggregate="geometric")
def gm_map(claims: Claims) -> Floats:
    """Average precision, of which the geometric mean is taken: queries that fail weigh more.

    Per query it is map, and 0.00001 where that is less, as in trec_eval.
    """
    return np.maximum(map(claims), LEAST_IN_GEOMETRIC_MEAN)


@metric(better="lower", bounds=(1, None))
def first_rank(found: Found) -> Floats:
    """The rank of the first target; undefined if none was found.

    Its median says more than its mean.
    """
    first = found.first()
    return np.where(np.isinf(first), np.nan, first)


# The curve of precision over recall, read at fixed levels of recall.

LEVELS = tuple(tenth / 10 for tenth in range(11))
Needed = Literal["up", "nearest"]

_WHOLE: dict[str, Callable[[Floats], Floats]] = {
    # A product that is slightly too large by rounding must not require one more target.
    "up": lambda targets: np.ceil(targets - 1e-9),
    "nearest": lambda targets: np.floor(targets + 0.5),
}


@metric(better="higher", also=("iprec",), series=Series("level", LEVELS))
def iprec_at_recall(claims: Claims, level: Level, needed: Needed = "up") -> Floats:
    """Interpolated precision: the highest precision at any rank where recall is at least the level.

    0 where recall never gets that far. The level times R is rounded up to whole targets;
    ``needed=nearest`` rounds to the nearest number, as trec_eval does from version 10 on. Without
    a level the usual eleven are meant, 0 to 1.
    """
    least = _WHOLE[needed](level * claims.total)
    precision = claims.ordinal / claims.position
    counts = claims.ordinal >= least[claims.query]
    best = np.zeros(claims.n_queries)
    np.maximum.at(best, claims.query[counts], precision[counts])
    return np.where(claims.total > 0, best, np.nan)


@metric(better="higher", also=("11pt_avg", "11_pt_avg"))
def eleven_point_average(claims: Claims, needed: Needed = "up") -> Floats:
    """The mean of iprec_at_recall over the levels 0, 0.1 … 1."""
    total = np.zeros(claims.n_queries)
    # One by one: numpy adds in another order where there is only one query.
    for level in LEVELS:
        total += iprec_at_recall(claims, level, needed)
    return total / len(LEVELS)
