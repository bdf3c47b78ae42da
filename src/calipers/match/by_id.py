"""Matching by id: at most one edge per returned item, and the fast path."""

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, count, repeat
from typing import Self

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.tally import RunTally, assemble
from calipers.model.arrays import Bools, Floats, Hashes, Ints, as_series, plain_floats
from calipers.model.fingerprint import mixed_hashes
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches, Tally
from calipers.model.policy import Policy, Ties
from calipers.model.ranking import (
    RankedBatch,
    order_within,
    row_by_row,
    with_neighbour,
    within_queries,
)
from calipers.model.run import Run, Scored
from calipers.text import are_texts

_ROWS_PER_JOIN = 1 << 20


def match_by_id(
    ground_truth: GroundTruth,
    run: Run,
    policy: Policy,
    corpus_size: int | None = None,
    *,
    fingerprint: bool = True,
) -> tuple[Matches, Tally]:
    """The matches of a run, with the counts taken on the way, in one pass over the run."""
    counting = RunTally(ground_truth, run, policy.duplicates, fingerprint)
    if isinstance(run.scan, Scored):
        found = look_up(counting, run.scan, policy.ties or run.ties)
        if found is not None:
            (target, rank), tally = found
            return assemble(
                ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size
            ), tally
    targets = _targets(ground_truth)
    sieve = Sieve(targets["query"], targets["item"])
    # A join copies every column; the codes say which query it is.
    targets = targets.drop("query")
    edges: list[pl.DataFrame] = []
    waiting: list[pl.DataFrame] = []

    def looked_over(batch: RankedBatch) -> tuple[RankedBatch, Ints]:
        # Of a file this is done ahead, off the thread that counts.
        _ = batch.suspects, fingerprint and not run.in_memory and batch.fingerprint
        return batch, sieve.passing(batch.hashes)

    for batch, rows in run.over_ranked(looked_over, policy.ties):
        _check_ids(batch.frame)
        codes = counting.add(batch)
        query = batch.query_of(rows)
        # Adding nothing copies the ids: a mere selection keeps all texts of the batch in memory.
        item = batch.frame["item"].gather(as_series(rows)) + ""
        columns: dict[str, Ints | Bools] = {
            "code": codes[query],
            "rank": rows - batch.starts[query] + 1,
            "tied": batch.tied[rows],
        }
        made = {name: as_series(column) for name, column in columns.items()}
        waiting.append(pl.DataFrame({**made, "item": item}))
        # A join costs nearly as much for few rows as for many.
        if sum(frame.height for frame in waiting) > _ROWS_PER_JOIN:
            edges.append(_joined(pl.concat(waiting), targets))
            waiting = []
    if waiting:
        edges.append(_joined(pl.concat(waiting), targets))
    target, rank, tied = _sorted(edges)
    # Copies of a target further down do not count.
    first = np.diff(target, prepend=-1) != 0
    tally = counting.finish(
        tied_targets=target[first & tied], copies=(target[~first], rank[~first])
    )
    target = target[first]
    rank = rank[first]
    return assemble(
        ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size
    ), tally


def _targets(ground_truth: GroundTruth) -> pl.DataFrame:
    """The targets that have an id, with their rows, sorted by the codes of their queries."""
    code = ground_truth.target_query
    query = ground_truth.targets["query"]
    item = ground_truth.targets["item"]
    rows = as_series(np.arange(code.size))
    targets = pl.DataFrame(
        {"query": query, "item": item, "code": as_series(code), "target": rows}
    )
    if item.null_count():
        targets = targets.drop_nulls("item")
    return (
        targets
        if (code[1:] >= code[:-1]).all()
        else targets.sort("code", maintain_order=True)
    )


