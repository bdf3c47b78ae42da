"""Where the targets stand: MRR, MAP, R-precision, first rank."""

from typing import Literal

import numpy as np

from calipers.measures.define import metric
from calipers.measures.views import Claims, Found, per_query, ratio, within
from calipers.model.arrays import Floats


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


@metric(better="lower", bounds=(1, None))
def first_rank(found: Found) -> Floats:
    """The rank of the first target; undefined if none was found.

    Its median says more than its mean.
    """
    first = found.first()
    return np.where(np.isinf(first), np.nan, first)
