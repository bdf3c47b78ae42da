"""The shapes that scores and differences of scores take."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class Shape:
    """How values are drawn, and their true mean."""

    name: str
    draw: Draw
    mean: float
    share: bool = False
    """Only 0 and 1: discrete, so that coverage cannot be even."""


def choice(values: list[float], shares: list[float]) -> Draw:
    """Values with their shares."""
    ends = np.cumsum(shares)
    known = np.array(values, dtype=np.float64)
    return lambda rng, size: known[np.searchsorted(ends, rng.random(size) * ends[-1])]
