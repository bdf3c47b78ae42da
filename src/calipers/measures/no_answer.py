"""What should not come back: forbidden items, and anything at all for queries nothing answers."""

from typing import Self

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero
from calipers.measures.views import Found, per_query, within
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import FAILED, Matches

UNANSWERABLE = ("abstention", "unwanted")
"""The metrics that are about queries without targets alone."""
FORBIDDEN = ("leak", "leak_rate", "old_first")
"""The metrics that are about queries with forbidden results alone."""


@dataclass(frozen=True, eq=False)
class Leaks:
    """The ranks that hold something forbidden, each once."""

    query: Ints
    rank: Ints
    forbidden: Ints
    """How many forbidden entries each query has."""

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over what the ground truth forbids."""
        leaked = matches.leaked
        if leaked is None:
            raise InvalidInput(
                "leak@k, leak_rate@k and old_first@k look for what must not be found, and the "
                "ground truth forbids nothing; name it in the field 'forbidden' of a record, such "
                'as "forbidden": ["tenant-b-17"].'
            )
        places = np.unique(np.stack([leaked.query, leaked.rank], axis=1), axis=0)
        return cls(places[:, 0], places[:, 1], leaked.forbidden)

    def within(self, k: int) -> Floats:
        """How many of the first k results leak; undefined where nothing is forbidden."""
        counts = per_query(self.query[within(self.rank, k)], self.forbidden.size)
        return np.where(self.forbidden > 0, counts, np.nan)


@metric(better="lower", bounds=(0, None), without_targets="defined")
def leak(leaks: Leaks, k: int) -> Floats:
    """How many of the first k results hold something that must not be found.

    Undefined for a query for which nothing is forbidden.
    """
    return leaks.within(k)


@metric(better="lower", without_targets="defined")
def leak_rate(leaks: Leaks, k: int) -> Floats:
    """1 if any of the first k results holds something that must not be found, else 0.

    Undefined for a query for which nothing is forbidden; the mean is the share of queries
    that leak, among those that could.
    """
    counts = leaks.within(k)
    return np.where(np.isnan(counts), np.nan, counts > 0)


@dataclass(frozen=True, eq=False)
class Versions:
    """The first rank that holds something forbidden, and the first that holds a target."""

    leaks: Leaks
    found: Found

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        return cls(Leaks.of(matches), Found.of(matches, rel))


@metric(better="lower", without_targets="defined")
def old_first(versions: Versions, k: int) -> Floats:
    """1 if something forbidden stands in the first k results above the first target, else 0.

    Also 1 where it stands there and no target does: with old versions of documents as
    `forbidden`, the share of queries that are answered from an old version. Undefined for
    a query for which nothing is forbidden.
    """
    leaks = versions.leaks
    first = np.full(leaks.forbidden.size, np.inf)
    # Ascending by rank within a query, so assigning them in reverse leaves the smallest.
    first[leaks.query[::-1]] = leaks.rank[::-1]
    is_first = (first <= k) & (first < versions.found.first())
    return np.where(leaks.forbidden > 0, is_first.astype(np.float64), np.nan)


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
        return cls(
            ~matches.answerable(rel), matches.having_status(FAILED), matches.retrieved
        )


@metric(
    better="higher",
    also=("abstention_rate", "rejection", "negative_rejection"),
    without_targets="defined",
)
def abstention(unanswerable: Unanswerable) -> Floats:
    """1 if nothing came back for a query without targets, else 0.

    Undefined for a query with targets, so that the mean is the share of the unanswerable
    queries that rightly got nothing. ``--min-score`` leaves out results with a lower
    score first. A query on which the retriever failed counts as 0.
    """
    right = (unanswerable.retrieved == 0) & ~unanswerable.failed
    return np.where(unanswerable.without, right.astype(np.float64), np.nan)


@metric(better="lower", bounds=(0, None), without_targets="defined")
def unwanted(unanswerable: Unanswerable, k: int | None = None) -> Floats:
    """How many results came back for a query without targets, k at most.

    Undefined for a query with targets, and for one on which the retriever failed.
    """
    shown = unanswerable.retrieved if k is None else np.minimum(unanswerable.retrieved, k)
    return np.where(
        unanswerable.without & ~unanswerable.failed, shown.astype(np.float64), np.nan
    )
