"""What was found and what was not: hit rate, precision, recall, F, and the counts behind them."""

import numpy as np

from calipers.errors import InvalidInput
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero
from calipers.measures.views import Found, f_measure, ratio
from calipers.model.arrays import Floats


@metric(better="higher", also=("hit", "hits", "hitrate", "hr", "success"))
def hit_rate(view: Found, k: int) -> Floats:
    """1 if at least one target stands in the first k results, else 0.

    Some tools call this recall@k; it is not: one of four targets found gives 1.
    """
    return (view.hits(k) > 0).astype(np.float64)


@metric(better="higher", also=("p", "prec"))
def precision(view: Found, k: int) -> Floats:
    """How many of the first k ranks hold a target, divided by k.

    Divided by k even when fewer results came back, so that returning one good result out
    of one is not called perfect. A result returned twice earns nothing the second time.
    """
    return view.useful(k) / k


@metric(better="higher", also=("r", "rec", "st_recall", "strecall", "subtopic_recall"))
def recall(view: Found, k: int) -> Floats:
    """The share of all targets that stand in the first k results.

    Targets of one ``group`` count as one: with subtopics as groups this is subtopic
    recall.
    """
    return ratio(view.hits(k), view.total)


@metric(better="higher")
def f1(view: Found, k: int) -> Floats:
    """The harmonic mean of precision@k and recall@k, per query; 0 where both are 0.

    The mean of F1 over queries is not the F1 of mean precision and mean recall.
    """
    return f(view, k)


@metric(better="higher", also=("f_beta", "fbeta", "fscore"))
def f(view: Found, k: int, beta: AboveZero = 1.0) -> Floats:
    """Precision@k and recall@k in one: (1 + beta²) P R / (beta² P + R); 0 where both are 0.

    beta above 1 weighs recall more, below 1 precision.
    """
    return f_measure(precision(view, k), recall(view, k), beta)


@metric(better="higher", also=("all_recall", "complete_recall"))
def full_recall(view: Found, k: int) -> Floats:
    """1 if every target stands in the first k results, else 0: what multi-hop questions need."""
    total = view.total
    return np.where(total > 0, view.hits(k) == total, np.nan)


@metric(better="higher", also=("r_cap", "rcap", "recall_cap", "relative_p"))
def capped_recall(view: Found, k: int) -> Floats:
    """The share of the targets that k results could have held: hits over min(targets, k).

    Where one result holds several targets, it is 1 from min(targets, k) hits on.
    """
    most = np.minimum(view.total, k)
    return ratio(np.minimum(view.hits(k), most), most)


@metric(better="higher", bounds=(0, None))
def tp(view: Found, k: int) -> Floats:
    """True positives: how many targets stand in the first k results."""
    return view.hits(k)


@metric(better="lower", bounds=(0, None))
def fp(view: Found, k: int) -> Floats:
    """False positives: how many of the first k results hold no target."""
    return view.shown(k) - view.useful(k)


@metric(better="lower", bounds=(0, None))
def fn(view: Found, k: int) -> Floats:
    """False negatives: how many targets do not stand in the first k results."""
    return view.total - view.hits(k)


@metric(better="higher", bounds=(0, None))
def tn(view: Found, k: int) -> Floats:
    """True negatives: items of the corpus that are no targets and not in the first k results.

    Only where the size of the corpus is known.
    """
    if view.corpus_size is None:
        raise InvalidInput(
            "The metric tn@k counts what was rightly left out, and the size of the "
            "corpus is not known; give it with --corpus-size N (corpus_size=N in Python)."
        )
    others = view.hits(k) + fp(view, k) + fn(view, k)
    if others.max(initial=0) > view.corpus_size:
        raise InvalidInput(
            f"The size of the corpus is given as {view.corpus_size}, but the results and "
            f"targets of one query alone make {int(others.max())}; give the number of "
            "items in the corpus."
        )
    return view.corpus_size - others


@metric(
    better="neither",
    bounds=(0, None),
    also=("numret",),
    without_targets="defined",
    aggregate="sum",
)
def num_ret(view: Found) -> Floats:
    """How many results came back; the sum over all queries, as in trec_eval."""
    return view.shown()


@metric(
    better="neither",
    bounds=(0, None),
    also=("numrel",),
    without_targets="defined",
    aggregate="sum",
)
def num_rel(view: Found) -> Floats:
    """R, how many targets there are to find; the sum over all queries, as in trec_eval."""
    return view.total


@metric(
    better="higher",
    bounds=(0, None),
    also=("numrelret",),
    without_targets="defined",
    aggregate="sum",
)
def num_rel_ret(view: Found) -> Floats:
    """How many targets stand anywhere in the results; the sum over all queries, as in trec_eval."""
    return view.hits()


# All results of a query as a set, without an order: what trec_eval calls set measures.


@metric(better="higher", also=("set_p", "setp"))
def set_precision(view: Found) -> Floats:
    """The share of all results that hold a target; 0 where nothing came back."""
    return ratio(view.useful(), view.shown(), where_zero=0.0)


@metric(better="higher", also=("setr",))
def set_recall(view: Found) -> Floats:
    """The share of all targets that stand anywhere in the results."""
    return ratio(view.hits(), view.total)


@metric(better="higher", name="set_F", also=("set_f", "setf"))
def set_f(view: Found, beta: AboveZero = 1.0) -> Floats:
    """set_precision and set_recall in one: (1 + beta²) P R / (beta² P + R); 0 where both are 0.

    trec_eval's name; the number that it takes after the name is beta².
    """
    return f_measure(set_precision(view), set_recall(view), beta)
