"""The curve of precision over recall at eleven levels, with trec_eval's names and values."""

from collections.abc import Callable

import numpy as np

from calipers.measures.define import metric
from calipers.measures.views import Claims
from calipers.model.arrays import Floats

LEVELS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
"""The levels of recall, as they are written in names."""
CURVE = "iprec_at_recall"
"""The name before the level; alone it stands for all levels."""


def _at_level(level: str) -> Callable[[Claims], Floats]:
    """The function of one level."""

    def precision_at_recall(claims: Claims) -> Floats:
        return claims.precision_at_recall(float(level))

    precision_at_recall.__doc__ = (
        f"The highest precision at or below the rank where recall reaches {level}; 0 if it never "
        "does."
    )
    return precision_at_recall


for _level in LEVELS:
    metric(better="higher", name=f"{CURVE}_{_level}")(_at_level(_level))


@metric(better="higher", name="11pt_avg", also=("11pt", "eleven_point_average"))
def eleven_points(claims: Claims) -> Floats:
    """The mean of iprec_at_recall over the eleven levels from 0.00 to 1.00."""
    # From the last level down, as trec_eval sums, so that the last digit is the same.
    total = np.zeros(claims.n_queries)
    for level in reversed(LEVELS):
        total += claims.precision_at_recall(float(level))
    return total / len(LEVELS)
