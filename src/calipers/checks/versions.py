"""Documents in several versions, by a version or date field, or by v1 and v2 in names."""

from collections.abc import Sequence

import polars as pl

from calipers.checks import catalogue
from calipers.model.health import Example, HealthFinding

_IN_NAME = r"(?i)(^|[^a-z0-9])(?:version|ver|rev|v)[-_. ]?(\d+(?:\.\d+)*)([^a-z0-9]|$)"
_NUMBER = r"(?i)^v?(\d+(?:\.\d+)*)$"
_DATE = r"^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$"
_NAME = pl.col("document").fill_null(pl.col("id"))
_SAID = pl.coalesce(
    "version", _NAME.str.extract(_IN_NAME, 2), pl.col("id").str.extract(_IN_NAME, 2)
)
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
