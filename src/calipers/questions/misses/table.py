"""Misses and false positives as tables that can be read, filtered and labelled."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from calipers.match.calls import CallEdges
from calipers.model.arrays import Bools, Ints
from calipers.model.matched import Matches
from calipers.questions.misses.reasons import NEVER

INSTEAD = 3
"""How many of the results that came instead stand in a line."""
EXAMPLES = 3
CALLS = pl.List(pl.Int64)
CUT = 200
"""Characters of a text that a table shows; the whole text stands in the run."""


def misses_table(
    matches: Matches,
    targets: pl.DataFrame,
    missed: Ints,
    *,
    columns: Mapping[str, pl.Series],
    instead: pl.DataFrame,
    tags: Mapping[str, pl.Series],
) -> pl.DataFrame:
    """One row per miss.

    ``targets`` stand in the order of the matches, ``columns`` in that of ``missed``. The column
    ``label`` is empty: it is there for whoever reads the file.
    """
    query = matches.target_query[missed]
    who = matches.queries.select("query", pl.col("text").alias("question"))[query]
    what = targets[missed].select("item", "quote", "document", "start", "end", "group", "grade")
    table = pl.concat([who, what], how="horizontal").with_columns(
        *(series.alias(name) for name, series in columns.items()),
        *(tag.gather(query).alias(f"tag.{name}") for name, tag in tags.items()),
    )
    return (
        table.with_columns(code=pl.Series(query))
        .join(instead, on="code", how="left", maintain_order="left")
        .drop("code")
        .with_columns(label=pl.lit(None, dtype=pl.String))
    )


def expected_text(
    targets: pl.DataFrame, listing: pl.DataFrame, in_corpus: Mapping[str, str]
) -> pl.Series:
    """What each target says: its quote, or its text where corpus or run have it for any query."""
    in_run = listing.select("item", "text").drop_nulls().unique("item", keep="first")
    in_run = in_run.with_columns(pl.col("text").str.slice(0, CUT))
    texts = {**dict(in_run.iter_rows()), **in_corpus}
    known = targets["item"].replace_strict(texts, default=None, return_dtype=pl.String)
    return targets["quote"].str.slice(0, CUT).fill_null(known)


def calls_of(edges: CallEdges, missed: Ints, query: Ints) -> dict[str, pl.Series]:
    """For each miss, of the query beside it, the calls that returned it and those that did not."""
    held: dict[int, set[int]] = {}
    for target, call in zip(edges.target.tolist(), edges.call.tolist(), strict=True):
        held.setdefault(target, set()).add(call)
    returned, lost = [], []
    for target, code in zip(missed.tolist(), query.tolist(), strict=True):
        found = held.get(target, set())
        returned.append(sorted(found))
        lost.append([call for call in edges.made.get(code, ()) if call not in found])
    columns = {"returned_in_calls": returned, "lost_in_calls": lost}
    return {name: pl.Series(name, lists, dtype=CALLS) for name, lists in columns.items()}


def came_instead(shown: pl.DataFrame) -> pl.DataFrame:
    """Per query the first results that hold no target, as ids and as texts."""
    wrong = shown.filter(~pl.col("useful")).sort("query", "rank")
    return wrong.group_by(pl.col("query").alias("code"), maintain_order=True).agg(
        pl.col("item").head(INSTEAD).alias("instead"),
        pl.col("text").str.slice(0, CUT).head(INSTEAD).alias("instead_text"),
    )


def mark_useful(shown: pl.DataFrame, matches: Matches, relevant: Bools) -> pl.DataFrame:
    """The results with ``useful``: holds a relevant target; ``judged``: holds any target."""
    pairs = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "useful": relevant[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg(pl.col("useful").any(), judged=pl.lit(True))
    )
    return shown.join(pairs, on=["query", "rank"], how="left", maintain_order="left").with_columns(
        pl.col("useful", "judged").fill_null(False)
    )


def false_positives(shown: pl.DataFrame, matches: Matches) -> pl.DataFrame:
    """What was returned without holding a target, the most frequent first.

    An item that comes up for many unrelated queries is a hub. ``unjudged`` counts the queries
    for which nobody judged it: many of those may mean that labels are missing.
    """
    asked = max(1, shown["query"].n_unique())
    names = matches.queries["query"]
    return (
        shown.filter(~pl.col("useful"))
        .with_columns(identity=pl.coalesce("item", "text", "document"))
        .group_by("identity")
        .agg(
            pl.col("item").first(),
            pl.col("text").drop_nulls().first().str.slice(0, CUT),
            pl.col("document").first(),
            queries=pl.col("query").n_unique(),
            share=pl.col("query").n_unique() / asked,
            mean_rank=pl.col("rank").mean(),
            unjudged=pl.col("query").filter(~pl.col("judged")).n_unique(),
            examples=pl.col("query").unique().sort().head(EXAMPLES),
        )
        .sort("queries", "mean_rank", "identity", descending=[True, False, False])
        .drop("identity")
        .with_columns(
            examples=pl.col("examples").list.eval(
                pl.element().replace_strict(
                    np.arange(names.len()), names, return_dtype=pl.String, default=None
                )
            )
        )
    )


def ranks_or_null(ranks: Ints) -> pl.Series:
    """Ranks as a column; null where there is none."""
    return pl.Series(np.where(ranks == NEVER, -1, ranks)).replace(-1, None)
