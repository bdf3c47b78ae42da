"""Matching by id: at most one edge per returned item, and the fast path."""

import numpy as np
import polars as pl

from calipers.ahead import ahead
from calipers.errors import InvalidInput
from calipers.match.assemble import assemble
from calipers.match.no_common_ids import check_common_ids
from calipers.match.sieve import Sieve
from calipers.match.tally import RunTally
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.ranking import NotGroupedError
from calipers.model.run import Run
from calipers.model.tally import Tally

_ROWS_PER_JOIN = 1 << 20


def match_by_id(
    ground_truth: GroundTruth, run: Run, policy: Policy, corpus_size: int | None = None
) -> tuple[Matches, Tally]:
    """The matches of a run, with the counts taken on the way, in one pass over the run."""
    try:
        return _match(ground_truth, run, policy, corpus_size)
    except NotGroupedError:
        return _match(ground_truth, run.grouped(), policy, corpus_size)


def _match(
    ground_truth: GroundTruth, run: Run, policy: Policy, corpus_size: int | None
) -> tuple[Matches, Tally]:
    targets = (
        ground_truth.targets.select("query", "item", code=pl.Series(ground_truth.target_query))
        .with_row_index("target")
        .drop_nulls("item")
    )
    sieve = Sieve(targets["query"], targets["item"])
    counting = RunTally(ground_truth, policy.duplicates)
    found: list[pl.DataFrame] = []
    waiting: list[pl.DataFrame] = []
    for batch in ahead(run.ranked(policy.ties)):
        _check_ids(batch.frame)
        code = np.repeat(counting.add(batch), batch.lengths)
        rows = sieve.passing(batch.hashes)
        # Adding nothing copies the ids: a mere selection keeps all texts of the batch in memory.
        item = batch.frame["item"].gather(rows) + ""
        columns = {"code": code[rows], "rank": batch.rank[rows], "tied": batch.tied[rows]}
        waiting.append(pl.DataFrame({**columns, "item": item}))
        # A join costs nearly as much for few rows as for many, so rows are collected first.
        if sum(frame.height for frame in waiting) > _ROWS_PER_JOIN:
            found.append(_joined(waiting, targets))
            waiting = []
    if waiting:
        found.append(_joined(waiting, targets))
    edges, copies = _first_of_each(found)
    rank, target = (_ints(edges[name]) for name in ("rank", "target"))
    tally = counting.finish(
        run,
        tied_targets=target[edges["tied"].to_numpy()],
        copies=(_ints(copies["target"]), _ints(copies["rank"])),
    )
    check_common_ids(ground_truth, run, tally, n_edges=target.size)
    return assemble(ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size), tally


def _joined(waiting: list[pl.DataFrame], targets: pl.DataFrame) -> pl.DataFrame:
    edges = pl.concat(waiting).join(targets, on=["code", "item"], how="inner")
    return edges.select("target", "rank", "tied")


def _first_of_each(found: list[pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The best rank of each target, and the copies further down, which earn nothing."""
    if not found:
        none = pl.DataFrame(schema={"target": pl.Int64, "rank": pl.Int64, "tied": pl.Boolean})
        return none, none
    edges = pl.concat(found).sort("target", "rank")
    is_first = edges["target"].is_first_distinct()
    return edges.filter(is_first), edges.filter(~is_first)


def _ints(column: pl.Series) -> Ints:
    return column.to_numpy().astype(np.int64)


def _check_ids(frame: pl.DataFrame) -> None:
    if "item" not in frame.columns or frame["item"].null_count():
        raise InvalidInput(
            "A result has no id, and the ground truth is given by ids; give every result an id "
            "under 'id' (or 'item' in a table)."
        )
