"""How much of the ranking was judged, and metrics for incomplete judgements.

A negative grade marks an item that was in the pool and not judged: it says neither that
the item is relevant nor that it is irrelevant.
"""

from functools import cached_property
from typing import Literal, Self

import numpy as np

from calipers.frozen import dataclass
from calipers.measures.define import metric
from calipers.measures.parameter import AboveZero, Share
from calipers.measures.views import (
    NEVER,
    Found,
    claim_positions,
    per_query,
    ratio,
    within,
)
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matches


@dataclass(frozen=True, eq=False)
class Judged:
    """The ranks whose item was judged, whatever the grade."""

    query: Ints
    rank: Ints
    in_pool: Bools
    """Whether the rank holds a target with a grade of 0 or more."""
    retrieved: Ints

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over every target."""
        new = matches.is_new_rank
        in_pool = _holding(matches, matches.target_grade >= 0)
        return cls(
            matches.edge_query[new], matches.edge_rank[new], in_pool, matches.retrieved
        )


@dataclass(frozen=True, eq=False)
class Known:
    """The positions that are settled: a judged item stands there, or a target claimed them."""

    query: Ints
    position: Ints
    retrieved: Ints

    @cached_property
    def open_results(self) -> Bools:
        """Which queries have a result that is not settled."""
        shown = self.position <= self.retrieved[self.query]
        return per_query(self.query[shown], self.retrieved.size) < self.retrieved

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over every target that is not of negative grade."""
        pool = matches.target_grade >= 0
        claimed = claim_positions(matches, pool, improved=True)
        query = claimed.query
        position = claimed.position
        if matches.is_one_to_one:
            return cls(query, position, matches.retrieved)
        held = pool[matches.edge_target]
        both = np.unique(
            np.concatenate(
                [
                    _place(query, position),
                    _place(matches.edge_query[held], matches.edge_rank[held]),
                ]
            )
        )
        return cls(both >> 32, both & 0xFFFFFFFF, matches.retrieved)


@dataclass(frozen=True, eq=False)
class Opposed:
    """Each relevant target that was found, with the judged irrelevant ranks above it."""

    query: Ints
    above: Floats
    """How many ranks above it hold only what was judged irrelevant."""
    n_relevant: Floats
    n_irrelevant: Floats

    @classmethod
    def of(cls, matches: Matches, rel: AboveZero | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0).

        A negative grade is neither relevant nor irrelevant: it marks what was not judged.
        """
        view = Found.of(matches, rel)
        is_irrelevant = _irrelevant(matches, rel)
        is_against = _holding(matches, is_irrelevant) & ~_holding(
            matches, matches.relevant(rel)
        )
        kept = view.rank < NEVER
        query = view.query[kept]
        rank = view.rank[kept]
        above = _ranks_above(matches, is_against, query, rank)
        n_irrelevant = per_query(matches.target_query[is_irrelevant], matches.n_queries)
        return cls(query, above, view.total, n_irrelevant)


@metric(better="neither", without_targets="defined")
def judged(judged: Judged, k: int) -> Floats:
    """The share of the first k results that somebody judged; undefined where nothing came back.

    Divided by the number of results shown, k at most. Low values mean that the other
    metrics see little. An item of negative grade counts as not judged, and so does one
    returned a second time.
    """
    shown = np.minimum(judged.retrieved, k).astype(np.float64)
    keep = within(judged.rank, k) & judged.in_pool
    return ratio(per_query(judged.query[keep], judged.retrieved.size), shown)


@metric(better="neither", also=("unj", "hole"), without_targets="defined")
def unjudged(judged: Judged, k: int) -> Floats:
    """How many of the first k results nobody judged, divided by k.

    Divided by k even when fewer results came back, as in trec_eval; an item of negative
    grade counts as not judged, too, and so does one returned a second time. BEIR's Hole@k
    counts only what nobody judged for any query.
    """
    known = within(judged.rank, k) & judged.in_pool
    return (
        np.minimum(judged.retrieved, k)
        - per_query(judged.query[known], judged.retrieved.size)
    ) / k


@metric(better="higher")
def bpref(opposed: Opposed) -> Floats:
    """How seldom a judged irrelevant result stands above a relevant one; ignores the unjudged.

    The mean over all R targets of 1 - min(irrelevant above, R) / min(irrelevant judged,
    R); a target that was not retrieved counts 0. An item of negative grade counts as not
    judged, as in trec_eval.
    """
    total = opposed.n_relevant[opposed.query]
    against = opposed.n_irrelevant[opposed.query]
    # Several ranks may hold the same irrelevant target, so there may be more above than
    # judged.
    above = np.minimum(opposed.above, np.minimum(against, total))
    penalty = ratio(above, np.minimum(against, total), where_zero=0.0)
    credit = per_query(opposed.query, opposed.n_relevant.size, 1.0 - penalty)
    return ratio(credit, opposed.n_relevant)


@metric(better="lower", also=("rbp_resid",))
def rbp_residual(
    known: Known, p: Share = 0.8, all_judged: Literal["below", "zero"] = "below"
) -> Floats:
    """What unjudged results, and all that lies below the last one, could add to rbp.

    A result returned a second time counts as unjudged, and so does an item of negative
    grade, as in trec_eval. Where every result is judged, or none came back, what lies
    below is left; trec_eval gives 0 there: ``all_judged=zero``.
    """
    seen: Floats = (1 - p) * np.power(p, known.position - 1.0)
    left = np.clip(1.0 - per_query(known.query, known.retrieved.size, seen), 0.0, 1.0)
    return left if all_judged == "below" else np.where(known.open_results, left, 0.0)


def _irrelevant(matches: Matches, rel: float | None) -> Bools:
    """Which targets were judged and found not relevant."""
    return ~matches.relevant(rel) & (matches.target_grade >= 0)


def _ranks_above(matches: Matches, counted: Bools, query: Ints, rank: Ints) -> Floats:
    """How many of the counted ranks are above each of these ranks in its query."""
    new = matches.is_new_rank
    places = _place(matches.edge_query[new], matches.edge_rank[new])[counted]
    before_query = np.searchsorted(places, _place(query, np.zeros_like(rank)))
    above = np.searchsorted(places, _place(query, rank)) - before_query
    return above.astype(np.float64)


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
