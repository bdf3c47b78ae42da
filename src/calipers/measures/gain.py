"""Graded relevance: DCG, nDCG, ERR, RBP."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from calipers.errors import InvalidInput
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero, Share
from calipers.measures.pool import Known
from calipers.measures.ratio import ratio
from calipers.measures.views import Gains, combined_before, per_query, within
from calipers.model.arrays import Floats, Ints

Gain = Literal["linear", "exp"]

GAIN: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda grade: grade,
    "exp": lambda grade: np.exp2(grade) - 1.0,
}
# The same as a share of the gain of a best grade: large grades leave no float range this way.
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
        total = gains.discounted(GAIN[gain](gains.grade), k)
    if not np.isfinite(total).all():
        raise InvalidInput(
            f"The sum of the gains is too large for dcg(gain={gain}): the highest grade is "
            f"{gains.highest_grade:g}; use smaller grades, or ndcg."
        )
    return total


@metric(better="higher", also=("ndcg_cut",))
def ndcg(gains: Gains, k: int | None = None, gain: Gain = "linear") -> Floats:
    """Discounted gain of the first k results over that of the best possible ranking.

    The best ranking is made of all ground truth, retrieved or not, cut at k. The gain is the
    grade; ``gain=exp`` takes 2^grade - 1; ``gains={1:1,2:3}`` says what each grade is worth, and
    one that is not named keeps its value.
    """
    value, best = RELATIVE_GAIN[gain], gains.best_grade
    reached = gains.discounted(value(gains.grade, best[gains.query]), k)
    ideal = gains.ideal(value(gains.ideal_grade, best[gains.ideal_query]), k)
    return np.minimum(ratio(reached, ideal), 1.0)


@metric(better="higher")
def err(gains: Gains, k: int | None = None, gmax: AboveZero | None = None) -> Floats:
    """Expected reciprocal rank of the result that satisfies a reader who stops when satisfied.

    A result of grade g satisfies with probability (2^g - 1) / 2^gmax; ``gmax`` is the highest
    grade of the ground truth unless given.
    """
    return _reached(gains, k, gmax, "err")


@metric(better="higher")
def nerr(gains: Gains, k: int | None = None, gmax: AboveZero | None = None) -> Floats:
    """err of the first k results over that of the best possible ranking.

    The best ranking is made of all ground truth, retrieved or not, cut at k.
    """
    highest = highest_gain(gains, gmax, "nerr")
    keep = within(gains.ideal_rank, k)
    best = _expected_reciprocal_rank(
        gains.ideal_query[keep], gains.ideal_rank[keep], gains.ideal_grade[keep], highest,
        gains.n_queries,
    )  # fmt: skip
    return np.minimum(ratio(_reached(gains, k, gmax, "nerr"), best), 1.0)


@metric(better="higher")
def rbp(
    gains: Gains, k: int | None = None, p: Share = 0.8, gmax: AboveZero | None = None
) -> Floats:
    """Rank-biased precision: (1 - p) times the sum over the first k of gain times p^(rank - 1).

    The gain is the grade over the highest grade (``gmax``: that of the ground truth unless given).
    trec_eval takes p = 0.9 unless told. See rbp_residual for what unjudged results could add.
    """
    highest = highest_gain(gains, gmax, "rbp")
    keep = within(gains.position, k)
    grade = gains.grade[keep]
    gain = grade / highest if highest > 0 else np.zeros_like(grade)
    weight: Floats = (1 - p) * np.power(p, gains.position[keep] - 1.0)
    return np.minimum(per_query(gains.query[keep], gains.n_queries, weight * gain), 1.0)


@metric(better="lower", also=("rbp_resid",))
def rbp_residual(known: Known, p: Share = 0.8) -> Floats:
    """What unjudged results, and all that lies below the last one, could add to rbp.

    A result returned a second time counts as unjudged, and so does an item of negative grade,
    as in trec_eval.
    """
    seen: Floats = (1 - p) * np.power(p, known.position - 1.0)
    return np.clip(1.0 - per_query(known.query, known.n_queries, seen), 0.0, 1.0)


def _reached(gains: Gains, k: int | None, gmax: float | None, name: str) -> Floats:
    """What the first k results reach of the expected reciprocal rank."""
    highest = highest_gain(gains, gmax, name)
    keep = within(gains.position, k)
    return _expected_reciprocal_rank(
        gains.query[keep], gains.position[keep], gains.grade[keep], highest, gains.n_queries
    )


def _expected_reciprocal_rank(
    query: Ints, position: Ints, grade: Floats, highest: float, n_queries: int
) -> Floats:
    satisfied = np.exp2(grade - highest) - np.exp2(-highest)
    still_reading = combined_before(query, 1.0 - satisfied, np.multiply)
    return per_query(query, n_queries, satisfied * still_reading / position)


def highest_gain(gains: Gains, gmax: float | None, name: str) -> float:
    """The gain that counts as 1: the highest grade, or what is given and not less."""
    if gmax is None:
        return gains.highest_grade
    if not gmax >= gains.highest_grade:
        raise InvalidInput(
            f"gmax in {name}(gmax=…) is {gmax}, but the ground truth holds the grade "
            f"{gains.highest_grade:g}; gmax must be at least that."
        )
    return gmax