def _joined(rows: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    edges = rows.join(targets, on=["code", "item"], how="inner")
    return edges.select("target", "rank", "tied")


def _sorted(found: list[pl.DataFrame]) -> tuple[Ints, Ints, Bools]:
    """Target, rank and whether it was tied, by target and from the best rank down."""
    edges = (
        pl.concat(found)
        if found
        else pl.DataFrame({"target": [], "rank": [], "tied": []})
    )
    target = _ints(edges["target"])
    rank = _ints(edges["rank"])
    # Nearly sorted, as queries come in the order of the ground truth: this sort is fast on such.
    order = np.argsort((target << 32) + rank, kind="stable")
    return target[order], rank[order], edges["tied"].to_numpy().astype(np.bool_)[order]


def _ints(column: pl.Series) -> Ints:
    return column.to_numpy().astype(np.int64)


def _check_ids(frame: pl.DataFrame) -> None:
    if "item" not in frame.columns or frame["item"].null_count():
        raise InvalidInput(
            "A result has no id, and the ground truth is given by ids; give every result an id "
            "under 'id' (or 'item' in a table)."
        )


_PLACES_PER_TARGET = 32
_FEWEST_BITS = 12
_MOST_BITS = 27


class Sieve:
    """A hash filter that drops rows of a run that match no target, so that few are joined.

    Rows that pass may be false positives and are compared in full afterwards; dropped rows
    are certain. A file of seven million results takes one and a half times as long without it.
    """

    def __init__(self, query: pl.Series, item: pl.Series) -> None:
        wanted = (len(item) * _PLACES_PER_TARGET).bit_length()
        bits = min(max(wanted, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._marked = np.zeros(1 << bits, dtype=np.bool_)
        hashes = mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy())
        self._marked[(hashes >> self._shift).view(np.int64)] = True

    def passing(self, hashes: Hashes) -> Ints:
        """The rows that may match a target."""
        return np.flatnonzero(self._marked[(hashes >> self._shift).view(np.int64)])


_MOST_TIED = 0.05
"""The share of tied results up to which ties are settled one by one."""


def look_up(
    counting: RunTally, scored: Scored, ties: Ties
) -> tuple[tuple[Ints, Ints], Tally] | None:
    """Targets and the ranks that hold them, in the order of the targets, and the counts.

    The run is mappings of item to score: each target is looked up there, and only the scores are
    flattened, to find their ranks. A whole evaluation takes half the time of one that
    builds a table of them; `bench memory` has a row for it.

    None where the table must be matched instead: nothing was found, many scores are equal, an
    error has to be reported, or it was matched before.
    """
    truth = counting.ground_truth
    if not truth.is_grouped or (mappings := scored.once()) is None:
        return None
    all_answered = all(mappings.values())
    if not all_answered:
        mappings = {name: scores for name, scores in mappings.items() if scores}
    codes = _codes(truth.names, list(mappings))
    target, n_targets = _targets_of(truth, codes)
    ids = truth.ids if target is None else [truth.ids[row] for row in target.tolist()]
    flat = _Flat.of(mappings, ids, n_targets)
    if flat is None:
        return None
    scored.keep(flat.names, flat.lengths, flat.items, flat.scores)
    ranked = _Ranked(flat.scores, flat.lengths)
    most = 0 if ties == "error" else _MOST_TIED * ranked.tied.size
    found = np.flatnonzero(~np.isnan(flat.looked_up))
    if not found.size or np.count_nonzero(ranked.tied) > most:
        return None
    segment = np.repeat(np.arange(n_targets.size), n_targets)[found]
    rank, tied = ranked.places(segment, flat.looked_up[found])
    for at in np.flatnonzero(tied).tolist():
        items = flat.items_of(segment[at])
        rank[at] += ranked.before(
            segment[at], items, ids[found[at]], by_id=ties != "input"
        )
    if target is not None:
        order = np.argsort(target[found])
        found = target[found][order]
        rank = rank[order]
        tied = tied[order]
    run = counting.run
    counting.add_looked_up(
        flat.names,
        codes,
        flat.lengths,
        tied=ranked.tied,
        ranked=lambda: next(run.ranked(ties)),
    )
    if not all_answered:
        counting.add_answered(pl.Series("query", flat.names, dtype=pl.String))
    tally = counting.finish(
        found[tied], copies=(found[:0], rank[:0]), all_answered=all_answered
    )
    return (found, rank), tally


def _codes(known: list[str], names: list[str]) -> Ints:
    """The index of each name among the known ones, -1 where it is unknown."""
    if names == known:
        return np.arange(len(names))
    place = dict(zip(known, count(), strict=False))
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _targets_of(truth: GroundTruth, codes: Ints) -> tuple[Ints | None, Ints]:
    """The targets of these queries, query by query, and how many each has.

    None: all targets, in their order.
    """
    n_targets = np.bincount(truth.target_query, minlength=truth.n_queries)
    if codes.size == n_targets.size and (codes == np.arange(codes.size)).all():
        return None, n_targets
    first = np.cumsum(n_targets) - n_targets
    n_targets = np.where(codes < 0, 0, n_targets[codes])
    before = np.cumsum(n_targets) - n_targets
    return np.arange(n_targets.sum()) + np.repeat(
        first[codes] - before, n_targets
    ), n_targets


@dataclass(frozen=True, eq=False)
class _Flat:
    """The contents of the mappings, query by query, and what was looked up in them."""

    names: list[str]
    lengths: Ints
    items: list[str]
    scores: Floats
    looked_up: Floats
    """The score of every id that was asked for, NaN where there is none."""

    @classmethod
    def of(
        cls,
        mappings: Mapping[str, dict[str, float]],
        wanted: Iterable[str],
        n_wanted: Ints,
    ) -> Self | None:
        """Flatten in one pass; None where an id is no text or a score no finite number.

        ``wanted`` are the ids to look up, with their number in each mapping.
        """
        items: list[str] = []
        numbers: list[float] = []
        for scores in mappings.values():
            items += scores
            numbers += scores.values()
        # One call for all of them: most queries have few, and a call for each takes longer.
        asked = chain.from_iterable(map(repeat, mappings.values(), n_wanted.tolist()))
        found = list(map(dict.get, asked, wanted, repeat(math.nan)))
        names = list(mappings)
        if not are_texts(names, items):
            return None
        try:
            flat = _as_floats(numbers)
            looked_up = _as_floats(found)
        except (TypeError, OverflowError, struct.error):
            return None
        if not np.isfinite(flat).all():
            return None
        lengths = np.fromiter(
            map(len, mappings.values()), dtype=np.int64, count=len(names)
        )
        return cls(names, lengths, items, flat, looked_up)

    def items_of(self, query: int) -> list[str]:
        """The ids of one query's results."""
        start = int(self.lengths[:query].sum())
        return self.items[start : start + int(self.lengths[query])]


def _as_floats(numbers: list[float]) -> Floats:
    """An array of numbers; anything else raises an error."""
    plain = plain_floats(numbers)
    return (
        np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers))
        if plain is None
        else plain
    )


