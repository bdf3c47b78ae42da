"""Edges, targets and counts put together into matches."""

import numpy as np
import polars as pl

from calipers.model.arrays import Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import FAILED, Matches, Tally, with_status


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
    rank, target = rank[kept], target[kept]
    overlap = np.ones(rank.size) if overlap is None else overlap[kept]
    edge_order = _by_query_and_rank(query_of[target], rank, place[target])
    same_item = _same_items(ground_truth)
    return Matches(
        asked=lambda: ground_truth.queries,
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


def _by_query_and_rank(query: Ints, rank: Ints, place: Ints) -> Ints:
    """The order of edges; those of one rank by the place of their targets."""
    if query.size and (place[1:] >= place[:-1]).all() and rank.max() < 1 << 31:
        # By place they are sorted already, and so nearly by query: one sort, which sees that.
        return np.argsort((query << 31) + rank, kind="stable")
    return np.lexsort((place, rank, query))


def _units(ground_truth: GroundTruth) -> Ints:
    """One number per target; alternatives (same query, same group) share it."""
    if not ground_truth.has_groups:
        return np.arange(ground_truth.grades.size)
    return _first_with(ground_truth.targets, "group")


def _same_items(ground_truth: GroundTruth) -> Ints | None:
    """One number per target, shared by those with the same id; only groups can repeat an id."""
    return _first_with(ground_truth.targets, "item") if ground_truth.has_groups else None


def _first_with(targets: pl.DataFrame, column: str) -> Ints:
    """The first row of the same query that has the same value; its own row where it has none."""
    alone = np.arange(targets.height, dtype=np.int64)
    if targets[column].null_count() == targets.height:
        return alone
    first = (
        targets.select("query", column)
        .with_row_index("row")
        .select(pl.col("row").min().over("query", column))["row"]
        .to_numpy()
        .astype(np.int64)
    )
    return np.where(targets[column].is_null().to_numpy(), alone, first)
