"""How much of the ranking was judged at all, and what can be said when little was."""

import numpy as np

from calipers.measures.define import metric
from calipers.measures.parameter import Share
from calipers.measures.pool import Judged, Known, Opposed, Sampled
from calipers.measures.views import per_query, ratio, within
from calipers.model.arrays import Floats

_A_LITTLE = 1e-5
"""Of both kinds, so that the estimate exists where nothing was judged yet (trec_eval's value)."""


@metric(better="neither", without_targets="defined")
def judged(judged: Judged, k: int) -> Floats:
    """The share of the first k results that somebody judged; undefined where nothing came back.

    Divided by the number of results shown, k at most. Low values mean that the other metrics
    see little.
    """
    shown = np.minimum(judged.retrieved, k).astype(np.float64)
    keep = within(judged.rank, k)
    return ratio(per_query(judged.query[keep], judged.n_queries), shown)


@metric(better="neither", also=("unj", "hole"), without_targets="defined")
def unjudged(judged: Judged, k: int) -> Floats:
    """How many of the first k results nobody judged, divided by k.

    Divided by k even when fewer results came back, as in trec_eval; an item of negative grade
    counts as not judged, too. BEIR's Hole@k counts only what nobody judged for any query.
    """
    known = within(judged.rank, k) & judged.in_pool
    return (np.minimum(judged.retrieved, k) - per_query(judged.query[known], judged.n_queries)) / k


@metric(better="higher", also=("infap",))
def inferred_ap(sampled: Sampled) -> Floats:
    """Average precision, inferred where only a sample of the pool was judged.

    At each target the precision above it is estimated from what was judged there. A negative
    grade marks an item of the pool that was not judged: it is taken to be relevant as often as
    those that were. An item without a grade stands outside the pool and is not relevant.
    """
    claims = sampled.claims
    before, free = claims.ordinal - 1, claims.position - claims.ordinal
    # Where one result holds several targets, some stand at the places of judged results.
    against = np.minimum(sampled.irrelevant_above, free)
    open_ = np.minimum(sampled.unjudged_above, free - against)
    relevant = (before + _A_LITTLE) / (before + against + 2 * _A_LITTLE)
    above = np.where(claims.position > 1, (before + against + open_) * relevant, 0.0)
    points = (1.0 + above) / claims.position
    return ratio(per_query(claims.query, claims.n_queries, points), claims.total)


@metric(better="higher")
def bpref(opposed: Opposed) -> Floats:
    """How seldom a judged irrelevant result stands above a relevant one; ignores the unjudged.

    The mean over all R targets of 1 - min(irrelevant above, R) / min(irrelevant judged, R);
    a target that was not retrieved counts 0. An item of negative grade counts as not judged,
    as in trec_eval.
    """
    total, against = opposed.n_relevant[opposed.query], opposed.n_irrelevant[opposed.query]
    # Several ranks may hold the same irrelevant target, so there may be more above than judged.
    above = np.minimum(opposed.above, np.minimum(against, total))
    penalty = ratio(above, np.minimum(against, total), where_zero=0.0)
    credit = per_query(opposed.query, opposed.n_queries, 1.0 - penalty)
    return ratio(credit, opposed.n_relevant)


@metric(better="lower", also=("rbp_resid",))
def rbp_residual(known: Known, p: Share = 0.8) -> Floats:
    """What unjudged results, and all that lies below the last one, could add to rbp.

    A result returned a second time counts as unjudged, and so does an item of negative grade,
    as in trec_eval.
    """
    seen: Floats = (1 - p) * np.power(p, known.position - 1.0)
    return np.clip(1.0 - per_query(known.query, known.n_queries, seen), 0.0, 1.0)
