"""How much of the ranking was judged at all, and what can be said when little was."""

import numpy as np

from calipers.metrics.define import metric
from calipers.metrics.pool import Judged, Opposed
from calipers.metrics.ratio import ratio
from calipers.metrics.views import per_query, within
from calipers.model.arrays import Floats


@metric(better="neither", without_targets="defined")
def judged(judged: Judged, k: int) -> Floats:
    """The share of the first k results that somebody judged; undefined where nothing came back.

    Divided by the number of results shown, k at most. Low values mean that the other metrics
    see little.
    """
    shown = np.minimum(judged.retrieved, k).astype(np.float64)
    keep = within(judged.rank, k)
    return ratio(per_query(judged.query[keep], judged.n_queries), shown)


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
