"""Has a metric that is measured every night gone down since the reference nights?

The same queries run each night, so each is compared with itself: its value less its mean over the
reference. Queries are the units and nights are not, because nights depend on each other: an index
stays as it was built for a week, and seven reference nights may hold one build. Two looks: at
tonight, and at the mean of the last seven nights, where tonight lost as well (what is over does
not ring). A look rings where a loss is shown at the level of the budget, and at 1 % that it is
larger than is allowed.

Each look has half of the budget. A p-value is as small as budget / 730 by chance in half of the
budget of nights a year, however nights depend on each other: queries do not. Where the reference
nights are identical and no quiet night since has gained anything, nights have no noise, and a loss
that is larger than is allowed rings at p ≤ .01.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.model.arrays import Floats
from calipers.statistics.paired_test import PairedTest, mean_of_runs, paired_tests

WINDOWS = (1, 7)
"""Over how many evaluations, up to the one that is judged, each look takes the mean."""
SURE = 0.01
"""The level where nights have no noise, and that of a loss being larger than is allowed."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class NightLook:
    """The mean of some nights against the reference, query by query, and whether it rings."""

    window: int
    """How many nights the mean is over."""
    differences: Floats
    """For each query: the mean over these nights less that over the reference."""
    level: float
    """The p-value from which it rings."""
    beyond: bool
    """Whether the loss that was seen is larger than is allowed; else nothing is tested."""
    sure: bool
    """Whether that it is larger is known without a test, as nights have no noise."""
    allow: float
    test: PairedTest | None = None

    @property
    def p(self) -> float:
        """Small where there is a loss."""
        return 1.0 if self.test is None else self.test.p_below()

    @property
    def larger(self) -> bool:
        """Whether the loss is shown to be larger than is allowed."""
        return self.test is not None and (self.sure or self.test.p_below(-self.allow) <= SURE)

    @property
    def rings(self) -> bool:
        """Whether it gives an alarm."""
        return self.beyond and self.larger and self.p <= self.level

    @property
    def doubtful(self) -> bool:
        """Whether it lost too clearly to be what later nights are held against."""
        return self.rings or (self.beyond and self.p <= SURE)


def looks(
    values: Floats, reference: Sequence[int], nights: Sequence[int], allow: float, level: float
) -> list[list[NightLook]]:
    """The looks at each of some nights; values have a row per night and a column per query.

    More is better; a night may lack queries (NaN). `level` is for all looks at a night together.

    >>> values = np.ones((7, 200))
    >>> values[6, :7] = 0.0
    >>> look = looks(values, range(6), [6], 0.02, 1 / 365)[0][0]
    >>> look.window, round(look.p, 3), look.rings
    (1, 0.008, True)
    """
    base = mean_of_runs([values[night] for night in reference])
    away = values - base
    away[np.abs(away) < ROUNDING] = 0.0
    found = [_untested(away, reference, night, allow, level / len(WINDOWS)) for night in nights]
    wanted = [look for one in found for look in one if look.beyond]
    tests = iter(paired_tests([look.differences for look in wanted]))
    return [
        [replace(look, test=next(tests)) if look.beyond else look for look in one] for one in found
    ]


def first_quiet(doubtful: Callable[[list[int], int], bool], nights: int, size: int) -> list[int]:
    """The reference: the first nights until it is full, without those that lost too clearly.

    The last night is being judged and never belongs to it.
    """
    chosen = [0]
    for night in range(1, nights - 1):
        if len(chosen) == size:
            break
        if not doubtful(chosen, night):
            chosen.append(night)
    return chosen


def _untested(
    away: Floats, reference: Sequence[int], night: int, allow: float, level: float
) -> list[NightLook]:
    """The looks at one night that has enough before it, and whether each saw a loss at all."""
    found = []
    for window in WINDOWS:
        among = [at for at in range(max(0, night + 1 - window), night + 1) if at not in reference]
        if window > 1 and len(among) < 2:
            continue
        differences = mean_of_runs([away[at] for at in among])
        # What is over does not ring: tonight has to have lost as well.
        beyond = max(night_means(np.array([differences, away[night]]))) < -allow - ROUNDING
        found.append(NightLook(len(among), differences, level, beyond, sure=False, allow=allow))
    if has_no_noise(away[:night], reference, allow):
        found[0] = replace(found[0], sure=True, level=SURE)
    return found


def night_means(away: Floats) -> Floats:
    """The mean of each night over the queries that it has."""
    known = np.isfinite(away)
    means: Floats = np.where(known, away, 0.0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
    return means


def has_no_noise(before: Floats, reference: Sequence[int], allow: float) -> bool:
    """Whether nights were always the same: the reference, and no gain in a quiet night since.

    Noise gains as well as it loses; a retriever that only lost has lost.
    """
    nights = [at for at in reference if at < len(before)]
    if len(nights) < 2 or np.any(before[nights] != 0.0):
        return False
    quiet = night_means(before) >= -allow
    return not np.any(before[quiet] > 0.0)
