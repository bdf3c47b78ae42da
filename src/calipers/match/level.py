"""The same question asked of evidence, of single chunks, or of whole documents."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.policy import Policy
from calipers.model.run import Run, Scan


class NoDocuments(InvalidInput):
    """The level of documents was asked for, and the documents are not known."""


def to_documents(ground_truth: GroundTruth, run: Run, policy: Policy) -> tuple[GroundTruth, Run]:
    """Targets and results rolled up to their documents, which then are matched by id.

    A document stands at the rank of its first chunk, and later documents move up. Targets in
    one document become one target, with the highest of their grades; alternatives stay
    alternatives. Results are rolled up as they are read, so that a large run need not be held.
    """
    return _targets(ground_truth, run), rolled_up(run, policy)


def rolled_up(run: Run, policy: Policy) -> Run:
    """The documents of a run in place of its chunks."""
    return replace(
        run,
        scan=lambda: _rolled(run, policy),
        order="listed",
        notes=(),
        together=lambda _: _grouped(run, policy),
    )


def _grouped(run: Run, policy: Policy) -> Scan:
    grouped = run.grouped()
    return lambda: _rolled(grouped, policy)


def _rolled(run: Run, policy: Policy) -> Iterator[pl.DataFrame]:
    for batch in run.ranked(policy.ties):
        results = batch.frame
        _check_column(results)
        unknown = results.filter(pl.col("document").is_null())
        if unknown.height:
            raise NoDocuments(_without_document(run, unknown["query"][0]))
        yield results.select("query", pl.col("document").alias("item")).unique(
            ["query", "item"], keep="first", maintain_order=True
        )


def _check_column(results: pl.DataFrame) -> None:
    if "document" not in results.columns:
        raise NoDocuments(
            "The level of documents cannot be computed: the results do not say which document "
            f"they come from; found {', '.join(results.columns)}. Give every result its 'document'."
        )


def _without_document(run: Run, query: str) -> str:
    counts = [(frame["document"].null_count(), frame.height) for frame in run.scan()]
    unknown, results = (sum(column) for column in zip(*counts, strict=True))
    return (
        f"The level of documents cannot be computed: {unknown} of {results} results have no "
        f"document, the first for query {query!r}. Give every result its 'document'."
    )


def _known_documents(run: Run, items: pl.Series) -> pl.DataFrame:
    """The document of each of some ids: a chunk that came back for any query tells it."""
    found = [pl.DataFrame(schema={"item": pl.String, "document": pl.String})]
    wanted = items.unique().implode()
    for frame in run.scan():
        if frame.height:
            _check_column(frame)
        if not {"item", "document"} <= set(frame.columns):
            continue
        rows = frame.filter(pl.col("item").is_in(wanted) & pl.col("document").is_not_null())
        found.append(rows.select("item", "document").unique("item", keep="first"))
    return pl.concat(found).unique("item", keep="first")


def _targets(ground_truth: GroundTruth, run: Run) -> GroundTruth:
    targets = ground_truth.targets
    lacking = targets.filter(pl.col("document").is_null() & pl.col("item").is_not_null())
    if lacking.height:
        known = _known_documents(run, lacking["item"]).rename({"document": "__known"})
        targets = (
            targets.join(known, on="item", how="left", maintain_order="left")
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
