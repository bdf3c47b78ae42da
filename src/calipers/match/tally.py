"""Counts that are taken in one pass over a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats, Hashes, Ints, as_series
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import (
    ANSWERED,
    EMPTY,
    EXAMPLES,
    FAILED,
    MISSING,
    STATUSES,
    Matches,
    Statuses,
    Tally,
    with_status,
)
from calipers.model.policy import Duplicates
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run


@dataclass(eq=False)
class RunTally:
    """Counts batches of a run; ``finish`` gives the tally."""

    ground_truth: GroundTruth
    run: Run
    on_duplicates: Duplicates
    fingerprint: bool = True
    """Whether to compute the run's fingerprint: it takes a tenth of the time."""
    _retrieved: list[tuple[Ints, Ints]] = field(default_factory=list)
    _fingerprint: RankingFingerprint = field(default_factory=RankingFingerprint)
    _unknown: int = 0
    _unknown_examples: list[str] = field(default_factory=list)
    _duplicates: int = 0
    _ties: int = 0
    _with_results: list[pl.Series] = field(default_factory=list)
    _sample_queries: list[str] = field(default_factory=list)

    @cached_property
    def _places(self) -> "QueryPlaces":
        return QueryPlaces(self.ground_truth.queries["query"])

    def add(self, batch: RankedBatch) -> Ints:
        """Count one batch; returns the code of each of its queries, -1 where unknown."""
        if self.fingerprint and not self.run.in_memory:
            self._fingerprint.merge(batch.fingerprint)
        codes = self._places.following(batch.queries)
        if self.run.queries is not None:
            self.add_answered(batch.queries)
        self.add_looked_up(
            batch.queries, codes, batch.lengths, tied=batch.tied, ranked=lambda: batch
        )
        self._count_duplicates(batch, codes >= 0)
        return codes

    def add_answered(self, queries: pl.Series) -> None:
        """Remember that these queries have results, as others of the run may have none."""
        # Adding nothing copies them: a mere selection keeps all names of the batch in memory.
        self._with_results.append(queries if self.run.in_memory else queries + "")

    def add_looked_up(
        self,
        queries: Sequence[str] | pl.Series,
        codes: Ints,
        lengths: Ints,
        *,
        tied: Bools,
        ranked: Callable[[], RankedBatch],
    ) -> None:
        """As ``add``, for results without duplicates that are not ranked yet.

        ``tied`` is by rank; ``ranked`` returns the ranked results, and is called once the
        fingerprint is needed.
        """
        if self.fingerprint and self.run.in_memory:
            self._fingerprint.add_later(lambda: _ranking(ranked()))
        known = codes >= 0
        if len(self._sample_queries) < EXAMPLES:
            self._sample_queries += list(queries[:EXAMPLES])
        if not known.all():
            tied = tied & np.repeat(known, lengths)
            strangers = np.flatnonzero(~known)
            self._unknown += strangers.size
            if len(self._unknown_examples) < EXAMPLES:
                self._unknown_examples += [
                    queries[at] for at in strangers[:EXAMPLES].tolist()
                ]
            codes = codes[known]
            lengths = lengths[known]
        self._retrieved.append((codes, lengths))
        self._ties += int(np.count_nonzero(tied))

    def finish(
        self,
        tied_targets: Ints,
        copies: tuple[Ints, Ints] | None = None,
        *,
        all_answered: bool = False,
    ) -> Tally:
        """The tally, once every batch was added.

        ``copies`` are targets that were returned again, and their ranks.
        ``all_answered``: every query of the run is known to have results.
        """
        run = self.run
        n = self.ground_truth.n_queries
        retrieved = np.zeros(n, dtype=np.int64)
        status = np.full(n, STATUSES.index(MISSING), dtype=np.uint8)
        for codes, lengths in self._retrieved:
            retrieved[codes] = lengths
        queries = None if all_answered else run.queries
        if queries is not None and not self._all_answered(queries["query"]):
            codes = self._places.of(queries["query"])
            known = codes >= 0
            status[codes[known]] = STATUSES.index(EMPTY)
            self._note_silent_unknown(queries["query"], known)
            silent = ~queries["query"].is_in(self._named_results().implode())
            self._fingerprint.add_without_results(queries["query"].filter(silent), EMPTY)
        status[retrieved > 0] = STATUSES.index(ANSWERED)
        examples: tuple[str, ...] = ()
        if queries is not None and "error" in queries.columns:
            raised = queries.filter(pl.col("error").is_not_null())
            names = raised["query"]
            self._fingerprint.add_without_results(names, FAILED)
            failed = self._places.of(names)
            status[failed[failed >= 0]] = STATUSES.index(FAILED)
            retrieved[failed[failed >= 0]] = 0
            examples = self._error_examples(raised.filter(as_series(failed >= 0)))
        return Tally(
            retrieved,
            status,
            self._unknown,
            tuple(dict.fromkeys(self._unknown_examples))[:EXAMPLES],
            self._duplicates,
            self._ties,
            self._fingerprint if self.fingerprint else None,
            tuple(self._sample_queries[:EXAMPLES]),
            tied_targets,
            self._copy_ranks(copies, status),
            examples,
        )

    def _error_examples(self, raised: pl.DataFrame) -> tuple[str, ...]:
        """The first by name, so that parts of a run have the same ones whatever their order."""
        some = raised.select("query", "error").sort("query").head(EXAMPLES)
        asked = self.ground_truth.queries.filter(
            pl.col("query").is_in(some["query"].implode())
        )
        texts = dict(asked.select("query", "text").rows()) if some.height else {}
        named = {
            query: f"{query}: {text}"
            for query, text in texts.items()
            if text not in (None, query)
        }
        return tuple(
            f"{named.get(query, query)} ({error})" for query, error in some.rows()
        )

    def _all_answered(self, asked: pl.Series) -> bool:
        """Whether results came for every query of the run, in their order, as they mostly do."""
        return asked.equals(self._named_results())

    def _named_results(self) -> pl.Series:
        nothing = pl.Series("query", [], dtype=pl.String)
        return pl.concat(self._with_results) if self._with_results else nothing

    def _copy_ranks(self, copies: tuple[Ints, Ints] | None, status: Statuses) -> Ints:
        if copies is None:
            return np.empty(0, dtype=np.int64)
        target, rank = copies
        return rank[~with_status(status[self.ground_truth.target_query[target]], FAILED)]

    def _note_silent_unknown(self, names: pl.Series, known: np.ndarray) -> None:
        """Count unknown queries without results, which are in no batch."""
        silent = names.filter(as_series(~known))
        extra = max(0, len(silent) - self._unknown)
        if extra:
            self._unknown += extra
            self._unknown_examples += silent.head(EXAMPLES).to_list()

    def _count_duplicates(self, batch: RankedBatch, known: np.ndarray) -> None:
        rows = batch.suspects
        if not rows.size:
            return
        segment = batch.query_of(rows)
        items = batch.identity.gather(as_series(rows))
        pairs = pl.DataFrame({"segment": as_series(segment), "item": items})
        pairs = pairs.filter(as_series(known[segment]) & pl.col("item").is_not_null())
        again = ~pairs.select(
            pl.struct("segment", "item").is_first_distinct()
        ).to_series()
        if again.any() and self.on_duplicates == "error":
            row = pairs.row(int(again.arg_true()[0]))
            raise InvalidInput(
                f"The item {row[1]!r} is returned twice for query {batch.queries[row[0]]!r}; with "
                "duplicates=error an item may be returned once (duplicates=first counts the first)."
            )
        self._duplicates += int(again.sum())


