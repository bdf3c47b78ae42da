"""Graded relevance: DCG, nDCG, ERR and its relatives, RBP, INST."""

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np

from calipers.errors import InvalidInput
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero, Between, Share
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
    reached = gains.discounted(gains.added(lambda grade: value(grade, best[gains.query])), k)
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

    The best ranking is made of all ground truth, retrieved or not, cut at k. NERR8 to NERR11 of
    ir_measures are others: see nerr8.
    """
    highest = highest_gain(gains, gmax, "nerr")
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

    The gain is the grade over the highest grade (``gmax``: that of the ground truth unless given).
    trec_eval takes p = 0.9 unless told, and the highest grade of each query, or 1 if that is less:
    ``highest=query``. See rbp_residual for what unjudged results could add.
    """
    best = np.full(gains.n_queries, highest_gain(gains, gmax, "rbp"))
    if highest == "query" and gmax is None:
        best = np.maximum(gains.best_grade, 1.0)
    gain = gains.added(lambda grade: ratio(grade, best[gains.query], where_zero=0.0))
    order, position = gains.placed(gain, k)
    weight: Floats = (1 - p) * np.power(p, position - 1.0)
    return np.minimum(per_query(gains.query[order], gains.n_queries, weight * gain[order]), 1.0)


def _reached(gains: Gains, k: int | None, gmax: float | None, name: str) -> Floats:
    """The expected reciprocal rank over the first k results."""
    highest = highest_gain(gains, gmax, name)
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
    still_reading = combined_before(query, 1.0 - satisfied, np.multiply)
    return per_query(query, n_queries, satisfied * still_reading / position)


def highest_gain(gains: Gains, gmax: float | None, name: str) -> float:
    """The gain that counts as 1: the highest grade, or ``gmax``, which may not be less."""
    if gmax is None:
        return gains.highest_grade
    if not gmax >= gains.highest_grade:
        raise InvalidInput(
            f"gmax in {name}(gmax=…) is {gmax}, but the ground truth holds the grade "
            f"{gains.highest_grade:g}; gmax must be at least that."
        )
    return gmax


AboveHalf = Annotated[float, Between(0.5, 1e6)]


@metric(better="higher")
def inst(gains: Gains, t: AboveHalf = 1.0, gmax: AboveZero | None = None) -> Floats:
    """The gain a result brings to a reader who looks for ``t`` of them, on average.

    After rank i the reader goes on with probability ((i + t + u - 1) / (i + t + u))², where u is t
    minus what was found so far; the gain is the grade over the highest grade (``gmax``: that of
    the ground truth unless given). The ranking is taken to go on for ever with nothing in it.
    """
    highest = highest_gain(gains, gmax, "inst")
    gain = gains.added(lambda grade: grade / highest if highest > 0 else np.zeros_like(grade))
    order, position = gains.placed(gain)
    n, query, gain, at = gains.n_queries, gains.query[order], gain[order], position.astype(float)
    is_first = np.diff(query, prepend=-1) != 0
    is_last = np.diff(query, append=-1) != 0
    # Between two targets the product has a closed form: with u + t = open, rank i below a target
    # at rank r weighs ((r + open - 1) / (i + open - 1))² of it, and a sum of such is a trigamma.
    open_ = 2 * t - (combined_before(query, gain, np.add) + gain)
    start = (at + open_ - 1.0) ** 2
    # Below the last target nothing follows; the rank after it stands in where one is needed.
    following = np.where(is_last, at + 1.0, np.append(at[1:], 0.0)[: at.size])
    onward = start / np.square(following + open_ - 1.0)
    to_first = np.square(2 * t / (at[is_first] - 1.0 + 2 * t))
    weight = combined_before(query, onward, np.multiply) * to_first[np.cumsum(is_first) - 1]
    end = np.where(is_last, np.inf, following)
    below = start * (_trigamma(at + open_) - _trigamma(end + open_))
    above = np.full(n, np.inf)
    above[query[is_first]] = at[is_first]
    all_weights = (2 * t) ** 2 * (_trigamma(np.full(n, 2 * t)) - _trigamma(above + 2 * t))
    all_weights += per_query(query, n, weight * below)
    return np.clip(per_query(query, n, weight * gain) / all_weights, 0.0, 1.0)


# Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L" (ICTIR 2021): four measures that are nearly
# ERR and, unlike it, the mean gain of what a reader sees. They are numbered as their equations.


