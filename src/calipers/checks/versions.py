"""Documents of which there are several versions: by a version or date, or by v1 and v2 in names."""

from collections.abc import Mapping, Sequence

import polars as pl

from calipers.checks import catalogue
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.words import plural

FIRST_RESULTS = 10
"""Results of a query that are looked at."""
_IN_NAME = r"(?i)(^|[^a-z0-9])(?:version|ver|rev|v)[-_. ]?(\d+(?:\.\d+)*)([^a-z0-9]|$)"
_NUMBER = r"(?i)^v?(\d+(?:\.\d+)*)$"
_DATE = r"^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$"
FEW_VERSIONS = 3
"""Of a document with more, every second chunk at least must share its version with another one: a
channel whose messages have each a date of its own is no document with many versions."""


def versioned(chunks: pl.DataFrame) -> pl.DataFrame:
    """The chunks (id, document, version) that say of which version they are.

    item, family (the document whichever version it is), said (the version) and order: null where
    it is neither a number nor an ISO date.
    """
    name = pl.col("document").fill_null(pl.col("id"))
    said = pl.coalesce(
        "version", name.str.extract(_IN_NAME, 2), pl.col("id").str.extract(_IN_NAME, 2)
    )
    parts = pl.coalesce(
        pl.col("said").str.extract(_DATE, 1).str.replace_all("-", "."),
        pl.col("said").str.extract(_NUMBER, 1),
    )
    padded = parts.str.split(".").list.eval(pl.element().str.zfill(12)).list.join(".")
    return (
        chunks.select(item="id", family=name.str.replace(_IN_NAME, "${1}${3}"), said=said)
        .with_columns(order=padded)
        .drop_nulls("said")
    )


def unordered(found: pl.DataFrame) -> list[str]:
    """A note about versions that cannot be put in order."""
    unclear = found.filter(pl.col("order").is_null())
    if unclear.is_empty():
        return []
    return [
        f"Of {plural(unclear.height, 'chunk')} the version is neither a number nor a date such as "
        f"2024-05-01 (found {unclear['said'][0]!r:.40}), so nothing is said about older versions "
        "of these."
    ]


def superseded(found: pl.DataFrame) -> pl.DataFrame:
    """Of ``versioned``, documents in several versions, with ``current`` and ``newest``."""
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
    """Relevant targets (query and the chunks that hold it) that stand in older versions alone."""
    known = {row["item"]: row for row in several.iter_rows(named=True)}
    old = []
    for query, chunks in holders:
        rows = [known.get(chunk) for chunk in chunks]
        if rows and all(row is not None and not row["current"] for row in rows):
            row = rows[0] or {}
            detail = f"version {row['said']}, and there is {row['newest']}"
            old.append(Example(query, chunks[0], detail))
    return HealthFinding.of_kind(catalogue.SUPERSEDED, old, count=len(old), of=len(holders))


def older_first(runs: Mapping[str, pl.DataFrame], several: pl.DataFrame | None) -> HealthFinding:
    """How often an older version stands before the current one, or alone, in the first results.

    ``runs`` are rankings by name; without ``several`` (of the corpus) what they say of themselves
    tells: their versions, or else their names.
    """
    count = of = 0
    said: list[str] = []
    examples: list[Example] = []
    for name, ranking in runs.items():
        if "item" not in ranking.columns:
            continue
        if several is None or (several.is_empty() and "version" in ranking.columns):
            known = superseded(versioned(_said(ranking)))
        else:
            known = several
        first = (
            ranking.filter(pl.col("rank") <= FIRST_RESULTS)
            .join(known, on="item", maintain_order="left")
            .unique(["query", "family"], keep="first", maintain_order=True)
        )
        older = first.filter(~pl.col("current"))
        returned, wrong = first["query"].n_unique(), older["query"].n_unique()
        of, count = max(of, returned), max(count, wrong)
        said.append(f"{name}: {wrong:,} of {returned:,}")
        examples += [
            Example(row["query"], row["item"], f"at rank {row['rank']}; there is {row['newest']}")
            for row in older.head(EXAMPLES).iter_rows(named=True)
        ]
    return HealthFinding.of_kind(
        catalogue.OLDER_FIRST,
        examples,
        count=count,
        of=of,
        detail="Of the queries that return such documents: " + "; ".join(said) + ".",
    )


def _said(ranking: pl.DataFrame) -> pl.DataFrame:
    """What results say of themselves: id, document, version."""
    document = "document" if "document" in ranking.columns else "item"
    version = pl.col("version") if "version" in ranking.columns else pl.lit(None, pl.String)
    said = ranking.select(id="item", document=document, version=version)
    return said.drop_nulls("id").unique(maintain_order=True)
