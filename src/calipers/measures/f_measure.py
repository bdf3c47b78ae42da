"""Precision and recall in one number."""

import numpy as np

from calipers.measures.ratio import ratio
from calipers.model.arrays import Floats


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + beta²) P R / (beta² P + R); 0 where both are 0."""
    weight = min(beta * beta, 1e300)  # what lies beyond would be infinite
    return ratio(
        (1 + weight) * precision * recall,
        weight * precision + recall,
        where_zero=np.where(np.isnan(recall), np.nan, 0),
    )
