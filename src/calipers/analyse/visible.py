"""How small a difference the queries at hand could have shown."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calipers.analyse.intervals import exact_mean, standard_deviation
from calipers.analyse.power import queries_needed, smallest_detectable_difference
from calipers.errors import InvalidInput
from calipers.model.comparison import Visibility

POWER = 0.8


def visibility(
    differences: ArrayLike, alpha: float = 0.05, tests: int = 1, power: float = POWER
) -> Visibility:
    """What these paired differences (NaN left out) could have shown, and what would show more.

    With several tests one of them must pass alpha / tests, the first step of Holm's correction;
    that is what the answer is for.

    >>> seen = visibility([0.3, -0.3] * 20)
    >>> round(seen.smallest, 2), seen.wanted, seen.needed
    (0.14, 0.05, 292)
    """
    if tests < 1:
        raise InvalidInput(f"The number of tests is {tests}; at least 1 is needed.")
    column = np.asarray(differences, dtype=np.float64)
    column = column[~np.isnan(column)]
    n, level = len(column), alpha / tests
    fewest = fewest_queries(level)
    if n < fewest:
        return Visibility(n, power, level, fewest, None, None, None, "too few queries")
    spread = standard_deviation(column, exact_mean(column))
    smallest = smallest_detectable_difference(n, spread, power, level)
    if not smallest:
        return Visibility(n, power, level, fewest, None, None, None, "no spread")
    wanted = rounder_below(0.6 * smallest)
    needed = queries_needed(wanted, spread, power, level)
    return Visibility(n, power, level, fewest, smallest, wanted, needed)


def fewest_queries(level: float) -> int:
    """With fewer queries than this, no difference at all passes the sign-flip test.

    n queries have 2**n ways to flip; the two most extreme of them give the smallest p-value.

    >>> fewest_queries(0.05)
    6
    """
    return 1 + math.ceil(math.log2(1.0 / level) - 1e-9)


def rounder_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above the value.

    >>> rounder_below(0.066), rounder_below(0.2), rounder_below(17.0)
    (0.05, 0.2, 10.0)
    """
    exponent = math.floor(math.log10(value))
    for digit, power in ((5, exponent), (2, exponent), (1, exponent), (5, exponent - 1)):
        candidate = float(f"{digit}e{power}")
        if candidate <= value * (1 + 1e-9):
            return candidate
    return value
