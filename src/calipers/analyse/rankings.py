"""The ranking of every query as it was, each result with what it holds."""

import polars as pl

from calipers.analyse.listing import list_results
from calipers.model.matches import Matches
from calipers.model.policy import Ties
from calipers.model.run import Run

SHOWN = ("item", "score", "text", "document", "start", "end")


def rank_table(
    run: Run, matches: Matches, *, ties: Ties | None, depth: int, rel: float | None
) -> pl.DataFrame:
    """The first ``depth`` results of every query that the ground truth knows.

    Columns: ``query`` (its code), ``rank``, what is known of the result, ``targets`` (the numbers
    of the targets that it holds), ``grade`` (the highest of them) and ``state``: relevant, not
    relevant (judged so), repeated (stood above already) or unjudged.
    """
    listed = list_results(run, matches, ties, depth, SHOWN)
    held = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "targets": matches.edge_target,
                "grade": matches.target_grade[matches.edge_target],
                "useful": matches.relevant(rel)[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg("targets", pl.col("grade").max(), pl.col("useful").any())
    )
    return (
        listed.join(held, on=["query", "rank"], how="left", maintain_order="left")
        .with_columns(
            state=pl.when(pl.col("useful")).then(pl.lit("relevant"))
            .when(pl.col("useful").is_not_null()).then(pl.lit("not relevant"))
            .when(pl.col("repeated")).then(pl.lit("repeated"))
            .otherwise(pl.lit("unjudged"))
        )
        .drop("useful", "repeated", "repeats")
        .sort("query", "rank")
    )  # fmt: skip
