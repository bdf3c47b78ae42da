"""Misses and false positives as tables to read, filter and label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from calipers.match.calls import CallEdges
from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Ints
from calipers.model.matched import Matches
from calipers.questions.shown_results import Context

INSTEAD = 3
"""The number of results shown in place of a missed target."""
EXAMPLES = 3
CALLS = pl.List(pl.Int64)
CUT = 200
"""Characters of a text in a table; the run has the whole text."""


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

    ``targets`` are in the order of the matches, ``columns`` in that of ``missed``. The column
    ``label`` is empty, for annotators to fill in.
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


def calls_of(edges: CallEdges, missed: Ints, query: Ints) -> dict[str, pl.Series]:
    """For each miss, the calls of its query that returned it and those that did not."""
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


@dataclass(frozen=True, eq=False)
class MissFacts:
    """Facts about targets from the results of a block of queries; blocks can be merged."""

    codes: Ints
    target_rows: Ints
    repeats: Ints
    """The number of repeated results above each target's best rank."""
    sibling: Bools
    """Whether another chunk of the target's document is in the first k."""
    crowd: Bools
    """Whether the first k results of each target's query contain a repetition."""
    instead: pl.DataFrame
    """What was returned instead, for the wanted queries: code, instead, instead_text."""

    @classmethod
    def of(cls, block: Context, k: int, named: pl.DataFrame | None, wanted: Bools) -> Self:
        """The facts of one block of whole queries."""
        matches = block.matches
        query, rank = matches.target_query, best_ranks(matches)
        listed = rank < NEVER
        repeats = np.zeros_like(rank)
        repeats[listed] = block.above(block.repeats, query[listed], rank[listed])
        return cls(
            block.codes,
            block.target_rows,
            repeats,
            block.near(k, named),
            (block.summed(block.repeats, [k])[:, 0] > 0)[query],
            _came_instead(block, k, wanted),
        )

    @classmethod
    def merged(cls, parts: Sequence["MissFacts"], matches: Matches) -> "MissFacts":
        """The facts of all queries; queries without results have none."""
        n = matches.target_query.size
        repeats = np.zeros(n, dtype=np.int64)
        sibling, crowd = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        for one in parts:
            repeats[one.target_rows] = one.repeats
            sibling[one.target_rows] = one.sibling
            crowd[one.target_rows] = one.crowd
        instead = pl.concat([_NOTHING_INSTEAD, *(one.instead for one in parts)])
        return cls(np.arange(matches.n_queries), np.arange(n), repeats, sibling, crowd, instead)


_NOTHING_INSTEAD = pl.DataFrame(
    schema={"code": pl.Int64, "instead": pl.List(pl.String), "instead_text": pl.List(pl.String)}
)


def _came_instead(block: Context, k: int, wanted: Bools) -> pl.DataFrame:
    """The first results of each query that contain no target, as ids and as texts."""
    rows = np.flatnonzero((block.rank <= k) & ~block.holds_target & wanted[block.codes][block.code])
    wrong = _with_columns(block.frame[rows], "item", "text")
    codes = pl.Series("code", block.codes[block.code[rows]])
    return (
        wrong.with_columns(codes)
        .group_by("code", maintain_order=True)
        .agg(
            pl.col("item").head(INSTEAD).alias("instead"),
            pl.col("text").str.slice(0, CUT).head(INSTEAD).alias("instead_text"),
        )
    )


def _with_columns(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    lacking = [name for name in names if name not in frame.columns]
    return frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in lacking)


def false_positives(block: Context, k: int) -> pl.DataFrame:
    """The results of a block in the first k that contain no target: identity and counts.

    ``unjudged`` counts the queries for which the result has no judgement.
    """
    rows = np.flatnonzero((block.rank <= k) & ~block.holds_target)
    wrong = _identified(block, rows).with_columns(pl.Series("judged", block.judged[rows]))
    return wrong.group_by("identity").agg(
        queries=pl.col("code").n_unique(),
        ranks=pl.col("rank").sum(),
        results=pl.len(),
        unjudged=pl.col("code").filter(~pl.col("judged")).n_unique(),
    )


def _identified(block: Context, rows: Ints) -> pl.DataFrame:
    """The results with their identity: id, else text, else document."""
    wrong = _with_columns(block.frame[rows], "item", "text", "document")
    return wrong.with_columns(identity=pl.coalesce("item", "text", "document"))


