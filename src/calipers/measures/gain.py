"""Graded relevance: DCG, nDCG, ERR and RBP."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from calipers.errors import InvalidInput
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero, Share
from calipers.measures.views import Gains, per_query, ratio, within
from calipers.model.arrays import Floats, Ints

Gain = Literal["linear", "exp"]

GAIN: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda grade: grade,
    "exp": lambda grade: np.exp2(grade) - 1.0,
}
# The same as a share of the best grade's gain, so that large grades do not overflow.
RELATIVE_GAIN: dict[str, Callable[[Floats, Floats], Floats]] = {
    "linear": lambda grade, best: grade / best,
    "exp": lambda grade, best: np.exp2(grade - best) * -np.expm1(-grade * np.log(2)),
}


@metric(better="higher", bounds=(0, None))
def dcg(gains: Gains, k: int | None = None, gain: Gain = "linear") -> Floats:
    """Discounted gain: the sum over the first k results of gain / log2(rank + 1).

    The gain is the grade; ``gain=exp`` takes 2^grade - 1.
    """
    with np.errstate(over="ignore"):
        total = gains.discounted(gains.added(GAIN[gain]), k)
    if not np.isfinite(total).all():
        raise InvalidInput(
            f"The sum of the gains is too large for dcg(gain={gain}): the highest grade "
            f"is {gains.highest_grade:g}; use smaller grades, or ndcg."
        )
    return total


@metric(better="higher", also=("ndcg_cut",))
def ndcg(gains: Gains, k: int | None = None, gain: Gain = "linear") -> Floats:
    """Discounted gain of the first k results over that of the best possible ranking.

    The best ranking is made of all ground truth, retrieved or not, cut at k. The gain is
    the grade; ``gain=exp`` takes 2^grade - 1.
    """
    value = RELATIVE_GAIN[gain]
    best = gains.best_grade
    reached = gains.discounted(
        gains.added(lambda grade: value(grade, best[gains.query])), k
    )
    ideal = gains.ideal(value(gains.ideal_grade, best[gains.ideal_query]), k)
    return np.minimum(ratio(reached, ideal), 1.0)


@metric(better="higher")
def err(gains: Gains, k: int | None = None, gmax: AboveZero | None = None) -> Floats:
    """Expected reciprocal rank of the result that satisfies a reader who stops when satisfied.

    A result of grade g satisfies with probability (2^g - 1) / 2^gmax; ``gmax`` is the
    highest grade of the ground truth unless given.
    """
    return _reached(gains, k, gmax, "err")


@metric(better="higher")
def nerr(gains: Gains, k: int | None = None, gmax: AboveZero | None = None) -> Floats:
    """err of the first k results over that of the best possible ranking.

    The best ranking is made of all ground truth, retrieved or not, cut at k. NERR8 to
    NERR11 of ir_measures are others.
    """
    highest = _highest_gain(gains, gmax, "nerr")
    keep = within(gains.ideal_rank, k)
    best = _expected_reciprocal_rank(
        gains.ideal_query[keep],
        gains.ideal_rank[keep],
        _satisfied(gains.ideal_grade[keep], highest),
        gains.n_queries,
    )
    return np.minimum(ratio(_reached(gains, k, gmax, "nerr"), best), 1.0)


@metric(better="higher")
def rbp(
    gains: Gains,
    k: int | None = None,
    p: Share = 0.8,
    gmax: AboveZero | None = None,
    highest: Literal["all", "query"] = "all",
) -> Floats:
    """Rank-biased precision: (1 - p) times the sum over the first k of gain times p^(rank - 1).

    The gain is the grade over the highest grade (``gmax``: that of the ground truth
    unless given). trec_eval takes p = 0.9 unless told, and the highest grade of each
    query, or 1 if that is less: ``highest=query``. See rbp_residual for what unjudged
    results could add.
    """
    best = np.full(gains.n_queries, _highest_gain(gains, gmax, "rbp"))
    if highest == "query" and gmax is None:
        best = np.maximum(gains.best_grade, 1.0)
    gain = gains.added(lambda grade: ratio(grade, best[gains.query], where_zero=0.0))
    order, position = gains.placed(gain, k)
    weight: Floats = (1 - p) * np.power(p, position - 1.0)
    return np.minimum(
        per_query(gains.query[order], gains.n_queries, weight * gain[order]), 1.0
    )


def _reached(gains: Gains, k: int | None, gmax: float | None, name: str) -> Floats:
    """The expected reciprocal rank over the first k results."""
    highest = _highest_gain(gains, gmax, name)
    satisfied = gains.added(lambda grade: _satisfied(grade, highest))
    if gains.claimed.improves:
        # A share of the readers whom the lesser alternative left unsatisfied.
        satisfied = satisfied / (1.0 - _satisfied(gains.claimed.before, highest))
    order, position = gains.placed(satisfied, k)
    return _expected_reciprocal_rank(
        gains.query[order], position, satisfied[order], gains.n_queries
    )


def _satisfied(grade: Floats, highest: float) -> Floats:
    share: Floats = np.exp2(grade - highest) - np.exp2(-highest)
    return share


def _expected_reciprocal_rank(
    query: Ints, position: Ints, satisfied: Floats, n_queries: int
) -> Floats:
    still_reading = _product_before(query, 1.0 - satisfied)
    return per_query(query, n_queries, satisfied * still_reading / position)


def _highest_gain(gains: Gains, gmax: float | None, name: str) -> float:
    """The gain that counts as 1: the highest grade, or ``gmax``, which may not be less."""
    if gmax is None:
        return gains.highest_grade
    if not gmax >= gains.highest_grade:
        raise InvalidInput(
            f"gmax in {name}(gmax=…) is {gmax}, but the ground truth holds the grade "
            f"{gains.highest_grade:g}; gmax must be at least that."
        )
    return gmax


def _product_before(query: Ints, value: Floats) -> Floats:
    """Per query, the product of the values before each entry (sorted input).

    Each query by itself, so that no value depends on the queries beside it, to the last
    bit.
    """
    result = np.ones(query.size)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts[1:], query.size)
    entry = starts + 1
    while entry.size:
        goes_on = entry < ends
        entry = entry[goes_on]
        ends = ends[goes_on]
        result[entry] = result[entry - 1] * value[entry - 1]
        entry = entry + 1
    return result
