"""What was judged and what was not: the views of metrics that know about the pool.

An item of negative grade is judged, and yet marks what stood outside the pool: it says neither
that the item is relevant nor that it is not.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calipers.metrics.claims import claim_positions
from calipers.metrics.define import AboveZero
from calipers.metrics.views import NEVER, Found, per_query
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matches import Matches


@dataclass(frozen=True, eq=False)
class Judged:
    """The ranks whose item somebody judged, whatever the grade."""

    query: Ints
    rank: Ints
    retrieved: Ints

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over every target."""
        new = matches.is_new_rank
        return cls(matches.edge_query[new], matches.edge_rank[new], matches.retrieved)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.retrieved.size


@dataclass(frozen=True, eq=False)
class Known:
    """The positions about which nothing is open: held by a judged item, or paid to a target."""

    query: Ints
    position: Ints
    n_queries: int

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over every target that is not of negative grade."""
        pool = matches.target_grade >= 0
        query, position, _ = claim_positions(matches, pool)
        if matches.is_one_to_one:
            return cls(query, position, matches.n_queries)
        held = pool[matches.edge_target]
        both = np.unique(
            np.concatenate(
                [
                    _place(query, position),
                    _place(matches.edge_query[held], matches.edge_rank[held]),
                ]
            )
        )
        return cls(both >> 32, both & 0xFFFFFFFF, matches.n_queries)


@dataclass(frozen=True, eq=False)
class Opposed:
    """Each relevant target that was found, beside the judged irrelevant ranks above it."""

    query: Ints
    above: Floats
    """How many ranks above it hold only what was judged irrelevant."""
    n_relevant: Floats
    n_irrelevant: Floats

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0).

        A negative grade is neither relevant nor irrelevant: it marks what was outside the pool.
        """
        found = Found.of(matches, rel)
        is_irrelevant = ~matches.relevant(rel) & (matches.target_grade >= 0)
        is_against = _holding(matches, is_irrelevant) & ~_holding(matches, matches.relevant(rel))
        new = matches.is_new_rank
        irrelevant = _place(matches.edge_query[new], matches.edge_rank[new])[is_against]
        kept = found.rank < NEVER
        query, rank = found.query[kept], found.rank[kept]
        before_query = np.searchsorted(irrelevant, _place(query, np.zeros_like(rank)))
        above = np.searchsorted(irrelevant, _place(query, rank)) - before_query
        n_irrelevant = per_query(matches.target_query[is_irrelevant], matches.n_queries)
        return cls(query, above.astype(np.float64), found.total, n_irrelevant)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.n_relevant.size


def _holding(matches: Matches, targets: Bools) -> Bools:
    """Which of the ranks with an edge hold one of these targets."""
    rank_of_edge = np.cumsum(matches.is_new_rank) - 1
    counts = np.bincount(
        rank_of_edge[targets[matches.edge_target]],
        minlength=np.count_nonzero(matches.is_new_rank),
    )
    return counts > 0


def _place(query: Ints, rank: Ints) -> Ints:
    """One number per query and rank that sorts by query first."""
    return (query << 32) + rank