class Hubs:
    """False positives counted over blocks of queries, the most frequent first.

    An item that is returned for many unrelated queries is a hub.
    """

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []
        self._merged = 0

    def add(self, part: pl.DataFrame) -> None:
        """Add the counts of ``false_positives`` from one block."""
        self._parts.append(part)
        if sum(one.height for one in self._parts) > 2 * self._merged + _FEW:
            self._merge()

    def _merge(self) -> pl.DataFrame:
        whole = pl.concat(self._parts).group_by("identity").agg(pl.all().sum())
        self._parts, self._merged = [whole], whole.height
        return whole

    def most_frequent(self, page: slice) -> tuple[pl.DataFrame, int]:
        """One page of them, sorted by number of queries, then rank; and their total number."""
        if not self._parts:
            return pl.DataFrame(schema=_COUNTED), 0
        whole, self._parts = self._merge(), []
        ranked = (
            whole.lazy()
            .with_columns(mean_rank=pl.col("ranks") / pl.col("results"))
            .sort("queries", "mean_rank", "identity", descending=[True, False, False])
            .drop("ranks", "results")
            .collect()
        )
        # Appending "" copies the values: a plain selection would keep the whole array in memory.
        return ranked[page].with_columns(pl.col("identity") + ""), whole.height


_FEW = 200_000
_COUNTED = {
    "identity": pl.String,
    "queries": pl.UInt32,
    "unjudged": pl.UInt32,
    "mean_rank": pl.Float64,
}


def description(hubs: pl.DataFrame, k: int, block: Context) -> tuple[int, pl.DataFrame]:
    """The number of queries in a block, and its details of the given false positives."""
    rows = np.flatnonzero((block.rank <= k) & ~block.holds_target)
    codes = pl.Series("code", block.codes[block.code[rows]])
    wrong = _identified(block, rows).with_columns(codes)
    known = (
        wrong.join(hubs.select("identity"), on="identity", how="semi", nulls_equal=True)
        .sort("code", "rank")
        .group_by("identity", maintain_order=True)
        .agg(
            pl.col("code").first().alias("first"),
            pl.col("item").first(),
            pl.col("text").drop_nulls().first().str.slice(0, CUT),
            pl.col("document").first(),
            pl.col("code").unique().sort().head(EXAMPLES).alias("examples"),
        )
    )
    return block.codes.size, known


def described(
    hubs: pl.DataFrame, parts: Iterable[tuple[int, pl.DataFrame]], names: pl.Series
) -> pl.DataFrame:
    """The details of false positives: item, text, document, and example queries."""
    found, asked = [], 0
    for queries, part in parts:
        asked += queries
        found.append(part)
    if not found:
        return pl.DataFrame(schema=_FALSE_POSITIVES)
    known = (
        pl.concat(found)
        .sort("first")
        .group_by("identity")
        .agg(
            pl.col("item").first(),
            pl.col("text").drop_nulls().first(),
            pl.col("document").first(),
            pl.col("examples").explode().sort().head(EXAMPLES),
        )
    )
    return (
        hubs.join(known, on="identity", how="left", maintain_order="left", nulls_equal=True)
        .with_columns(
            share=pl.col("queries") / max(1, asked),
            examples=pl.col("examples").list.eval(
                pl.element().replace_strict(
                    np.arange(names.len()), names, return_dtype=pl.String, default=None
                )
            ),
        )
        .select(list(_FALSE_POSITIVES))
    )


_FALSE_POSITIVES: dict[str, pl.DataType | type[pl.DataType]] = {
    "item": pl.String,
    "text": pl.String,
    "document": pl.String,
    "queries": pl.UInt32,
    "share": pl.Float64,
    "mean_rank": pl.Float64,
    "unjudged": pl.UInt32,
    "examples": pl.List(pl.String),
}


def ranks_or_null(ranks: Ints) -> pl.Series:
    """Ranks as a column; null for no rank."""
    return pl.Series(np.where(ranks == NEVER, -1, ranks)).replace(-1, None)


def best_ranks(matches: Matches) -> Ints:
    """The best rank of each target."""
    best = np.full(matches.target_grade.size, NEVER, dtype=np.int64)
    np.minimum.at(best, matches.edge_target, matches.edge_rank)
    return best