def _ranking(batch: RankedBatch) -> tuple[pl.Series, pl.Series, Ints]:
    return batch.queries, batch.identity, batch.starts


class QueryPlaces:
    """The indexes of queries in a ground truth, fast if asked for in its order."""

    def __init__(self, names: pl.Series) -> None:
        self._names = names
        self._next = 0

    def following(self, queries: pl.Series) -> Ints:
        """The indexes of queries, -1 where unknown; they mostly continue after the last ones."""
        first = self._next
        behind = self._next + len(queries)
        if not self._names[first:behind].equals(queries):
            return self.of(queries)
        self._next = behind
        return np.arange(first, behind)

    @cached_property
    def _sorted(self) -> tuple[Hashes, Ints]:
        hashes = self._names.hash().to_numpy()
        order = np.argsort(hashes)
        return hashes[order], order

    def of(self, names: pl.Series) -> Ints:
        """The same for queries in any order."""
        hashes, order = self._sorted
        if not hashes.size:
            return np.full(len(names), -1, dtype=np.int64)
        wanted = names.hash().to_numpy()
        at = np.minimum(np.searchsorted(hashes, wanted), hashes.size - 1)
        same = self._names[as_series(order[at])].eq_missing(names).to_numpy()
        found = np.where(same, order[at], -1)
        # Two names with one hash are very rare.
        for row in np.flatnonzero((hashes[at] == wanted) & ~same).tolist():
            found[row] = next(iter((self._names == names[row]).arg_true()), -1)
        return found


