"""The same question asked of evidence, of single chunks, or of whole documents."""

from dataclasses import replace

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.policy import Policy
from calipers.model.ranking import NotGroupedError
from calipers.model.run import Run


class NoDocuments(InvalidInput):
    """The level of documents was asked for, and the documents are not known."""


def to_documents(ground_truth: GroundTruth, run: Run, policy: Policy) -> tuple[GroundTruth, Run]:
    """Targets and results rolled up to their documents, which then are matched by id.

    A document stands at the rank of its first chunk, and later documents move up. Targets in
    one document become one target, with the highest of their grades; alternatives stay
    alternatives.
    """
    results = _ranked(run, policy)
    if results.height and "document" not in results.columns:
        raise NoDocuments(
            "The level of documents cannot be computed: the results do not say which document "
            f"they come from; found {', '.join(results.columns)}. Give every result its 'document'."
        )
    return _targets(ground_truth, results), _results(run, results)


def _ranked(run: Run, policy: Policy) -> pl.DataFrame:
    try:
        frames = [batch.frame for batch in run.ranked(policy.ties)]
    except NotGroupedError:
        frames = [batch.frame for batch in run.grouped().ranked(policy.ties)]
    return pl.concat(frames) if frames else pl.DataFrame(schema={"query": pl.String})


def _results(run: Run, results: pl.DataFrame) -> Run:
    if not results.height:
        rolled = pl.DataFrame(schema={"query": pl.String, "item": pl.String})
    else:
        unknown = results.filter(pl.col("document").is_null())
        if unknown.height:
            raise NoDocuments(
                f"The level of documents cannot be computed: {unknown.height} of {results.height} "
                f"results have no document, the first for query {unknown['query'][0]!r}. Give "
                "every result its 'document'."
            )
        rolled = results.select("query", pl.col("document").alias("item")).unique(
            ["query", "item"], keep="first", maintain_order=True
        )
    return Run.from_frame(rolled, order="listed", ties=run.ties, queries=run.queries, name=run.name)


def _targets(ground_truth: GroundTruth, results: pl.DataFrame) -> GroundTruth:
    targets = ground_truth.targets
    if {"item", "document"} <= set(results.columns):
        # A chunk that came back for any query tells the document of its id.
        known = results.select("item", pl.col("document").alias("__known")).drop_nulls()
        targets = (
            targets.join(
                known.unique("item", keep="first"), on="item", how="left", maintain_order="left"
            )
            .with_columns(pl.coalesce("document", "__known").alias("document"))
            .drop("__known")
        )
    unknown = targets.filter(pl.col("document").is_null())
    if unknown.height:
        raise NoDocuments(
            f"The level of documents cannot be computed: for {unknown.height} of {targets.height} "
            f"targets the document is not known, the first of query {unknown['query'][0]!r}. Give "
            "every target its 'document' (calipers resolve finds it for quotes)."
        )
    rolled = targets.group_by("query", "document", "group", maintain_order=True).agg(
        pl.col("grade").max()
    )
    columns = [
        pl.col("document").alias("item")
        if name == "item"
        else pl.col(name)
        if name in ("query", "grade", "group")
        else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in TARGET_SCHEMA.items()
    ]
    return replace(ground_truth, targets=rolled.select(columns), notes=())
