"""Queries that one side names by an id and the other by their text."""

from dataclasses import replace

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.run import FirstResults, Run

LOOKED_AT = 50
"""Queries of the first results by which the names are compared."""
BY_TEXT = "The run names its queries by their texts, and so they are compared."
BY_ID = "The ground truth names its queries by their texts, the run by ids: texts are compared."


def named_alike(
    truth: GroundTruth, run: Run, first: FirstResults
) -> tuple[GroundTruth, tuple[str, ...]]:
    """The ground truth with its queries named as the run names them, and what to say of that.

    Nothing changes where a name is in common, or where texts do not lead from one to the other.
    """
    known = _text_names(truth.queries)
    answered = run.queries if run.queries is not None and "text" in run.queries.columns else None
    ids = None if answered is None else _text_names(answered)
    if known is None and ids is None:
        return truth, ()
    asked = first.frame["query"].unique(maintain_order=True).head(LOOKED_AT)
    names = truth.queries["query"]
    if asked.is_in(names.implode()).any():
        return truth, ()
    if known is not None and asked.is_in(known["text"].implode()).any():
        return _renamed(truth, known.select(old="query", new="text")), (BY_TEXT,)
    if ids is not None and ids["text"].is_in(names.implode()).any():
        return _renamed(truth, ids.select(old="text", new="query")), (BY_ID,)
    return truth, ()


def _text_names(queries: pl.DataFrame) -> pl.DataFrame | None:
    """Names and texts, where each text is that of one query and not its name."""
    texts = queries.select("query", pl.col("text").str.strip_chars())
    texts = texts.filter(pl.col("text").is_not_null() & (pl.col("text") != pl.col("query")))
    return None if not texts.height or texts["text"].is_duplicated().any() else texts


def _renamed(truth: GroundTruth, names: pl.DataFrame) -> GroundTruth:
    def changed(frame: pl.DataFrame) -> pl.DataFrame:
        new = frame["query"].replace(names["old"], names["new"])
        return frame.with_columns(new.alias("query"))

    queries = truth.queries.with_columns(text=pl.coalesce("text", "query"))
    forbidden = None if truth.forbidden is None else changed(truth.forbidden)
    return replace(
        truth, targets=changed(truth.targets), queries=changed(queries), forbidden=forbidden
    )
