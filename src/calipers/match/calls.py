"""Several calls of a retriever for one query: an agent searches, reads, and searches again."""

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.policy import Calls
from calipers.model.run import Run


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
