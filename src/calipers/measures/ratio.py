"""Division that says what 0 / 0 means instead of warning about it."""

import numpy as np

from calipers.model.arrays import Floats


def ratio(above: Floats, below: Floats, where_zero: Floats | float = np.nan) -> Floats:
    """``above / below``, and ``where_zero`` (undefined unless told) where below is 0."""
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return np.where(below == 0, where_zero, result)