@metric(better="higher")
def nerr8(gains: Gains, k: int, gmax: AboveZero | None = None) -> Floats:
    """Nearly ERR, by equation 8: the mean gain of what a reader of the first k results sees.

    The reader stops after a result with a probability of its gain: the grade over the highest
    grade (``gmax``: that of the ground truth unless given).
    """
    return _nearly_err(gains, gmax, "nerr8", k, np.ones_like, lambda rank: rank)


@metric(better="higher")
def nerr9(gains: Gains, k: int, gmax: AboveZero | None = None) -> Floats:
    """Nearly ERR, by equation 9: as nerr8, and after rank i only i of i + 1 readers go on."""
    sums = np.append(0.0, np.cumsum(1.0 / np.arange(1.0, k + 1.0)))
    return _nearly_err(gains, gmax, "nerr9", k, np.reciprocal, lambda rank: sums[rank.astype(int)])


@metric(better="higher")
def nerr10(gains: Gains, p: Share = 0.9, gmax: AboveZero | None = None) -> Floats:
    """Nearly ERR, by equation 10: as nerr8 without a k, and of those who go on p do, as in rbp."""
    return _nearly_err(
        gains,
        gmax,
        "nerr10",
        None,
        lambda rank: np.power(p, rank - 1.0),
        lambda rank: (1.0 - np.power(p, rank)) / (1.0 - p),
    )


@metric(better="higher")
def nerr11(gains: Gains, t: AboveHalf = 1.0, gmax: AboveZero | None = None) -> Floats:
    """Nearly ERR, by equation 11: as nerr8 without a k, and readers go on as those of inst.

    After rank i that is ((i + 2t - 1) / (i + 2t))² of them.
    """
    most = _trigamma(np.array(2 * t))
    return _nearly_err(
        gains,
        gmax,
        "nerr11",
        None,
        lambda rank: np.square(2 * t / (rank - 1.0 + 2 * t)),
        lambda rank: (2 * t) ** 2 * (most - _trigamma(rank + 2 * t)),
    )


def _nearly_err(
    gains: Gains,
    gmax: float | None,
    name: str,
    k: int | None,
    discount: Callable[[Floats], Floats],
    discounts: Callable[[Floats], Floats],
) -> Floats:
    """The mean gain over ranks that weigh their discount times the share that is still reading.

    ``discounts`` is the sum of the discounts up to a rank. The ranking is taken to go on, with
    nothing in it, to rank k or for ever.
    """
    highest = highest_gain(gains, gmax, name)
    gain = gains.added(lambda grade: grade / highest if highest > 0 else np.zeros_like(grade))
    order, position = gains.placed(gain, k)
    query, gain, rank = gains.query[order], gain[order], position.astype(np.float64)
    stops = gain * combined_before(query, 1.0 - gain, np.multiply)
    earned = per_query(query, gains.n_queries, discount(rank) * stops)
    end = np.array([np.inf if k is None else float(k)])
    whole = discounts(end)[0]
    # A reader who stops at a rank does not see the ranks below it.
    unseen = per_query(query, gains.n_queries, stops * (whole - discounts(rank)))
    share: Floats = np.clip(earned / (whole - unseen), 0.0, 1.0)
    return share


def _trigamma(x: Floats) -> Floats:
    """The sum of 1 / (x + i)² over i = 0, 1, 2 …, for x above 0."""
    total = np.zeros_like(x)
    x = x.astype(np.float64)
    for _ in range(12):
        total += 1.0 / x**2
        x = x + 1.0
    # Now x is large enough for the asymptotic series to be exact.
    y = 1.0 / x**2
    series = 1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66)))
    return total + 1.0 / x + y / 2 + y / x * series


def combined_before(query: Ints, value: Floats, combine: np.ufunc) -> Floats:
    """Per query, the product or sum of the values before each entry (sorted input).

    Each query by itself, so that no value depends on the queries beside it, to the last bit.
    """
    result = np.full(query.size, float(combine.identity))
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts[1:], query.size)
    if (ends - starts).max(initial=0) > starts.size:
        # Few long queries: query by query. Many short ones: step by step over all of them.
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            combine.accumulate(value[start : end - 1], out=result[start + 1 : end])
        return result
    entry = starts + 1
    while entry.size:
        goes_on = entry < ends
        entry, ends = entry[goes_on], ends[goes_on]
        result[entry] = combine(result[entry - 1], value[entry - 1])
        entry = entry + 1
    return result
