"""How many queries a fixed difference takes: a range, from the spread of the changes alone.

A number that is computed from the difference that was seen runs from a tenth to 25 times
the need, and whoever adds so many queries and tests again finds something in 9% of
unchanged pairs. So the difference is fixed before, and only how much queries change is
taken from the data.

**Changes of one size** (hits and misses). The test is the sign test, and its power is exact: so
many of n queries change, and of these so many gain that the mean is the difference. The share that
changes is known only as well as these queries tell, so both ends of its 95% interval (Clopper and
Pearson) are asked.

**Others.** n = (z(alpha / 2) + z(power))**2 * s**2 / difference**2 + 2, which is 7.85 at 5% and
80%, at both ends of Bonett's 95% interval of the variance s**2.

Both ends are rounded outward to 1, 1.5, 2, 3, 4, 5, 7 times a power of ten: thirty
queries know no more digits. Below five that changed nothing is said. docs/statistics.md
says how often such a range holds the number of queries that have the power asked for.
"""

import math
from functools import lru_cache

import numpy as np

from calipers.model.arrays import Floats, Ints
from calipers.model.claim import QueriesToDetect
from calipers.statistics.bounded_mean import upper_shares
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.score_interval import Ends, beta_fraction, normal_quantile

DIFFERENCE = 0.05
"""What is asked for where nobody named a difference."""
POWER = 0.8
LEVEL = 0.95
FEWEST_CHANGED = 5
"""With fewer changes nothing is said. A higher limit is worse: only pilots in which too
much changed would speak."""
USUAL_SHARES = Ends(0.1, 0.3)
"""The share of queries that gain or lose a hit between two retrievers, where none were
measured."""
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
_EXACT = 4_000
"""Beyond so many queries, the sign test is as good as normal."""
_OUT = 7.0
"""Standard deviations within which the number of changes is summed."""


def queries_to_detect(
    row: PairedRow,
    difference: float = DIFFERENCE,
    *,
    alpha: float | None = None,
    power: float = POWER,
) -> QueriesToDetect | None:
    """The number of queries (or clusters) that detects the difference, as a range.

    The test is two-sided at `alpha`, by default that which keeps the error of all rows of
    the command. None where too few queries changed to say anything.

    >>> from calipers.statistics.paired_rows import paired_rows
    >>> [row] = paired_rows([[1.0] * 5 + [-1.0] * 5 + [0.0] * 32])
    >>> queries_to_detect(row).sentence
    'To detect 0.05 takes 300 to 1,500 queries.'
    >>> queries_to_detect(paired_rows([[-1.0] * 3 + [0.0] * 9])[0]) is None
    True
    """
    if row.changed < FEWEST_CHANGED:
        return None
    error = row.alpha if alpha is None else alpha
    size = abs(difference)
    if row.step is None:
        reach = (normal_quantile(1.0 - error / 2.0) + normal_quantile(power)) ** 2
        ends = (reach * end / size**2 + 2.0 for end in _variance_ends(row))
    else:
        unit = size / row.step
        ends = (_by_signs(share, unit, error, power) for share in _share_ends(row))
    low, high = ends
    return QueriesToDetect(size, _rounded_down(low), _rounded_up(high))


def usual_queries_to_detect(difference: float = DIFFERENCE) -> QueriesToDetect:
    """The same where nothing was measured: hits, of which a usual share changes.

    >>> usual_queries_to_detect().sentence
    'To detect 0.05 takes 300 to 1,000 queries.'
    """
    low, high = (_by_signs(share, difference, 0.05, POWER) for share in USUAL_SHARES)
    return QueriesToDetect(difference, _rounded_down(low), _rounded_up(high))


def _share_ends(row: PairedRow) -> Ends:
    """Clopper and Pearson's interval of the share of units that change."""
    tail = 0.5 + 0.5 * LEVEL
    low, high = (
        float(upper_shares(row.units, np.array([float(count)]), tail)[0])
        for count in (row.units - row.changed, row.changed)
    )
    return Ends(1.0 - low, high)


def _variance_ends(row: PairedRow) -> Ends:
    """Bonett's interval of the variance of the units' differences."""
    n = row.units
    z = normal_quantile(0.5 + 0.5 * LEVEL)
    small = n / (n - z)
    error = small * math.sqrt(max(row.kurtosis - (n - 3) / n, 0.0) / (n - 1))
    middle = small * row.spread**2
    return Ends(middle * math.exp(-z * error), middle * math.exp(z * error))


