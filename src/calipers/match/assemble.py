"""Edges, targets and counts put together into matches."""

import numpy as np
import polars as pl

from calipers.model.arrays import Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import FAILED, Matches
from calipers.model.tally import Tally


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
    order = np.argsort(query_of, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)

    failed = (tally.status == FAILED).to_numpy()
    kept = ~failed[query_of[target]]
    rank, target = rank[kept], target[kept]
    overlap = np.ones(rank.size) if overlap is None else overlap[kept]
    edge_order = np.lexsort((place[target], rank, query_of[target]))
    return Matches(
        queries=ground_truth.queries.with_columns(status=tally.status),
        target_query=query_of[order],
        target_grade=ground_truth.targets["grade"].to_numpy()[order],
        target_unit=_units(ground_truth)[order],
        edge_query=query_of[target][edge_order],
        edge_rank=rank[edge_order],
        edge_target=place[target][edge_order],
        edge_overlap=overlap[edge_order],
        retrieved=tally.retrieved,
        corpus_size=corpus_size,
    )


def _units(ground_truth: GroundTruth) -> Ints:
    """One number per target; alternatives (same query, same group) share it."""
    groups = ground_truth.targets["group"]
    alone = np.arange(len(groups), dtype=np.int64)
    if groups.null_count() == len(groups):
        return alone
    first = (
        ground_truth.targets.select("query", "group")
        .with_row_index("row")
        .select(pl.col("row").min().over("query", "group"))["row"]
        .to_numpy()
        .astype(np.int64)
    )
    return np.where(groups.is_null().to_numpy(), alone, first)
