"""Several calls of a retriever for one query: an agent searches, reads, and searches again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches
from calipers.model.policy import Calls
from calipers.model.run import Run

_BETWEEN = "\x1f"
"""Separates a query from its call number in the name of a call."""

MatchEach = Callable[[GroundTruth, Run], Matches]
"""Matches a run with a ground truth, in any way."""


@dataclass(frozen=True, eq=False)
class CallEdges:
    """Which call holds which target, at which rank of that call."""

    target: Ints
    """In the order in which the matches of the whole pair number them."""
    call: Ints
    rank: Ints


def one_ranking(run: Run, how: Calls) -> Run:
    """The calls of each query as one ranking; the column ``call`` stays."""
    frame = numbered(run)
    if how == "last":
        frame = frame.filter(pl.col("call") == pl.col("call").max().over("query"))
    return Run.from_frame(
        frame.drop("rank", "first"),
        order="listed",
        queries=run.queries,
        name=run.name,
        stages=run.stages,
    )


def numbered(run: Run) -> pl.DataFrame:
    """Every result with its call and its rank in it, query by query and call by call."""
    # A query whose results name no call is one call, as in traces where most search once.
    alone = pl.col("call").is_null().all().over("query")
    frame = run.frame.with_columns(pl.when(alone).then(1).otherwise("call").alias("call"))
    call = frame["call"]
    if call.null_count() or (call.min() or 0) < 1:  # type: ignore[operator]
        at = int(pl.Series(call.is_null() | (call < 1)).arg_max() or 0)
        raise InvalidInput(
            f"A result of query {frame['query'][at]!r} has the call {call[at]}; calls are numbered "
            "from 1, and either every result of a query has one or none has."
        )
    first = frame.select("query").unique(maintain_order=True).with_row_index("first")
    return (
        frame.join(first, on="query", how="left", maintain_order="left")
        .sort("first", "call", "rank", maintain_order=True)
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("query", "call"))
    )


def calls_apart(truth: GroundTruth, run: Run) -> tuple[GroundTruth, Run, pl.DataFrame]:
    """Make every call a query of its own: the ground truth, the run, and a table of the calls.

    The table has ``code`` (the row of the query in the ground truth) and ``call``, in the order of
    the new queries.
    """
    frame = numbered(run)
    codes = truth.queries.select("query").with_row_index("code")
    calls = (
        frame.select("query", "call")
        .unique(maintain_order=True)
        .join(codes, on="query", how="inner", maintain_order="left")
        .with_columns(name=pl.format("{}{}{}", "query", pl.lit(_BETWEEN), "call"))
    )
    named = calls.select("query", "call", "name")
    # Every call has the targets of its query, in their order.
    targets = named.join(truth.targets, on="query", how="inner", maintain_order="left_right")
    asked = calls.select(query="name")
    single = GroundTruth.from_targets(
        targets.drop("query", "call").rename({"name": "query"}), queries=asked
    )
    rows = (
        frame.join(named, on=["query", "call"], how="inner", maintain_order="left")
        .drop("query", "call", "first")
        .rename({"name": "query"})
    )
    return single, Run.from_frame(rows, order="rank", queries=asked), calls


def call_edges(truth: GroundTruth, run: Run, match: MatchEach) -> CallEdges:
    """Which call holds which target."""
    single, each, calls = calls_apart(truth, run)
    matches = match(single, each)
    code = calls["code"].to_numpy().astype(np.int64)
    per_call = np.bincount(matches.target_query, minlength=matches.n_queries)
    begin_of_call = np.cumsum(per_call) - per_call
    # A query has as many targets in each of its calls, so its own count is that of any call.
    counts = np.bincount(truth.target_query, minlength=truth.queries.height)
    counts[code] = per_call
    begin = np.cumsum(counts) - counts
    within = matches.edge_target - begin_of_call[matches.edge_query]
    return CallEdges(
        begin[code[matches.edge_query]] + within,
        calls["call"].to_numpy().astype(np.int64)[matches.edge_query],
        matches.edge_rank,
    )