def assemble(
    ground_truth: GroundTruth,
    tally: Tally,
    *,
    rank: Ints,
    target: Ints,
    overlap: Floats | None = None,
    corpus_size: int | None = None,
) -> Matches:
    """Matches from edges that name targets by their row in the ground truth."""
    query_of = ground_truth.target_query
    order: Ints | slice = slice(None)
    place = np.arange(query_of.size)
    if (query_of[1:] < query_of[:-1]).any():
        order = np.argsort(query_of, kind="stable")
        place[order] = np.arange(query_of.size)

    failed = with_status(tally.status, FAILED)
    kept = ~failed[query_of[target]]
    rank = rank[kept]
    target = target[kept]
    overlap = np.ones(rank.size) if overlap is None else overlap[kept]
    edge_order = _by_rank(query_of[target], rank, place[target])
    same_item = _same_items(ground_truth)
    return Matches(
        query_rows=lambda: ground_truth.queries,
        status=tally.status,
        target_query=query_of[order],
        target_grade=ground_truth.grades[order],
        target_unit=_units(ground_truth)[order],
        edge_query=query_of[target][edge_order],
        edge_rank=rank[edge_order],
        edge_target=place[target][edge_order],
        edge_overlap=overlap[edge_order],
        retrieved=tally.retrieved,
        corpus_size=corpus_size,
        target_item=None if same_item is None else same_item[order],
    )


def _by_rank(query: Ints, rank: Ints, place: Ints) -> Ints:
    """The order of edges by query, rank and the place of their target."""
    if (place[1:] < place[:-1]).any():
        return np.lexsort((place, rank, query))
    # They come by place, and so nearly by query: one sort instead of three.
    return np.argsort((query << 32) + rank, kind="stable")


def _units(ground_truth: GroundTruth) -> Ints:
    """One number per target: its row, or the first row of its alternatives (query and group)."""
    alone = np.arange(ground_truth.grades.size)
    if not ground_truth.has_groups:
        return alone
    targets = ground_truth.targets.select("query", "group").with_row_index("row")
    first = targets.select(pl.col("row").min().over("query", "group"))["row"].to_numpy()
    return np.where(targets["group"].is_null().to_numpy(), alone, first.astype(np.int64))


def _same_items(ground_truth: GroundTruth) -> Ints | None:
    """One number per target, shared by those with the same id; only groups can repeat an id.

    The numbers rise with the ids, byte by byte, so that no value depends on the order of rows.
    """
    if not ground_truth.has_groups:
        return None
    # A target without an id is identified by its text or its span.
    other = [
        pl.when(pl.col("item").is_null()).then(name).alias(name) for name in _BESIDE_ID
    ]
    known = ground_truth.targets.select(
        pl.struct("item", *other).rank("dense").cast(pl.Int64)
    )
    return known.to_series().to_numpy()


_BESIDE_ID = ("quote", "document", "start", "end")
