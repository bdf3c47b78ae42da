"""Columns of a table that say something about its queries, such as ``tag.country``."""

import polars as pl

from calipers.errors import InvalidInput

TAG = "tag."
"""How such columns are called, here and among the scores of queries."""


def tags_in(rows: pl.DataFrame, queries: pl.Series) -> dict[str, pl.Series]:
    """The tags of each of the ``queries``; ``rows`` have their query and the columns of tags."""
    columns = [name for name in rows.columns if name.startswith(TAG)]
    given = rows.select("query", pl.col(columns).cast(pl.String))
    several = given.group_by("query", maintain_order=True).agg(pl.all().drop_nulls().unique())
    for name in columns:
        split = several.filter(pl.col(name).list.len() > 1)
        if split.height:
            one, other = sorted(split[name][0])[:2]
            raise InvalidInput(
                f"The query {split['query'][0]!r:.60} has two values in the column {name!r}: "
                f"{one!r:.60} and {other!r:.60}; a tag says one thing of a query, so give all its "
                "rows the same."
            )
    first = several.with_columns(pl.col(columns).list.first())
    found = pl.DataFrame({"query": queries}).join(
        first, on="query", how="left", maintain_order="left"
    )
    return {name.removeprefix(TAG): found[name].alias(name.removeprefix(TAG)) for name in columns}
