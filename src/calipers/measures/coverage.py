"""What the chunks hold: how much of the ground truth, how much else, and how many tokens."""

from typing import Self

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures.define import metric
from calipers.measures.views import per_query, ratio, within
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import FAILED, MISSING, Matches, TokenTable


@dataclass(frozen=True, eq=False)
class Coverage:
    """Chunks and relevant targets as intervals on one line; overlaps count once."""

    chunk_query: Ints
    chunk_rank: Ints
    chunk_start: Ints
    chunk_end: Ints
    target_query: Ints
    target_unit: Ints
    target_start: Ints
    target_end: Ints
    n_queries: int

    @classmethod
    def of(cls, matches: Matches, rel: float | None = None) -> Self:
        """The view in which targets from grade ``rel`` on are relevant (default: above 0)."""
        spans = matches.spans
        if spans is None:
            raise InvalidInput(
                "span_recall@k, span_precision@k and iou@k count characters, and the "
                "targets were not matched by span; give document, start and end on both "
                "sides and match with --match span (match='span' in Python), at the "
                "level of evidence or chunk."
            )
        relevant = matches.relevant(rel)
        # Where the retriever failed nothing counts as retrieved, even if some results
        # came.
        shown = spans.chunk_rank <= matches.retrieved[spans.chunk_query]
        return cls(
            spans.chunk_query[shown],
            spans.chunk_rank[shown],
            spans.chunk_start[shown],
            spans.chunk_end[shown],
            matches.target_query[relevant],
            matches.target_unit[relevant],
            spans.target_start[relevant],
            spans.target_end[relevant],
            matches.n_queries,
        )

    def shown(self, k: int) -> "Union":
        """The characters of the first k chunks."""
        keep = within(self.chunk_rank, k)
        return Union.of(
            self.chunk_query[keep], self.chunk_start[keep], self.chunk_end[keep]
        )

    def wanted(self, shown: "Union") -> "Union":
        """The characters of the targets; of alternatives, those of the one covered best."""
        best = self._best_alternatives(shown)
        return Union.of(
            self.target_query[best], self.target_start[best], self.target_end[best]
        )

    def all_wanted(self) -> "Union":
        """The characters of all targets, each alternative included."""
        return Union.of(self.target_query, self.target_start, self.target_end)

    def _best_alternatives(self, shown: "Union") -> Bools:
        covered = shown.within(self.target_start, self.target_end)
        share = covered / (self.target_end - self.target_start)
        order = np.lexsort((np.arange(share.size), -share, self.target_unit))
        first = np.ones(share.size, dtype=np.bool_)
        first[1:] = np.diff(self.target_unit[order]) != 0
        best = np.zeros(share.size, dtype=np.bool_)
        best[order[first]] = True
        return best


@dataclass(frozen=True, eq=False)
class Union:
    """Intervals that do not overlap, in order."""

    query: Ints
    start: Ints
    end: Ints

    @classmethod
    def of(cls, query: Ints, start: Ints, end: Ints) -> Self:
        """The union of intervals; those of different queries never overlap."""
        order = np.argsort(start, kind="stable")
        query = query[order]
        start = start[order]
        end = end[order]
        reach = np.maximum.accumulate(end)
        new = np.ones(start.size, dtype=np.bool_)
        new[1:] = start[1:] > reach[:-1]
        begins = np.flatnonzero(new)
        ends = reach[np.append(begins[1:], start.size) - 1] if start.size else reach
        return cls(query[new], start[new], ends)

    def size(self, n_queries: int) -> Floats:
        """How many characters it has, per query."""
        return per_query(
            self.query, n_queries, (self.end - self.start).astype(np.float64)
        )

    def within(self, start: Ints, end: Ints) -> Ints:
        """How many of its characters lie in each of the given intervals."""
        return self._before(end) - self._before(start)

    def shared(self, other: "Union", n_queries: int) -> Floats:
        """How many characters it has in common with another union, per query."""
        common = self.within(other.start, other.end).astype(np.float64)
        return per_query(other.query, n_queries, common)

    def _before(self, place: Ints) -> Ints:
        """How many of its characters lie before each place."""
        lengths = np.concatenate(([0], np.cumsum(self.end - self.start)))
        at = np.searchsorted(self.start, place, side="right")
        # The last interval that starts before the place may reach beyond it.
        beyond = np.zeros_like(place)
        some = at > 0
        beyond[some] = np.maximum(0, self.end[at[some] - 1] - place[some])
        result: Ints = lengths[at] - beyond
        return result


@metric(better="higher")
def span_recall(coverage: Coverage, k: int) -> Floats:
    """The share of the characters of the ground truth that the first k chunks show.

    Characters shown by two overlapping chunks count once. Where there are alternatives,
    the one that is covered best counts.
    """
    shown = coverage.shown(k)
    wanted = coverage.wanted(shown)
    return ratio(
        shown.shared(wanted, coverage.n_queries), wanted.size(coverage.n_queries)
    )


@metric(better="higher")
def span_precision(coverage: Coverage, k: int) -> Floats:
    """The share of the characters that the first k chunks show which are ground truth.

    Characters shown by two overlapping chunks count once; 0 where nothing came back.
    """
    shown = coverage.shown(k)
    shared = shown.shared(coverage.all_wanted(), coverage.n_queries)
    return ratio(shared, shown.size(coverage.n_queries), where_zero=0.0)


@metric(better="higher")
def iou(coverage: Coverage, k: int) -> Floats:
    """Characters both in the ground truth and in the first k chunks, over those in either.

    Low for chunks much longer than the evidence, even if they show all of it.
    """
    shown = coverage.shown(k)
    wanted = coverage.wanted(shown)
    n = coverage.n_queries
    shared = shown.shared(wanted, n)
    return ratio(shared, shown.size(n) + wanted.size(n) - shared)


@dataclass(frozen=True, eq=False)
class Reading:
    """The tokens of the results of every query."""

    tokens: TokenTable
    unanswered: Bools
    """The queries that no retriever answered: they cost nothing, which is no merit."""

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over the tokens given with the results, or estimated from their texts."""
        tokens = matches.tokens
        if tokens is None:
            raise InvalidInput(
                "tokens@k counts the tokens of the results, and no result has any, nor a "
                "text; give every result 'tokens' or 'text'."
            )
        unanswered = matches.having_status(FAILED) | matches.having_status(MISSING)
        return cls(tokens, unanswered)


@metric(better="lower", bounds=(0, None), without_targets="defined")
def tokens(reading: Reading, k: int) -> Floats:
    """The tokens of the first k results.

    As given with the results, or else estimated as characters / 4, which is said.
    Undefined for a query with a result in the first k of which nothing is known, and
    where the retriever failed.
    """
    return np.where(reading.unanswered, np.nan, reading.tokens.of_first(k))
