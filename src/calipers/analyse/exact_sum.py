"""Sums that are rounded once, so that they are the same in any order and on every machine."""

import math

import numpy as np

from calipers.model.arrays import Floats

_SHORT = 512
# The exponents within which scaling by a power of two loses nothing.
_SAFE_EXPONENT = 900


def exact_sum(column: Floats) -> float:
    """What `math.fsum` gives, without a Python object for each of very many values.

    >>> exact_sum(np.array([1e16, 1.0, -1e16, 1.0]))
    2.0
    """
    if column.size <= _SHORT:
        return math.fsum(column.tolist())
    bits = exact_bits(column.size)
    parts = []
    rest = column
    while rest.size:
        magnitude = max(float(rest.max()), -float(rest.min()))
        exponent = math.frexp(magnitude)[1] - bits
        if not abs(exponent) < _SAFE_EXPONENT:
            return math.fsum(column.tolist())
        # The leading bits of every value as whole numbers: their sum has no rounding. What is
        # left of each value is exact too, and goes through the same once more.
        leading = np.rint(rest * math.ldexp(1.0, -exponent))
        parts.append(math.ldexp(float(leading.sum()), exponent))
        rest = rest - leading * math.ldexp(1.0, exponent)
        # Picking out what is left costs more than carrying a few zeros along.
        if np.count_nonzero(rest) <= rest.size // 4:
            rest = rest[rest != 0.0]
    return math.fsum(parts)


def exact_bits(n: int) -> int:
    """Bits a whole number may have so that any sum of n of them, doubled, is exact in float64.

    >>> exact_bits(1000)
    42
    """
    return 52 - n.bit_length()


def exact_mean(column: Floats) -> float:
    """The mean from a sum that is rounded once, whatever the order of the values.

    >>> exact_mean(np.array([1e16, 1.0, -1e16, 1.0]))
    0.5
    """
    mean = exact_sum(column) / len(column)
    # The division rounds once more, which can lift the mean of equal values off them.
    return min(max(mean, float(column.min())), float(column.max()))