class _Ranked:
    """The scores of each query from high to low."""

    def __init__(self, scores: Floats, lengths: Ints) -> None:
        self._as_given = scores
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        falling = -scores
        if within_queries(falling[1:] < falling[:-1], self._starts).any():
            # The ranks of other items are not needed: sorting the scores alone is faster.
            sort: Callable[[Floats], Floats] = partial(np.sort, axis=1)
            found = row_by_row(lengths, falling, sort)
            order = (
                order_within(self._starts, lengths, falling) if found is None else None
            )
            falling = falling[order] if found is None else found
        self._ordered = -falling
        self._halvings = int(lengths.max(initial=0)).bit_length()
        again = self._ordered[1:] == self._ordered[:-1]
        self.tied = with_neighbour(within_queries(again, self._starts))
        """By rank: which results share their score with another of their query."""

    def places(self, segment: Ints, score: Floats) -> tuple[Ints, Bools]:
        """The best rank that each of these scores can have, and whether it is tied."""
        first = self._starts[segment]
        last = self._ends[segment] - 1
        for _ in range(self._halvings):
            middle = (first + last) >> 1
            is_behind = self._ordered[middle] > score
            first = np.where(is_behind, middle + 1, first)
            last = np.where(is_behind, last, middle)
        return first - self._starts[segment] + 1, self.tied[first]

    def before(
        self, segment: int, items: Sequence[str], item: str, *, by_id: bool
    ) -> int:
        """How many items of the same score precede an item: by higher id, or as listed."""
        scores = self._as_given[self._starts[segment] : self._ends[segment]]
        own = items.index(item)
        same: Bools = scores == scores[own]
        if by_id:
            return sum(items[other] > item for other in np.flatnonzero(same).tolist())
        return int(same[:own].sum())
