"""Documents in several versions, by a version or date field, or by v1 and v2 in names."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from calipers.checks import catalogue
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.model.run import Run

FIRST_RESULTS = 10
"""The number of results per query that are checked."""
_IN_NAME = r"(?i)(^|[^a-z0-9])(?:version|ver|rev|v)[-_. ]?(\d+(?:\.\d+)*)([^a-z0-9]|$)"
_NUMBER = r"(?i)^v?(\d+(?:\.\d+)*)$"
_DATE = r"^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$"
_NAME = pl.col("document").fill_null(pl.col("id"))
_SAID = pl.coalesce(
    "version", _NAME.str.extract(_IN_NAME, 2), pl.col("id").str.extract(_IN_NAME, 2)
)
AT_ONCE = 100_000
"""The number of results per block; few of them name a version."""
FEW_VERSIONS = 3
"""With more versions, a document must have at least two chunks per version on average: a channel
whose messages each have their own date is no document with many versions."""


def versioned(chunks: pl.DataFrame) -> pl.DataFrame:
    """The chunks (id, document, version) that name their version.

    Returns item, family (the document without its version), said (the version) and order: null
    if the version is neither a number nor an ISO date.
    """
    parts = pl.coalesce(
        pl.col("said").str.extract(_DATE, 1).str.replace_all("-", "."),
        pl.col("said").str.extract(_NUMBER, 1),
    )
    padded = parts.str.split(".").list.eval(pl.element().str.zfill(12)).list.join(".")
    return (
        chunks.select(item="id", family=_NAME.str.replace(_IN_NAME, "${1}${3}"), said=_SAID)
        .with_columns(order=padded)
        .drop_nulls("said")
    )


def superseded(found: pl.DataFrame) -> pl.DataFrame:
    """The chunks of documents with several versions, with ``current`` and ``newest``."""
    found = found.drop_nulls("order")
    versions, chunks = pl.col("order").n_unique().over("family"), pl.len().over("family")
    several = found.filter(versions > 1, (versions <= FEW_VERSIONS) | (2 * versions <= chunks))
    return several.with_columns(
        current=pl.col("order") == pl.col("order").max().over("family"),
        newest=pl.col("said").sort_by("order").last().over("family"),
    ).unique("item", keep="first", maintain_order=True)


def superseded_targets(
    several: pl.DataFrame, holders: Sequence[tuple[str, Sequence[str]]]
) -> HealthFinding:
    """Relevant targets (query, chunks that contain it) that are only in older versions."""
    known = {row["item"]: row for row in several.iter_rows(named=True)}
    old = []
    for query, chunks in holders:
        rows = [known.get(chunk) for chunk in chunks]
        if rows and all(row is not None and not row["current"] for row in rows):
            row = rows[0] or {}
            detail = f"version {row['said']}, and there is {row['newest']}"
            old.append(Example(query, chunks[0], detail))
    return HealthFinding.of_kind(catalogue.SUPERSEDED, old, count=len(old), of=len(holders))


def older_first(runs: Mapping[str, Run], several: pl.DataFrame | None) -> HealthFinding:
    """How often an older version ranks above the current one, or without it, in the first results.

    Without ``several`` (from the corpus), the versions in the results are used, or else those in
    their names.
    """
    count = of = 0
    counts: list[str] = []
    examples: list[Example] = []
    for name, run in runs.items():
        if not run.has("item"):
            continue
        known = several
        if known is None or (known.is_empty() and run.has("version")):
            known = superseded(versioned(_over(run, _with_versions).unique(maintain_order=True)))
        first = _over(run, partial(_first_of_family, known))
        older = first.filter(~pl.col("current"))
        returned, wrong = first["query"].n_unique(), older["query"].n_unique()
        of, count = max(of, returned), max(count, wrong)
        counts.append(f"{name}: {wrong:,} of {returned:,}")
        examples += [
            Example(row["query"], row["item"], f"at rank {row['rank']}; there is {row['newest']}")
            for row in older.head(EXAMPLES).iter_rows(named=True)
        ]
    return HealthFinding.of_kind(
        catalogue.OLDER_FIRST,
        examples,
        count=count,
        of=of,
        detail="Of the queries that return such documents: " + "; ".join(counts) + ".",
    )


def _over(run: Run, work: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Apply ``work`` to the ranking in blocks of whole queries."""
    parts = [work(part.first(None)) for part in run.ranked(rows=AT_ONCE)]
    return pl.concat(parts) if parts else work(run.first(0))


def _first_of_family(known: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """Each query's first result of every document with several versions."""
    return (
        results.select("query", "rank", "item")
        .filter(pl.col("rank") <= FIRST_RESULTS, pl.col("item").is_in(known["item"].implode()))
        .join(known, on="item", maintain_order="left")
        .unique(["query", "family"], keep="first", maintain_order=True)
    )


def _with_versions(results: pl.DataFrame) -> pl.DataFrame:
    """The results that name their version, as id, document, version."""
    document = "document" if "document" in results.columns else "item"
    version = pl.col("version") if "version" in results.columns else pl.lit(None, pl.String)
    named = results.select(id="item", document=document, version=version).drop_nulls("id")
    return named.filter(_SAID.is_not_null()).unique(maintain_order=True)
