"""Test groups of queries against the others: is their mean lower or higher by more than chance?

If a group were like the others, any other units (queries, or clusters of them) could as
well be in it; so the difference of means is compared with those of other groups of that
size. This is the two-sample permutation test; for hits and misses it is Fisher's exact
test.

All groups of one call are tested together: the same exchanges of units serve every group,
and the adjusted p-value is the share of them in which any group is as far out by its own
p-value (Westfall and Young's step-down minP). Redundant groups, such as two halves, cost
no power.

The exchanges are random orders of the units with all their rotations: each is as likely
as any other, and one Fourier transform gives the sums of all rotations.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calipers.model.arrays import Bools, Floats

DRAWS = 20_000
_SEED = 19_350_722
_AT_ONCE = 2_000_000
_ROUNDING = 1e-9
_DIGITS = 10


class GroupTest(NamedTuple):
    """The test of the difference of means between a group and the rest."""

    p: float
    """Two-sided: twice the smaller tail."""
    adjusted: float
    """p adjusted for all groups of the call."""


def group_tests(
    values: ArrayLike, groups: Sequence[ArrayLike], clusters: ArrayLike | None = None
) -> list[GroupTest | None]:
    """The test of each group against all others; NaN is left out, None below two units on a side.

    Where a group cuts a cluster, each part is a unit.

    >>> values = [0] * 8 + [1] * 12
    >>> [found] = group_tests(values, [[True] * 8 + [False] * 12])
    >>> found.p < 0.001
    True
    """
    column = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(column)
    masks = np.array([np.asarray(group, dtype=np.bool_)[known] for group in groups])
    named = None if clusters is None else np.asarray(clusters)[known]
    tests: list[GroupTest | None] = [None] * len(groups)
    if not known.any() or not len(groups):
        return tests
    sums, sizes, masks = _units(column[known], masks, named)
    inside = masks.sum(axis=1)
    tested = np.flatnonzero((inside >= 2) & (masks.shape[1] - inside >= 2))
    if not tested.size:
        return tests
    # In an order that does not depend on the names and the order of queries and groups.
    total = masks @ sums
    of_groups = sorted(
        tested, key=lambda at: (inside[at], round(float(total[at]), _DIGITS))
    )
    keys = [masks[at] for at in reversed(of_groups)]
    order = np.lexsort((*keys, sizes, np.round(sums / sizes, _DIGITS)))
    sums = sums[order]
    sizes = sizes[order]
    masks = masks[tested][:, order]
    observed = _differences(masks @ sums, masks @ sizes, sums, sizes)
    drawn = [observed[:, None], *_exchanged(sums, sizes, masks)]
    p_values = _own_p(np.concatenate(drawn, axis=1).round(_DIGITS))
    adjusted = step_down(p_values)
    for row, at in enumerate(tested):
        tests[at] = GroupTest(float(p_values[row, 0]), float(adjusted[row]))
    return tests


def step_down(p_values: Floats) -> Floats:
    """The adjusted p of each row: a row per test, a column per exchange, the first as observed.

    >>> step_down(np.array([[0.25, 0.5, 0.75, 1.0], [0.5, 0.25, 1.0, 0.75]])).tolist()
    [0.5, 0.5]
    """
    adjusted = np.ones(len(p_values))
    order = np.argsort(p_values[:, 0], kind="stable")
    smallest = np.minimum.accumulate(p_values[order[::-1]], axis=0)[::-1]
    highest = 0.0
    for place, row in enumerate(order):
        share = float(np.mean(smallest[place] <= p_values[row, 0] + _ROUNDING))
        adjusted[row] = highest = max(highest, share, float(p_values[row, 0]))
    return adjusted


def _units(
    values: Floats, masks: Bools, clusters: ArrayLike | None
) -> tuple[Floats, Floats, Bools]:
    """Sum and size of each unit, and which groups hold it."""
    if clusters is None:
        return values, np.ones(len(values)), masks
    keys = np.vstack([np.unique(np.asarray(clusters), return_inverse=True)[1], masks])
    units, of_query = np.unique(keys, axis=1, return_inverse=True)
    of_query = of_query.reshape(-1)
    sums: Floats = np.bincount(of_query, values).astype(np.float64)
    sizes: Floats = np.bincount(of_query).astype(np.float64)
    return sums, sizes, units[1:] > 0


def _differences(taken: Floats, counted: Floats, sums: Floats, sizes: Floats) -> Floats:
    """Mean of a group less that of the rest, from the sum and the size of the group."""
    rest: Floats = (sums.sum() - taken) / (sizes.sum() - counted)
    return taken / counted - rest


def _exchanged(sums: Floats, sizes: Floats, masks: Bools) -> Iterator[Floats]:
    """Differences of means after exchanges of units: a row per group, a column per exchange."""
    random = np.random.default_rng(_SEED + len(sums))
    n = len(sums)
    shifts = min(len(sums), DRAWS)
    orders = -(-DRAWS // shifts)
    at_once = max(1, _AT_ONCE // (n * len(masks)))
    # The members of a group are shuffled too: of neighbours, rotations would be too
    # similar.
    group = np.conj(np.fft.rfft(masks[:, random.permutation(n)] * 1.0))[:, None, :]
    plain = bool((sizes == 1.0).all())

    def taken(units: Floats) -> Floats:
        rotated: Floats = np.fft.irfft(group * np.fft.rfft(units), n)[:, :, :shifts]
        return rotated.reshape(len(masks), -1)

    for start in range(0, orders, at_once):
        places = random.permuted(
            np.tile(np.arange(n), (min(at_once, orders - start), 1)), axis=1
        )
        counted = (masks @ sizes)[:, None] if plain else taken(sizes[places])
        yield _differences(taken(sums[places]), counted, sums, sizes)


def _own_p(differences: Floats) -> Floats:
    """The two-sided p of each exchange among all of its row."""
    p = np.empty_like(differences)
    n = differences.shape[1]
    for row, order in enumerate(np.argsort(differences, axis=1)):
        # Equal ones lie side by side: so many are below the first of them, and above the
        # last.
        ordered = differences[row, order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        beyond = np.append(first[1:], n)
        share = np.minimum(1.0, 2.0 * np.minimum(n - first, beyond) / n)
        p[row, order] = np.repeat(share, beyond - first)
    return p
