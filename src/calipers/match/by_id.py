"""Matching by id: at most one edge per returned item, and the fast path."""

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.match.tally import RunTally, assemble
from calipers.model.arrays import Bools, Hashes, Ints, as_series
from calipers.model.fingerprint import mixed_hashes
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches, Tally
from calipers.model.policy import Policy
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run, Scored
from calipers.prefetch import ahead

_ROWS_PER_JOIN = 1 << 20
_TARGETS_PER_ROW = 8
"""So many targets may stand against a row in a join of its own."""


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
        from calipers.match.by_lookup import look_up

        found = look_up(counting, run.scan, policy.ties or run.ties)
        if found is not None:
            (target, rank), tally = found
            return assemble(
                ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size
            ), tally
    targets = _targets(ground_truth)
    sieve = Sieve(targets["query"], targets["item"])
    edges_of = _Join(targets.drop("query"))

    def looked_over(batch: RankedBatch) -> tuple[RankedBatch, Ints]:
        # What takes longest, off the thread that counts.
        _ = batch.suspects, fingerprint and not run.in_memory and batch.fingerprint
        return batch, sieve.passing(batch.hashes)

    batches = run.ranked(policy.ties)
    for batch, rows in map(looked_over, batches) if run.in_memory else ahead(looked_over, batches):
        _check_ids(batch.frame)
        codes, query = counting.add(batch), batch.query_of(rows)
        # Adding nothing copies the ids: a mere selection keeps all texts of the batch in memory.
        item = batch.frame["item"].gather(as_series(rows)) + ""
        columns: dict[str, Ints | Bools] = {
            "code": codes[query],
            "rank": rows - batch.starts[query] + 1,
            "tied": batch.tied[rows],
        }
        made = {name: as_series(column) for name, column in columns.items()}
        edges_of.add(pl.DataFrame({**made, "item": item}))
    target, rank, tied = _sorted(edges_of.finish())
    # The copies of a target further down earn nothing.
    first = np.diff(target, prepend=-1) != 0
    tally = counting.finish(
        tied_targets=target[first & tied], copies=(target[~first], rank[~first])
    )
    target, rank = target[first], rank[first]
    if not target.size:
        from calipers.match.no_common_ids import check_in_common

        n, some = int(tally.retrieved.sum()), tally.sample_queries
        check_in_common("id", ground_truth, run, policy, n, some)
    return assemble(ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size), tally


def _targets(ground_truth: GroundTruth) -> pl.DataFrame:
    """The targets that have an id, with their rows, sorted by the codes of their queries."""
    code = ground_truth.target_query
    query, item = ground_truth.targets["query"], ground_truth.targets["item"]
    rows = as_series(np.arange(code.size))
    targets = pl.DataFrame({"query": query, "item": item, "code": as_series(code), "target": rows})
    if item.null_count():
        targets = targets.drop_nulls("item")
    return targets if (code[1:] >= code[:-1]).all() else targets.sort("code", maintain_order=True)


class _Join:
    """Finds the targets of rows that come in pieces."""

    def __init__(self, targets: pl.DataFrame) -> None:
        self._targets = targets
        self._codes = _ints(targets["code"])
        self._found: list[pl.DataFrame] = []
        self._waiting: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        if not rows.height:
            return
        codes = rows["code"].to_numpy()
        first = np.searchsorted(self._codes, codes.min())
        behind = np.searchsorted(self._codes, codes.max(), side="right")
        if behind - first <= _TARGETS_PER_ROW * rows.height:
            # Queries come in the order of the ground truth: few targets can be meant.
            self._found.append(_joined(rows, self._targets[first:behind]))
            return
        # Else a join costs nearly as much for few rows as for many, so rows are collected.
        self._waiting.append(rows)
        if sum(frame.height for frame in self._waiting) > _ROWS_PER_JOIN:
            self._join_waiting()

    def finish(self) -> list[pl.DataFrame]:
        self._join_waiting()
        return self._found

    def _join_waiting(self) -> None:
        if self._waiting:
            self._found.append(_joined(pl.concat(self._waiting), self._targets))
            self._waiting = []


def _joined(rows: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    edges = rows.join(targets, on=["code", "item"], how="inner")
    return edges.select("target", "rank", "tied")


def _sorted(found: list[pl.DataFrame]) -> tuple[Ints, Ints, Bools]:
    """Target, rank and whether it was tied, by target and from the best rank down."""
    edges = pl.concat(found) if found else pl.DataFrame({"target": [], "rank": [], "tied": []})
    target, rank = _ints(edges["target"]), _ints(edges["rank"])
    # Nearly sorted, as queries come in the order of the ground truth, which this sort sees.
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
_FEWEST_BITS, _MOST_BITS = 12, 27


class Sieve:
    """Holds back rows of a run that belong to no target, by hashes, so that few are joined.

    What passes may still be wrong, and is compared in full afterwards; what is held back is
    certain. A file of seven million results takes one and a half times as long without it.
    """

    def __init__(self, query: pl.Series, item: pl.Series) -> None:
        wanted = (len(item) * _PLACES_PER_TARGET).bit_length()
        bits = min(max(wanted, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._marked = np.zeros(1 << bits, dtype=np.bool_)
        hashes = mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy())
        self._marked[(hashes >> self._shift).view(np.int64)] = True

    def passing(self, hashes: Hashes) -> Ints:
        """The rows that may belong to a target."""
        return np.flatnonzero(self._marked[(hashes >> self._shift).view(np.int64)])
