"""Humans judge a sample query by query: when may they look at the result, and stop?

An interval that is read after every label, until it is narrow enough, covers less often
than it claims. So it is read at a few looks that are fixed before the first label, and
all of them hold together: at every look it reaches as far as one critical value says
(Pocock's), found by following the estimate from look to look, as a sum of independent
steps. Its variance at a look is

    residuals * (1 / sampled - 1 / all) + values / all

(what the sample leaves open, and what these queries say of others like them), so the
looks of a small set, in which the second part dominates, are nearly one and cost little.

Stopping at the worst moment, the interval misses the truth as often as it claims.
Stopping at a width, or at a number fixed before, it misses it less often.
"""

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from calipers.frozen import dataclass
from calipers.statistics.bounded_mean import rising_root

FIRST = 20
"""Fewer human labels than this say too little about the others."""
NUMBERS = (FIRST, 30, 45, 70, 100, 150, 225, 340, 500, 750, 1_000)
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(45)
_CLOSE = 0.15


def looks_up_to(most: int, first: int = FIRST) -> tuple[int, ...]:
    """The sample sizes at which to look, for a sample of at most ``most``.

    >>> looks_up_to(200), looks_up_to(12), looks_up_to(200, first=100)
    ((20, 30, 45, 70, 100, 150, 200), (12,), (100, 150, 200))
    """
    return (*(look for look in NUMBERS if first <= look < most), most)


@dataclass(frozen=True)
class SampleLooks:
    """Looks at a growing sample, and the variances behind them."""

    numbers: tuple[int, ...]
    total: int
    """Queries, or clusters of them, in all."""
    residuals: float
    """The variance of the residuals, which the sample estimates."""
    values: float
    """The variance of the human values."""

    @cached_property
    def _information(self) -> tuple[float, ...]:
        # Rounded, so that nearby values share a cached result.
        ratio = (
            min(max(self.residuals / self.values, 0.01), 100.0)
            if self.values > 0.0
            else 100.0
        )
        ratio = math.exp(round(math.log(ratio), 1))
        steps: list[float] = []
        for number in self.numbers:
            left_open = ratio * max(self.total / number - 1.0, 0.0)
            step = 1.0 / (left_open + 1.0)
            # Two looks with nearly the same information are one.
            if not steps or steps[-1] / step < 1.0 - _CLOSE**2:
                steps.append(step)
        return tuple(steps)

    def level(self, alpha: float) -> float:
        """One-sided error per look so that the total error stays alpha.

        >>> looks = SampleLooks((20, 30, 45, 70, 100), 1000, 0.1, 0.2)
        >>> round(looks.level(0.025), 4), SampleLooks((30,), 1000, 0.1, 0.2).level(0.025)
        (0.0078, 0.025)
        """
        return _level(self._information, alpha) if len(self._information) > 1 else alpha


@lru_cache(maxsize=4_096)
def _level(information: tuple[float, ...], alpha: float) -> float:
    """The one-sided error per look at which all hold together, with two-sided error 2 alpha."""
    wanted = 1.0 - 2.0 * alpha
    critical = rising_root(lambda at: all_hold(at, information) - wanted, 0.5, 7.0, 1e-6)
    return min(0.5 * math.erfc(critical / math.sqrt(2.0)), alpha)


def all_hold(critical: float, information: Sequence[float]) -> float:
    """The chance that a mean is within ``critical`` standard errors of the truth at every look.

    >>> round(all_hold(1.96, [1.0]), 3), round(all_hold(2.413, [1.0, 2.0, 3.0, 4.0, 5.0]), 3)
    (0.95, 0.95)
    """
    at = critical * _POINTS
    weights = critical * _WEIGHTS
    density = np.exp(-0.5 * at**2)
    for before, after in pairwise(information):
        kept = math.sqrt(before / after)
        spread = math.sqrt(1.0 - before / after)
        step = np.exp(-0.5 * ((at[None, :] - kept * at[:, None]) / spread) ** 2)
        density = (density * weights) @ step / (spread * math.sqrt(2.0 * math.pi))
    return float((density * weights).sum()) / math.sqrt(2.0 * math.pi)
