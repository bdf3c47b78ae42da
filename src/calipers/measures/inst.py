"""INST: a reader who looks for a number of results, and goes on for as long as it takes."""

from typing import Annotated

import numpy as np

from calipers.measures.define import metric
from calipers.measures.gain import highest_gain
from calipers.measures.parameter import AboveZero, Between
from calipers.measures.views import Gains, combined_before, per_query
from calipers.model.arrays import Floats

AboveHalf = Annotated[float, Between(0.5, 1e6)]


@metric(better="higher")
def inst(gains: Gains, t: AboveHalf = 1.0, gmax: AboveZero | None = None) -> Floats:
    """The gain a result brings to a reader who looks for ``t`` of them, on average.

    After rank i the reader goes on with probability ((i + t + u - 1) / (i + t + u))², where u is t
    minus what was found so far; the gain is the grade over the highest grade (``gmax``: that of
    the ground truth unless given). The ranking is taken to go on for ever with nothing in it.
    """
    highest = highest_gain(gains, gmax, "inst")
    gain = gains.grade / highest if highest > 0 else np.zeros_like(gains.grade)
    n, query, at = gains.n_queries, gains.query, gains.position.astype(np.float64)
    is_first = np.diff(query, prepend=-1) != 0
    is_last = np.diff(query, append=-1) != 0
    # Between two targets the probabilities multiply out: with u + t = open, rank i below a target
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


def _trigamma(x: Floats) -> Floats:
    """The sum of 1 / (x + i)² over i = 0, 1, 2 …, for x above 0."""
    total = np.zeros_like(x)
    x = x.astype(np.float64)
    for _ in range(12):
        total += 1.0 / x**2
        x = x + 1.0
    # By now x is large enough for the asymptotic series to be exact.
    y = 1.0 / x**2
    series = 1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66)))
    return total + 1.0 / x + y / 2 + y / x * series
