"""May a retriever be replaced? Relevant results, new minus old, from a few labelled queries.

Only results that one of the two has can make a difference, so the difference of a query
lies within plus or minus the number of such results: its size. Queries are drawn without
replacement with a chance in proportion to their sizes; those of size 0 are never drawn
and count as 0.

Divided by its size, each drawn difference is between -1 and 1. Every draw gives an
estimate of the total: what is labelled so far, plus that ratio times the size of what was
left (Des Raj). The estimates are averaged with weights that rise as less is left, so that
the interval closes as the labels become complete. Two pseudo-differences, -1 and 1, stand
for the collapse that no drawn query had: they keep the interval honest where losses are
rare.

The interval is read at looks that are fixed beforehand, at the level at which all of them
hold.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Floats, Ints
from calipers.statistics.sample_looks import SampleLooks
from calipers.statistics.score_interval import t_quantile

FIRST = 10
Verdict = Literal["safe", "small loss", "loss", "open"]


def draw_order(sizes: ArrayLike, rng: np.random.Generator) -> Ints:
    """The order in which queries are drawn, without replacement and by size; size 0 comes last.

    >>> draw_order([0, 1, 100, 2], np.random.default_rng(0))[[0, -1]].tolist()
    [2, 0]
    """
    size = np.asarray(sizes, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.argsort(rng.exponential(size=size.shape) / size, axis=-1, kind="stable")


def looks_of(queries: int) -> tuple[int, ...]:
    """The numbers of labelled queries at which to look; the last one is all of them.

    >>> looks_of(7), looks_of(70)
    ((7,), (10, 20, 40, 70))
    """
    doubled = [FIRST * 2**i for i in range(20)]
    return (*(look for look in doubled if look < queries), queries)


def level_of(queries: int, confidence: float = 0.95) -> float:
    """The one-sided error of each look at which all of them hold together."""
    looks = looks_of(queries)[:-1]  # at the last one all is known
    alpha = (1.0 - confidence) / 2.0
    return SampleLooks(looks, queries, 1.0, 0.01).level(alpha) if looks else alpha


class SwitchTotals(NamedTuple):
    """The total difference of all drawn queries, one value per row of the input."""

    estimate: Floats
    low: Floats
    high: Floats


def switch_totals(differences: ArrayLike, sizes: ArrayLike, level: float) -> SwitchTotals:
    """The total of all sizes' queries, from the differences of the first ones, in drawn order.

    Leading axes are samples of their own. ``level`` is the error at each end.

    >>> found = switch_totals([0.0] * 20, [2.0] * 100, 0.025)
    >>> round(float(found.low), 1), float(switch_totals([1.0, -2.0], [1.0, 2.0], 0.025).high)
    (-24.8, -1.0)
    """
    drawn = np.asarray(differences, dtype=np.float64)
    size = np.asarray(sizes, dtype=np.float64)
    n = drawn.shape[-1]
    so_far = np.cumsum(drawn, axis=-1)
    known = drawn.sum(axis=-1)
    left = size[..., n:].sum(axis=-1)
    if n == size.shape[-1]:
        return SwitchTotals(known, known, known)
    open_ = np.cumsum(size[..., ::-1], axis=-1)[..., ::-1][..., :n]
    whole = open_[..., 0]
    ratio = drawn / size[..., :n]
    before = so_far - drawn
    weight = (whole[..., None] / open_) ** 2
    weights = weight.sum(axis=-1) + 2.0
    estimate = (weight * (before + open_ * ratio)).sum(axis=-1) / weights
    residual = ratio - (estimate[..., None] - before) / open_
    pseudo = 2.0 + 2.0 * (estimate / whole) ** 2  # of the pseudo-differences, squared
    spread = np.sqrt(((residual**2).sum(axis=-1) + pseudo) / (n + 1))
    half = t_quantile(1.0 - level, n + 1) * spread * whole / np.sqrt(weights)
    ends = (
        np.clip(end, known - left, known + left)
        for end in (estimate - half, estimate + half)
    )
    return SwitchTotals(estimate, *ends)


def verdict_of(low: float, high: float, allow: float) -> Verdict:
    """What an interval of new minus old says where so large a loss is allowed.

    >>> verdict_of(-0.1, 0.2, 0.2), verdict_of(-0.9, -0.1, 0.2), verdict_of(-0.9, 0.2, 0.2)
    ('safe', 'loss', 'open')
    """
    if high < 0.0:
        return "small loss" if low >= -allow else "loss"
    return "safe" if low >= -allow else "open"


def many_lost(differences: Floats, level: float = 0.01) -> bool:
    """Whether so many more queries lost than won that a sign test says so, whatever the means.

    >>> many_lost(np.array([-1.0] * 7)), many_lost(np.array([-1.0] * 7 + [1.0]))
    (True, False)
    """
    lost = int((differences < 0).sum())
    won = int((differences > 0).sum())
    ways = sum(math.comb(lost + won, wins) for wins in range(won + 1))
    return lost > won and ways < level * 2 ** (lost + won)