@lru_cache(maxsize=1024)
def _by_signs(share: float, unit: float, alpha: float, power: float) -> float:
    """The fewest units of which the sign test detects a mean of `unit` changes per unit."""
    changing = min(max(share, unit), 1.0)
    low = 1
    high = 8
    while _power(high, changing, unit, alpha) < power:
        low = high
        high = 2 * high
        if high > _EXACT:
            return _by_normal_signs(changing, unit, alpha, power)
    while high - low > 1:
        middle = (low + high) // 2
        enough = _power(middle, changing, unit, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return float(high)


def _by_normal_signs(changing: float, unit: float, alpha: float, power: float) -> float:
    """The same for many units, whose sum is normal."""
    wide = normal_quantile(1.0 - alpha / 2.0) * math.sqrt(changing)
    wide += normal_quantile(power) * math.sqrt(max(changing - unit * unit, 0.0))
    root = (wide + math.sqrt(wide * wide + 4.0 * unit)) / (2.0 * unit)
    return root * root


def _power(n: int, changing: float, unit: float, alpha: float) -> float:
    """How often n units show a gain of so many units each, of which a share changes."""
    gains = min(0.5 + 0.5 * unit / changing, 1.0)
    middle = n * changing
    out = _OUT * math.sqrt(n * changing * (1.0 - changing)) + 1.0
    changed = np.arange(
        max(math.floor(middle - out), 1), min(math.ceil(middle + out), n) + 1
    )
    below = math.lgamma(n + 1)
    logs = np.array(
        [below - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in changed.tolist()]
    )
    logs += changed * math.log(changing)
    if changing < 1.0:
        logs += (n - changed) * math.log1p(-changing)
    else:
        logs[changed < n] = -np.inf
    return float(np.exp(logs) @ _reached(changed, _needed_gains(changed, alpha), gains))


def _needed_gains(changed: Ints, alpha: float) -> Ints:
    """The fewest gains among so many changes that are significant; one more where none are."""
    z = normal_quantile(1.0 - alpha / 2.0)
    guess = np.floor(0.5 * (changed + z * np.sqrt(changed))).astype(np.int64) - 1
    needed = changed + 1
    for step in range(4, -1, -1):
        tried = np.minimum(guess + step, changed)
        needed = np.where(2.0 * _reached(changed, tried, 0.5) <= alpha, tried, needed)
    return needed


def _reached(tosses: Ints, heads: Ints, chance: float) -> Floats:
    """The chance of at least so many heads in so many tosses, for each pair."""
    reached = np.where(heads <= 0, 1.0, 0.0)
    inside = (heads > 0) & (heads <= tosses)
    if chance >= 1.0:
        reached[inside] = 1.0
        return reached
    # I(chance; a, b) with a heads and b tails more; the fraction converges on one side of
    # the mean.
    a = heads[inside].astype(np.float64)
    b = (tosses - heads)[inside] + 1.0
    turned = chance > (a + 1.0) / (a + b + 2.0)
    x = np.where(turned, 1.0 - chance, chance)
    first: Floats = np.where(turned, b, a)
    second: Floats = np.where(turned, a, b)
    front = np.array(
        [
            math.lgamma(p + q) - math.lgamma(p) - math.lgamma(q)
            for p, q in zip(first.tolist(), second.tolist(), strict=True)
        ]
    )
    logs = front + first * np.log(x) + second * np.log1p(-x)
    share = np.exp(logs) * beta_fraction(first, second, x) / first
    reached[inside] = np.where(turned, 1.0 - share, share)
    return reached


def _rounded_down(value: float) -> int:
    """The largest of the steps times a power of ten that is not above the value, at least 1."""
    scale = 10.0 ** math.floor(math.log10(max(value, 1.0)))
    below = [step * scale for step in STEPS if step * scale <= max(value, 1.0)]
    return math.floor(below[-1])


def _rounded_up(value: float) -> int:
    """The smallest of the steps times a power of ten that is not below the value."""
    scale = 10.0 ** math.floor(math.log10(max(value, 1.0)))
    above = [step * scale for step in (*STEPS, 10.0) if step * scale >= value]
    return math.ceil(above[0])
