"""The curve of precision over recall, read at fixed levels of recall."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from calipers.measures.define import Series, metric
from calipers.measures.parameter import Level
from calipers.measures.views import Claims
from calipers.model.arrays import Floats

LEVELS = tuple(tenth / 10 for tenth in range(11))
Needed = Literal["up", "nearest", "trec-9"]

_WHOLE: dict[str, Callable[[Floats], Floats]] = {
    # A product that is a little too large by its rounding does not ask for one target more.
    "up": lambda targets: np.ceil(targets - 1e-9),
    "nearest": lambda targets: np.floor(targets + 0.5),
    "trec-9": lambda targets: np.floor(targets + 0.9),
}


@metric(better="higher", also=("iprec",), series=Series("level", LEVELS))
def iprec_at_recall(claims: Claims, level: Level, needed: Needed = "up") -> Floats:
    """Interpolated precision: the highest precision at any rank where recall is at least the level.

    0 where recall never gets that far. The level times R is rounded up to whole targets;
    ``needed=nearest`` rounds to the nearest number, as trec_eval does from version 10 on, and
    ``needed=trec-9`` as it did before: up, but for errors of the product. Without a level the
    usual eleven are meant, 0 to 1.
    """
    least = _WHOLE[needed](level * claims.total)
    precision = claims.ordinal / claims.position
    counts = claims.ordinal >= least[claims.query]
    best = np.zeros(claims.n_queries)
    np.maximum.at(best, claims.query[counts], precision[counts])
    return np.where(claims.total > 0, best, np.nan)


@metric(better="higher", also=("11pt_avg", "11_pt_avg"))
def eleven_point_average(claims: Claims, needed: Needed = "up") -> Floats:
    """The mean of iprec_at_recall over the levels 0, 0.1 … 1."""
    levels: Floats = np.mean([iprec_at_recall(claims, level, needed) for level in LEVELS], axis=0)
    return levels
