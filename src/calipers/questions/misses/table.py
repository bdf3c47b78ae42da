"""Misses as a table to read, filter and label."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Self

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.match.id_hashes import Ids
from calipers.match.near_ids import NearPairs
from calipers.match.pieces import quotes_in_part, spans_in_part
from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Ints, as_series
from calipers.model.matched import Matches
from calipers.model.matching import MatchRule
from calipers.model.ranking import result_names
from calipers.questions.shown_results import Context

INSTEAD = 3
"""The number of results shown in place of a missed target."""
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
    what = targets[missed].select(
        "item", "quote", "document", "start", "end", "group", "grade"
    )
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


@dataclass(frozen=True, eq=False)
class MissFacts:
    """Facts about targets from the results of a block of queries; blocks can be merged."""

    codes: Ints
    target_rows: Ints
    repeats: Ints
    """The number of repeated results above each target's best rank."""
    sibling: Bools
    """Whether another chunk of the target's document is in the first k."""
    piece: Ints
    """For each target that was not returned, the first rank with a piece of it, or ``NEVER``."""
    crowd: Bools
    """Whether at least half of the first k results of each target's query repeat another.

    Fewer may stand there by chance; then nobody can say that they pushed a target out."""
    instead: pl.DataFrame
    """What was returned instead, for the wanted queries: code, instead, instead_text."""
    near: NearPairs
    """Targets and results whose ids may be alike; a result by its rank."""

    @classmethod
    def of(
        cls,
        block: Context,
        k: int,
        named: pl.DataFrame | None,
        wanted: Bools,
        rule: MatchRule,
    ) -> Self:
        """The facts of one block of whole queries, in the way the run was matched."""
        matches = block.matches
        query = matches.target_query
        rank = best_ranks(matches)
        listed = rank < NEVER
        repeats = np.zeros_like(rank)
        repeats[listed] = block.above(block.repeats, query[listed], rank[listed])
        return cls(
            block.codes,
            block.target_rows,
            repeats,
            block.near(k, named),
            piece_ranks(block, rank, rule),
            _half_repeated(block, k)[query],
            _came_instead(block, k, wanted),
            near_pairs(block) if rule.kind == "id" else no_pairs(),
        )

    @classmethod
    def merged(cls, parts: Sequence["MissFacts"], matches: Matches) -> "MissFacts":
        """The facts of all queries; queries without results have none."""
        n = matches.target_query.size
        repeats = np.zeros(n, dtype=np.int64)
        sibling = np.zeros(n, dtype=np.bool_)
        piece = np.full(n, NEVER, dtype=np.int64)
        crowd = np.zeros(n, dtype=np.bool_)
        for part in parts:
            repeats[part.target_rows] = part.repeats
            sibling[part.target_rows] = part.sibling
            piece[part.target_rows] = part.piece
            crowd[part.target_rows] = part.crowd
        instead = pl.concat([_NOTHING_INSTEAD, *(part.instead for part in parts)])
        near = NearPairs.joined([part.near for part in parts])
        everyone = np.arange(matches.n_queries)
        rows = np.arange(n)
        return cls(everyone, rows, repeats, sibling, piece, crowd, instead, near)


def piece_ranks(block: Context, rank: Ints, rule: MatchRule) -> Ints:
    """The rank of the first result with a piece of each target that was not returned.

    ``NEVER`` where no result has one. ``rank`` is the best rank of each target. Ids have no pieces.
    """
    first = np.full(rank.size, NEVER, dtype=np.int64)
    missed = np.flatnonzero((rank == NEVER) & block.matches.relevant(block.rel))
    if rule.kind == "id" or not missed.size:
        return first
    query = block.matches.target_query[missed]
    targets = block.targets[missed].with_columns(code=as_series(query))
    if rule.kind == "span":
        results = block.frame.select("code", "document", "start", "end", "rank")
        found = spans_in_part(targets, results)
    else:
        listed = block.frame.select("code", "text").group_by("code").agg("text")
        texts = dict(listed.iter_rows())
        quotes = targets.select("quote", "code").iter_rows()
        places = quotes_in_part(
            ((quote, texts.get(code, [])) for quote, code in quotes),
            ignore_case=rule.ignore_case,
        )
        found = np.array(places, dtype=np.int64)
    first[missed] = np.where(found > 0, found, NEVER)
    return first


def _half_repeated(block: Context, k: int) -> Bools:
    """The queries of which at least half of the first k results repeat one above."""
    again = np.flatnonzero(block.repeats & (block.rank <= k))
    repeated = np.bincount(block.code[again], minlength=block.lengths.size)
    return (repeated > 0) & (2 * repeated >= np.minimum(block.lengths, k))


def missed_ids(block: Context) -> Ints:
    """The targets of a block that have an id and were not returned."""
    rank = best_ranks(block.matches)
    has_id = block.targets["item"].is_not_null().to_numpy()
    return np.flatnonzero((rank == NEVER) & block.matches.relevant(block.rel) & has_id)


def of_another(query: Ints) -> Ints:
    """Each of these queries exchanged for another of them; none where there is only one."""
    codes, place = np.unique(query, return_inverse=True)
    return np.roll(codes, 1)[place] if codes.size > 1 else query[:0]


def near_pairs(block: Context, *, by_chance: bool = False) -> NearPairs:
    """Missed targets of a block and results of their query whose ids may be alike.

    ``by_chance``: where each query has the targets of another one.
    """
    if "item" not in block.frame.columns or block.frame["item"].null_count():
        return no_pairs()
    missed = missed_ids(block)
    query = block.matches.target_query[missed]
    query = of_another(query) if by_chance else query
    if not query.size:
        return no_pairs()
    names = block.targets["item"].gather(as_series(missed))
    near = NearPairs.of(Ids(query, names), Ids(block.code, block.frame["item"]))
    return replace(
        near,
        target=block.target_rows[missed][near.target],
        result=block.rank[near.result],
    )


@cache
def no_pairs() -> NearPairs:
    """No pairs, neither of a query nor by chance.

    Not made when this is imported: the table library would start its threads, and a process
    that is forked after it hangs.
    """
    return NearPairs.joined([])


_NOTHING_INSTEAD = pl.DataFrame(
    schema={
        "code": pl.Int64,
        "instead": pl.List(pl.String),
        "instead_text": pl.List(pl.String),
    }
)


def _came_instead(block: Context, k: int, wanted: Bools) -> pl.DataFrame:
    """The first results of each query that contain no target, as ids and as texts.

    A result with neither is named by its place.
    """
    if not wanted.any():
        return _NOTHING_INSTEAD
    rows = np.flatnonzero(
        (block.rank <= k) & ~block.holds_target & wanted[block.codes][block.code]
    )
    wrong = _with_columns(block.frame[rows], "item", "text")
    if wrong["item"].null_count():
        named = pl.col("item").is_not_null() | pl.col("text").is_not_null()
        place = pl.when(named).then("item").otherwise(result_names(wrong))
        wrong = wrong.with_columns(place.alias("item"))
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
    return frame.with_columns(
        pl.lit(None, dtype=pl.String).alias(name) for name in lacking
    )


def ranks_or_null(ranks: Ints) -> pl.Series:
    """Ranks as a column; null for no rank."""
    return pl.Series(np.where(ranks == NEVER, -1, ranks)).replace(-1, None)


def best_ranks(matches: Matches) -> Ints:
    """The best rank of each target."""
    best = np.full(matches.target_grade.size, NEVER, dtype=np.int64)
    np.minimum.at(best, matches.edge_target, matches.edge_rank)
    return best
