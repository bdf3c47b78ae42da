"""Queries that nothing answers: did the retriever return nothing, as it should?"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import FAILED, Matches

UNANSWERABLE = ("abstention", "unwanted")
"""The metrics that are about queries without targets alone."""


@dataclass(frozen=True, eq=False)
class Unanswerable:
    """The queries without any relevant target, and how many results each got."""

    without: Bools
    """Which queries have no target."""
    failed: Bools
    """On which queries the retriever failed: that is no right answer."""
    retrieved: Ints

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        return cls(~matches.answerable(rel), matches.having_status(FAILED), matches.retrieved)


@metric(
    better="higher",
    also=("abstention_rate", "rejection", "negative_rejection"),
    without_targets="defined",
)
def abstention(asked: Unanswerable) -> Floats:
    """1 if nothing came back for a query without targets, else 0.

    Undefined for a query with targets, so that the mean is the share of the unanswerable queries
    that rightly got nothing. ``--min-score`` leaves out results with a lower score first. A query
    on which the retriever failed counts as 0.
    """
    right = (asked.retrieved == 0) & ~asked.failed
    return np.where(asked.without, right.astype(np.float64), np.nan)


@metric(better="lower", bounds=(0, None), without_targets="defined")
def unwanted(asked: Unanswerable, k: int | None = None) -> Floats:
    """How many results came back for a query without targets, k at most.

    Undefined for a query with targets, and for one on which the retriever failed.
    """
    shown = asked.retrieved if k is None else np.minimum(asked.retrieved, k)
    return np.where(asked.without & ~asked.failed, shown.astype(np.float64), np.nan)
