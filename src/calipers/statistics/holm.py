"""Many tests at once: Holm's correction of p-values."""

import math
from collections.abc import Sequence

from calipers.errors import InvalidInput


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values: reject those below alpha, and the chance of any false alarm is alpha.

    The smallest of m p-values is multiplied by m, the next by m - 1 and so on; an adjusted value
    is never below that of a smaller p-value, and never above 1. None and NaN (no test was made)
    stay where they are and do not count towards m.

    >>> holm([0.01, 0.04, None, 0.02])
    [0.03, 0.04, None, 0.04]
    """
    adjusted: list[float | None] = list(p_values)
    tested = [(p, at) for at, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    for p, at in tested:
        if not 0.0 <= p <= 1.0:
            raise InvalidInput(
                f"A p-value is out of range, position {at}: found {p}, 0 to 1 is allowed."
            )
    highest = 0.0
    for rank, (p, at) in enumerate(sorted(tested)):
        highest = max(highest, min(1.0, p * (len(tested) - rank)))
        adjusted[at] = highest
    return adjusted
