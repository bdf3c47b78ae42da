"""Division that says what 0 / 0 means instead of warning about it, and the F-measure with it."""

import numpy as np

from calipers.model.arrays import Floats


def ratio(above: Floats, below: Floats, where_zero: Floats | float = np.nan) -> Floats:
    """``above / below``, and ``where_zero`` (undefined unless told) where below is 0."""
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return np.where(below == 0, where_zero, result)


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + beta²) P R / (beta² P + R); 0 where both are 0."""
    weight = min(beta * beta, 1e300)  # what lies beyond would be infinite
    return ratio(
        (1 + weight) * precision * recall,
        weight * precision + recall,
        where_zero=np.where(np.isnan(recall), np.nan, 0),
    )
