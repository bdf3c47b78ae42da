"""Matching by id where the run is mappings of item to score: each target is looked up there.

Only the scores are flattened, to see where each found one stands among those of its query. More
than twice as quick as a table of them (10,000 queries with 100 results each).
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice, repeat
from typing import Self

import numpy as np
import polars as pl

from calipers.match.tally import RunTally
from calipers.model.arrays import Bools, Floats, Ints, plain_floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Tally
from calipers.model.policy import Ties
from calipers.model.ranking import (
    compared_scores,
    order_within,
    row_by_row,
    with_neighbour,
    within_queries,
)
from calipers.model.run import Scored
from calipers.text import are_texts

_MOST_TIED = 0.05
"""The share of tied results up to which ties are settled one by one."""


def look_up(
    counting: RunTally, scored: Scored, ties: Ties
) -> tuple[tuple[Ints, Ints], Tally] | None:
    """Targets and the ranks that hold them, in the order of the targets, and the counts.

    None where the table is to be matched: nothing was found, or many scores are equal, or an
    error has to be said, or it was matched before.
    """
    truth = counting.ground_truth
    if not truth.is_grouped or (mappings := scored.once()) is None:
        return None
    all_answered = all(mappings.values())
    if not all_answered:
        mappings = {name: scores for name, scores in mappings.items() if scores}
    codes = _codes(truth.names, list(mappings))
    target, n_targets = _targets(truth, codes)
    ids = truth.ids if target is None else [truth.ids[row] for row in target.tolist()]
    flat = _Flat.of(mappings, ids, n_targets)
    if flat is None:
        return None
    scored.keep(flat.names, flat.lengths, flat.items, flat.scores)
    ranked = _Ranked(compared_scores(flat.scores, ties), flat.lengths)
    most = 0 if ties == "error" else _MOST_TIED * ranked.tied.size
    found = np.flatnonzero(~np.isnan(flat.looked_up))
    if not found.size or np.count_nonzero(ranked.tied) > most:
        return None
    segment = np.repeat(np.arange(n_targets.size), n_targets)[found]
    rank, tied = ranked.places(segment, compared_scores(flat.looked_up[found], ties))
    for at in np.flatnonzero(tied).tolist():
        items = flat.items_of(segment[at])
        rank[at] += ranked.before(segment[at], items, ids[found[at]], by_id=ties != "input")
    if target is not None:
        order = np.argsort(target[found])
        found, rank, tied = target[found][order], rank[order], tied[order]
    run = counting.run
    counting.add_looked_up(
        flat.names, codes, flat.lengths, tied=ranked.tied, ranked=lambda: next(run.ranked(ties))
    )
    if not all_answered:
        counting.add_answered(pl.Series("query", flat.names, dtype=pl.String))
    tally = counting.finish(found[tied], copies=(found[:0], rank[:0]), all_answered=all_answered)
    return (found, rank), tally


def _codes(known: list[str], names: list[str]) -> Ints:
    """The place of each name among those that are known, -1 where it is not."""
    if names == known:
        return np.arange(len(names))
    place = dict(zip(known, count(), strict=False))
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _targets(truth: GroundTruth, codes: Ints) -> tuple[Ints | None, Ints]:
    """The targets of some queries, one query after the other, and how many each of these has.

    None: all targets, in their order.
    """
    n_targets = np.bincount(truth.target_query, minlength=truth.n_queries)
    if codes.size == n_targets.size and (codes == np.arange(codes.size)).all():
        return None, n_targets
    first = np.cumsum(n_targets) - n_targets
    n_targets = np.where(codes < 0, 0, n_targets[codes])
    before = np.cumsum(n_targets) - n_targets
    return np.arange(n_targets.sum()) + np.repeat(first[codes] - before, n_targets), n_targets


@dataclass(frozen=True, eq=False)
class _Flat:
    """What stood in the mappings, query after query, and what was looked up in them."""

    names: list[str]
    lengths: Ints
    items: list[str]
    scores: Floats
    looked_up: Floats
    """The score of every id that was asked for, NaN where there is none."""

    @classmethod
    def of(
        cls, mappings: Mapping[str, dict[str, float]], wanted: Iterable[str], n_wanted: Ints
    ) -> Self | None:
        """All of it in one pass; None where anything is no text, or no finite number.

        ``wanted`` are the ids to look up, so many in each of the mappings.
        """
        items: list[str] = []
        numbers: list[float] = []
        found: list[float] = []
        following, nowhere = iter(wanted), repeat(math.nan)
        for scores, n in zip(mappings.values(), n_wanted.tolist(), strict=True):
            items += scores
            numbers += scores.values()
            # Here, while the mapping is at hand: later it would have to be fetched again.
            found += map(scores.get, islice(following, n), nowhere)
        names = list(mappings)
        if not are_texts(names, items):
            return None
        try:
            flat, looked_up = _as_floats(numbers), _as_floats(found)
        except (TypeError, OverflowError, struct.error):
            return None
        if not np.isfinite(flat).all():
            return None
        lengths = np.fromiter(map(len, mappings.values()), dtype=np.int64, count=len(names))
        return cls(names, lengths, items, flat, looked_up)

    def items_of(self, query: int) -> list[str]:
        """The ids of one query's results."""
        start = int(self.lengths[:query].sum())
        return self.items[start : start + int(self.lengths[query])]


def _as_floats(numbers: list[float]) -> Floats:
    """An array of numbers; what cannot be one raises an error."""
    plain = plain_floats(numbers)
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers)) if plain is None else plain


class _Ranked:
    """The scores of each query from high to low."""

    def __init__(self, scores: Floats, lengths: Ints) -> None:
        self._as_given = scores
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        falling = -scores
        if within_queries(falling[1:] < falling[:-1], self._starts).any():
            # Which item stands where is not asked for: to sort the scores alone is quicker.
            sort: Callable[[Floats], Floats] = partial(np.sort, axis=1)
            found = row_by_row(lengths, falling, sort)
            order = order_within(self._starts, lengths, falling) if found is None else None
            falling = falling[order] if found is None else found
        self._ordered = -falling
        self._halvings = int(lengths.max(initial=0)).bit_length()
        again = self._ordered[1:] == self._ordered[:-1]
        self.tied = with_neighbour(within_queries(again, self._starts))
        """By rank: which results share their score with another of their query."""

    def places(self, segment: Ints, score: Floats) -> tuple[Ints, Bools]:
        """The best rank that each of these scores can have, and whether others share it."""
        first, last = self._starts[segment], self._ends[segment] - 1
        for _ in range(self._halvings):
            middle = (first + last) >> 1
            is_behind = self._ordered[middle] > score
            first, last = np.where(is_behind, middle + 1, first), np.where(is_behind, last, middle)
        return first - self._starts[segment] + 1, self.tied[first]

    def before(self, segment: int, items: Sequence[str], item: str, *, by_id: bool) -> int:
        """How many of the same score stand before an item: higher ids, or as they are listed."""
        scores = self._as_given[self._starts[segment] : self._ends[segment]]
        own = items.index(item)
        same: Bools = scores == scores[own]
        if by_id:
            return sum(items[other] > item for other in np.flatnonzero(same).tolist())
        return int(same[:own].sum())
