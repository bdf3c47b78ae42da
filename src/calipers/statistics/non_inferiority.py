"""Is a new build worse than the baseline by more than is allowed?

Two questions with one answer each, both one-sided: is a loss beyond what is allowed shown, and
is it shown that there is none? Between the two lies "neither", which is most of life with few
queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.model.plan import Unseen
from calipers.statistics.paired_test import DIFFERENCES, MeanDifference, difference, undone_by

Verdict = Literal["loss shown", "no loss shown", "neither"]


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """What the differences (new minus baseline, higher is better) say about a loss."""

    difference: MeanDifference
    allow: float
    p_loss: float
    """Small where the loss is shown to exceed what is allowed."""
    p_no_loss: float
    """Small where it is shown not to."""

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Which of the two is shown, if any; both cannot be."""
        if self.p_loss <= alpha:
            return "loss shown"
        return "no loss shown" if self.p_no_loss <= alpha else "neither"

    def undone(self, p_loss: float | None, alpha: float, *, strict: bool) -> Unseen | None:
        """What would undo a loss that is shown (corrected), or that none is, where that counts."""
        shown = p_loss is not None and (p_loss <= alpha or (strict and self.p_no_loss <= alpha))
        return undone_by(self.difference, 1.0 - alpha, -self.allow) if shown else None


def non_inferiority(
    differences: ArrayLike,
    allow: float = 0.0,
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = DIFFERENCES,
) -> NonInferiority | None:
    """Both one-sided tests at a loss of `allow`; None below two pairs.

    >>> found = non_inferiority([-0.5, 0.0, -0.25, -0.5, -0.5, -0.75, -0.25], allow=0.05)
    >>> round(found.p_loss, 3), found.verdict()
    (0.01, 'loss shown')
    """
    if not 0.0 <= allow < np.inf:
        raise InvalidInput(
            f"The allowed loss is out of range: found {allow}, a number from 0 up is allowed."
        )
    found = difference(differences, clusters, limits)
    if found is None:
        return None
    return NonInferiority(found, allow, found.p_below(-allow), found.p_above(-allow))


def mean_of_runs(runs: Sequence[ArrayLike]) -> Floats:
    """The baseline from several runs of one commit: per query the mean over runs that have it.

    One run can be lucky, and then every later build looks worse; the luck of r runs is smaller
    by the root of r. Values are added in order of size, so that the order of runs is no matter.

    >>> mean_of_runs([[1.0, 0.5], [0.5, float("nan")]]).tolist()
    [0.75, 0.5]
    """
    if not len(runs):
        raise InvalidInput("A baseline needs at least one run: found none.")
    table = np.sort(np.array([np.asarray(run, dtype=np.float64) for run in runs]), axis=0)
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    total = np.where(known, table, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
    return mean
