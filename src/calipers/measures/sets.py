"""All results of a query as a set, without an order: what trec_eval calls set measures."""

import numpy as np

from calipers.measures.define import metric
from calipers.measures.f_measure import f_measure
from calipers.measures.parameter import AboveZero
from calipers.measures.ratio import ratio
from calipers.measures.views import Found
from calipers.model.arrays import Floats


@metric(better="higher", also=("set_p", "setp"))
def set_precision(found: Found) -> Floats:
    """The share of all results that hold a target; 0 where nothing came back."""
    return ratio(found.useful(), found.shown(), where_zero=0.0)


@metric(better="higher", also=("setr",))
def set_recall(found: Found) -> Floats:
    """The share of all targets that stand anywhere in the results."""
    return ratio(found.hits(), found.total)


@metric(better="higher", also=("setf",))
def set_f(found: Found, beta: AboveZero = 1.0) -> Floats:
    """set_precision and set_recall in one: (1 + beta²) P R / (beta² P + R); 0 where both are 0.

    trec_eval's parameter of set_F is beta².
    """
    return f_measure(set_precision(found), set_recall(found), beta)


@metric(better="higher", also=("setap",))
def set_map(found: Found) -> Floats:
    """set_precision times set_recall: average precision where the order says nothing."""
    recall = set_recall(found)
    return np.where(np.isnan(recall), np.nan, set_precision(found) * recall)
