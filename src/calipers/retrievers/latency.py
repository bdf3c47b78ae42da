"""How long the answers took: percentiles, with the first calls apart."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from calipers.model.arrays import Floats


def percentile(ordered: Sequence[float] | Floats, share: float) -> float:
    """The smallest value within which at least that share of all values lies.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(eq=False)
class Latencies:
    """Milliseconds per answered question, eight bytes each."""

    usual: "array[float]" = field(default_factory=lambda: array("d"))
    warm_up: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, milliseconds: float, *, warm_up: bool) -> None:
        """Take one more."""
        (self.warm_up if warm_up else self.usual).append(milliseconds)

    def to_dict(self) -> dict[str, float | int | None]:
        """p50, p95, p99, mean and max of the usual calls; count and mean of the warm-up."""
        # As numbers side by side: a list of them would be four times as large.
        ordered = np.sort(np.frombuffer(self.usual, np.float64))
        n = len(ordered)
        return {
            "count": n,
            "p50": float(percentile(ordered, 0.50)) if n else None,
            "p95": float(percentile(ordered, 0.95)) if n else None,
            "p99": float(percentile(ordered, 0.99)) if n else None,
            "mean": float(ordered.mean()) if n else None,
            "max": float(ordered[-1]) if n else None,
            "warm_up_count": len(self.warm_up),
            "warm_up_mean": sum(self.warm_up) / len(self.warm_up) if self.warm_up else None,
        }
