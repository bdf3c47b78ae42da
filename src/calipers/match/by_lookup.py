"""Matching by id where the run is mappings of item to score: each target is looked up there.

Only the scores are flattened, to see where each found one stands among those of its query.
"""

import math
from collections.abc import Sequence
from itertools import count, repeat

import numpy as np
import polars as pl

from calipers.match.tally import RunTally
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Tally
from calipers.model.policy import Ties
from calipers.model.ranking import compared_scores, order_within, with_neighbour, within_queries
from calipers.model.run import Scored

_MOST_TIED = 0.05
"""The share of tied results up to which ties are settled one by one."""


def look_up(
    counting: RunTally, scored: Scored, ties: Ties
) -> tuple[tuple[Ints, Ints], Tally] | None:
    """Targets and the ranks that hold them, in the order of the targets, and the counts.

    None where the table is to be matched: nothing was found, or many scores are equal, or an
    error has to be said, or it was matched before.
    """
    truth, mappings = counting.ground_truth, scored.once()
    if mappings is None:
        return None
    names = [name for name, items in mappings.items() if items]
    groups = [items for items in mappings.values() if items]
    place = dict(zip(names, count(), strict=False))
    asked = np.array([place.get(name, -1) for name in truth.queries["query"].to_list()])
    of_target, wanted = asked[truth.target_query], truth.targets["item"].to_list()
    # No item stands under the number -1.
    groups.append({})
    theirs = map(groups.__getitem__, of_target.tolist())
    scores = np.array(list(map(dict.get, theirs, wanted, repeat(math.nan))), dtype=np.float64)
    target = np.flatnonzero(~np.isnan(scores))
    lengths = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))[:-1]
    ranked = _Ranked(compared_scores(scored.scores, ties), lengths)
    most = 0 if ties == "error" else _MOST_TIED * ranked.tied.size
    if not target.size or np.count_nonzero(ranked.tied) > most:
        return None
    segment = of_target[target]
    rank, tied = ranked.places(segment, compared_scores(scores[target], ties))
    for at in np.flatnonzero(tied).tolist():
        items = list(groups[segment[at]])
        rank[at] += ranked.before(segment[at], items, wanted[target[at]], by_id=ties != "input")
    run, named = counting.run, pl.Series("query", names)
    counting.add_looked_up(named, lengths, ranked.tied, lambda: next(run.ranked(ties)))
    tally = counting.finish(tied_targets=target[tied], copies=(target[:0], rank[:0]))
    return (target, rank), tally


class _Ranked:
    """The scores of each query from high to low."""

    def __init__(self, scores: Floats, lengths: Ints) -> None:
        self._as_given = scores
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        order = order_within(self._starts, lengths, -scores)
        ordered = scores if order is None else scores[order]
        # Complex numbers are sorted by their real parts first: query, then falling score.
        self._keys = np.empty(scores.size, dtype=np.complex128)
        self._keys.real = np.repeat(np.arange(lengths.size), lengths)
        self._keys.imag = -ordered
        self.tied = with_neighbour(within_queries(ordered[1:] == ordered[:-1], self._starts))
        """By rank: which results share their score with another of their query."""

    def places(self, segment: Ints, score: Floats) -> tuple[Ints, Bools]:
        """The best rank that each of these scores can have, and whether others share it."""
        wanted = np.empty(score.size, dtype=np.complex128)
        wanted.real, wanted.imag = segment, -score
        row = np.searchsorted(self._keys, wanted)
        return row - self._starts[segment] + 1, self.tied[row]

    def before(self, segment: int, items: Sequence[str], item: str, *, by_id: bool) -> int:
        """How many of the same score stand before an item: higher ids, or as they are listed."""
        scores = self._as_given[self._starts[segment] : self._ends[segment]]
        own = items.index(item)
        same: Bools = scores == scores[own]
        if by_id:
            return sum(items[other] > item for other in np.flatnonzero(same).tolist())
        return int(same[:own].sum())
