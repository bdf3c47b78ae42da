"""How the values of queries become one number for all of them."""

from typing import Literal

import numpy as np

from calipers.model.arrays import Floats

Aggregate = Literal["mean", "sum", "geometric"]


def to_scale(values: Floats, aggregate: Aggregate) -> Floats:
    """The values on the scale on which their mean, and its interval, are taken.

    >>> to_scale(np.array([1.0, 1e-5]), "geometric").round(2).tolist()
    [0.0, -11.51]
    """
    return np.log(values) if aggregate == "geometric" else values


def from_scale(mean: float, n: int, aggregate: Aggregate) -> float:
    """The number for all n queries, from a mean (or a limit of its interval) on that scale.

    >>> from_scale(0.5, 4, "sum"), from_scale(float(np.log(0.25)), 4, "geometric")
    (2.0, 0.25)
    """
    if aggregate == "geometric":
        return float(np.exp(mean))
    return mean * n if aggregate == "sum" else mean
