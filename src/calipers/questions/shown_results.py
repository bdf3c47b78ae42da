"""The results of every query as a language model sees them, with the targets they contain."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.match.tally import QueryPlaces
from calipers.model.arrays import Bools, Floats, Hashes, Ints, as_series
from calipers.model.fingerprint import mixed_hashes, suspected_duplicates
from calipers.model.matched import FAILED, Matched, Matches
from calipers.model.policy import Ties
from calipers.model.run import RUN_SCHEMA, Run
from calipers.statistics.clusters import exact_mean

KEPT = ("item", "text", "document")


def list_results(
    run: Run,
    matches: Matches,
    ties: Ties | None = None,
    depth: int | None = None,
    columns: Sequence[str] = KEPT,
    among: Bools | None = None,
) -> pl.DataFrame:
    """The first ``depth`` results of every query in the ground truth.

    ``among`` restricts the queries.

    Columns: ``query`` (its code), ``rank``, what is known of the result (``columns``:
    item and text at least); ``repeated``: the same id or text is ranked above it. A query
    on which the retriever failed has no results.
    """
    kinds = {
        "query": pl.Int64(),
        "rank": pl.Int64(),
        **{name: RUN_SCHEMA[name] for name in columns},
    }
    tables = [pl.DataFrame(schema={**kinds, "repeated": pl.Boolean()})]
    for frame, codes in _known_results(run, matches, ties):
        code = frame["code"].to_numpy()
        frame = frame.with_columns(
            pl.Series("query", codes[code]), pl.Series("repeated", repeated(code, frame))
        )
        shown = pl.lit(True) if among is None else pl.Series(among[codes][code])
        listed = frame.filter(
            shown & (True if depth is None else pl.col("rank") <= depth)
        )
        tables.append(
            listed.select(
                *(
                    pl.col(name).cast(kind)
                    if name in frame
                    else pl.lit(None, kind).alias(name)
                    for name, kind in kinds.items()
                ),
                "repeated",
            )
        )
    return pl.concat(tables)


def repeated(query: Ints, results: pl.DataFrame) -> Bools:
    """Which results repeat the id or text of a higher-ranked result of the same query."""
    own = np.arange(results.height)
    again = np.zeros(results.height, dtype=np.bool_)
    for column in ("item", "text"):
        again |= first_with(query, results, column) != own
    return again


def first_with(query: Ints, results: pl.DataFrame, column: str) -> Ints:
    """The first row of the same query with the same value; a row's own number without one."""
    own = np.arange(results.height)
    if column not in results.columns or results[column].null_count() == results.height:
        return own
    values = results[column]
    if not values.null_count():
        return first_equal(query, values.hash().to_numpy(), values.gather)
    known = np.flatnonzero(values.is_not_null().to_numpy())
    values = values.gather(as_series(known))
    first = first_equal(query[known], values.hash().to_numpy(), values.gather)
    own[known] = known[first]
    return own


_FEW = 1_000
"""Up to so many values are compared one by one."""


def first_equal(
    query: Ints, hashes: Hashes, values_at: Callable[[pl.Series], pl.Series]
) -> Ints:
    """The first row of the same query with the same value, whose hashes these are.

    Only values with equal hashes are asked for, by their rows, and compared; most are unique.
    """
    first = np.arange(query.size)
    mixed = mixed_hashes(query.astype(np.uint64), hashes)
    few = np.sort(suspected_duplicates(mixed))
    if not few.size:
        return first
    values = values_at(as_series(few))
    if few.size <= _FEW:
        # Quicker than starting polars.
        known: dict[tuple[int, object], int] = {}
        for row, code, value in zip(
            few.tolist(), query[few].tolist(), values, strict=True
        ):
            first[row] = known.setdefault((code, value), row)
        return first
    groups = pl.DataFrame({"query": query[few], "value": values, "row": few})
    same = groups.select(pl.col("row").first().over("query", "value")).to_series()
    first[few] = same.to_numpy()
    return first


@dataclass(frozen=True, eq=False)
class Context:
    """A block of whole queries: their results, sorted by query and rank, and their targets.

    Questions about results process one block at a time.
    """

    frame: pl.DataFrame
    """code (of the query within the block), rank, and item, text, document, tokens where
    known."""
    matches: Matches
    """The matches of these queries only."""
    targets: pl.DataFrame
    """In the order in which the matches number them."""
    rel: float | None
    codes: Ints
    """The rows of these queries in the whole ground truth."""
    target_rows: Ints
    """The rows of their targets in the whole ground truth."""

    @cached_property
    def code(self) -> Ints:
        """The query of each result."""
        return self.frame["code"].to_numpy()

    @cached_property
    def rank(self) -> Ints:
        """The rank of each result."""
        return self.frame["rank"].to_numpy()

    @cached_property
    def holds_target(self) -> Bools:
        """Which results contain a relevant target."""
        held = self.matches.relevant(self.rel)[self.matches.edge_target]
        query = self.matches.edge_query[held]
        rank = self.matches.edge_rank[held]
        starts, lengths = self._stretches
        there = rank <= lengths[query]
        mask = np.zeros(self.frame.height, dtype=np.bool_)
        mask[(starts[query] + rank - 1)[there]] = True
        return mask

    @cached_property
    def grade(self) -> Floats:
        """The highest grade of the targets that each result contains, 0 where there is none."""
        edges = self.matches
        starts, lengths = self._stretches
        there = edges.edge_rank <= lengths[edges.edge_query]
        rows = (starts[edges.edge_query] + edges.edge_rank - 1)[there]
        highest = np.zeros(self.frame.height)
        np.maximum.at(highest, rows, edges.target_grade[edges.edge_target[there]])
        return highest

    @cached_property
    def same_id(self) -> Ints:
        """The first row of the same query with the same id: a row's own number where it is new."""
        return first_with(self.code, self.frame, "item")

    @cached_property
    def same_text(self) -> Ints:
        """The first row of the same query with the same text."""
        return first_with(self.code, self.frame, "text")

    @cached_property
    def repeats(self) -> Bools:
        """Which results were returned before for the same query, by id or word for word."""
        own = np.arange(self.frame.height)
        repeats: Bools = (self.same_id != own) | (self.same_text != own)
        return repeats

    @property
    def lengths(self) -> Ints:
        """The number of results of each query."""
        return self._stretches[1]

    @cached_property
    def _stretches(self) -> tuple[Ints, Ints]:
        """The first row and the number of results of each query."""
        lengths = np.bincount(self.code, minlength=self.matches.n_queries)
        return np.cumsum(lengths) - lengths, lengths

    def summed(self, weights: Ints | Bools, ks: Sequence[int]) -> Ints:
        """The sum over the first k results: one row per query, one column per k."""
        before = np.concatenate([[0], np.cumsum(weights, dtype=np.int64)])
        starts, lengths = self._stretches
        ends = starts[:, np.newaxis] + np.minimum(lengths[:, np.newaxis], np.array(ks))
        sums: Ints = before[ends] - before[starts][:, np.newaxis]
        return sums

    def place(self, query: Ints, rank: Ints) -> Ints:
        """The rows of results, by query and rank."""
        return self._stretches[0][query] + rank - 1

    def above(self, which: Bools, query: Ints, rank: Ints) -> Ints:
        """How many of these results are above a rank of a query."""
        # Mostly they are few, and so is a search for each rank.
        rows = np.flatnonzero(which)
        starts, lengths = self._stretches
        first = starts[query]
        end = first + np.minimum(rank - 1, lengths[query])
        return np.searchsorted(rows, end) - np.searchsorted(rows, first)

    def near(self, k: int, named: pl.DataFrame | None = None) -> Bools:
        """Which targets have a chunk of their document among the first k results of their query.

        ``named``: the documents of items, for results that do not name theirs.
        """
        is_named = named is not None and not named.is_empty()
        if not is_named and "document" not in self.frame.columns:
            return np.zeros(self.targets.height, dtype=np.bool_)
        shown = self.first(k)
        if named is not None and is_named:
            known = shown.select("item").join(
                named, on="item", how="left", maintain_order="left"
            )
            own = shown["document"] if "document" in shown.columns else pl.Series([None])
            shown = shown.with_columns(document=pl.coalesce(own, known["document"]))
        wanted = {"code": self.matches.target_query, "document": self.targets["document"]}
        there = (
            shown.select("code", "document").drop_nulls().unique().with_columns(near=True)
        )
        near = pl.DataFrame(wanted).join(
            there, on=["code", "document"], how="left", maintain_order="left"
        )
        return near["near"].fill_null(False).to_numpy()

    def first(self, k: int) -> pl.DataFrame:
        """The first k results of each query."""
        return self.frame.filter(pl.col("rank") <= k)


ROWS_AT_ONCE = 1 << 17
"""The number of results per block."""


Answer = TypeVar("Answer")


def over_contexts(
    pair: Matched, work: Callable[[Context], Answer], targets: pl.DataFrame | None = None
) -> Iterator[Answer]:
    """Apply ``work`` to the results of every query in the ground truth, in blocks of whole queries.

    In the order of the run, which is read again: nothing of it stays in memory. A query
    on which the retriever failed has no results. ``targets`` replace those of the pair if
    they have more fields.
    """
    targets = pair.targets if targets is None else targets
    for frame, codes in _known_results(pair.run, pair.matches, pair.policy.ties):
        yield work(Context(frame, *_cut(pair, targets, codes)))


def _known_results(
    run: Run, matches: Matches, ties: Ties | None
) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """The frame of a ``Context``, and the rows of its queries in the ground truth."""
    places = QueryPlaces(matches.query_rows["query"])
    failed = matches.having_status(FAILED)
    for batch in run.ranked(ties, ROWS_AT_ONCE):
        rows = places.following(batch.queries)
        kept = np.flatnonzero((rows >= 0) & ~failed[rows])
        kept = kept[np.argsort(rows[kept], kind="stable")]
        frame = batch.frame
        lengths = batch.lengths[kept]
        if kept.size < rows.size or (kept[1:] < kept[:-1]).any():
            within = np.arange(lengths.sum()) - np.repeat(
                np.cumsum(lengths) - lengths, lengths
            )
            frame = frame[np.repeat(batch.starts[kept], lengths) + within]
            rank = within + 1
        else:
            rank = batch.rank
        if kept.size:
            code = np.repeat(np.arange(kept.size), lengths)
            numbers = [as_series(code).alias("code"), as_series(rank).alias("rank")]
            others = frame.drop("query", "rank", strict=False)
            yield pl.DataFrame([*numbers, *others]), rows[kept]


def _cut(
    pair: Matched, targets: pl.DataFrame, codes: Ints
) -> tuple[Matches, pl.DataFrame, float | None, Ints, Ints]:
    """The matches and targets of some queries."""
    matches, rows = pair.matches.some(codes)
    together = rows.size and rows[-1] - rows[0] + 1 == rows.size
    part = targets[int(rows[0]) : int(rows[-1]) + 1] if together else targets[rows]
    return matches, part, pair.rel, codes, rows


def relevant_units(matches: Matches, rel: float | None = None) -> tuple[Ints, Ints]:
    """The unit of each target (alternatives share one), and the query of each unit.

    A target that is not relevant has the number -1.
    """
    relevant = matches.relevant(rel)
    units, number = np.unique(matches.target_unit[relevant], return_inverse=True)
    query = np.zeros(units.size, dtype=np.int64)
    query[number] = matches.target_query[relevant]
    of_target = np.full(relevant.size, -1)
    of_target[relevant] = number
    return of_target, query


def wanted_per_query(matches: Matches, rel: float | None = None) -> Ints:
    """The number of targets per query; alternatives count as one."""
    return np.bincount(relevant_units(matches, rel)[1], minlength=matches.n_queries)


def known_in_run(pair: Matched, name: str, items: pl.Series) -> pl.DataFrame:
    """Look up a field (document, text) of some items in the results; columns ``item`` and it.

    An item may be in the results of many queries: the first value in the order of the
    ground truth wins.
    """
    sought = items.drop_nulls().unique()
    known = [pl.DataFrame(schema={"item": pl.String(), name: pl.String()})]
    if pair.run.has("item", name) and len(sought):
        values = pl.concat(over_contexts(pair, partial(_first_values, name, sought)))
        first = values.sort("code", "rank").unique(
            "item", keep="first", maintain_order=True
        )
        known.append(first.select("item", name))
    return pl.concat(known)


def _first_values(name: str, sought: pl.Series, context: Context) -> pl.DataFrame:
    """The first values in a block for the items that are looked up."""
    values = context.frame.select("code", "rank", "item", name).drop_nulls()
    values = values.join(
        sought.to_frame("item"), on="item", how="semi", maintain_order="left"
    )
    first = values.unique("item", keep="first", maintain_order=True)
    return first.with_columns(pl.Series("code", context.codes[first["code"].to_numpy()]))


def with_documents(pair: Matched, targets: pl.DataFrame | None = None) -> pl.DataFrame:
    """The targets of a pair, with documents from the run filled in by id."""
    targets = pair.targets if targets is None else targets
    unnamed = targets.filter(pl.col("document").is_null())["item"]
    known = known_in_run(pair, "document", unnamed)
    if known.is_empty():
        return targets
    named = targets.select("item").join(
        known, on="item", how="left", maintain_order="left"
    )
    return targets.with_columns(pl.coalesce("document", named["document"]))


def wanted_one_by_one(pair: Matched) -> Ints | None:
    """The number of targets per query, if a result contains at most one.

    None if a result may contain several quotes or spans: then precision has no ceiling.
    """
    by_item = pair.recorded.match in ("id", "document")
    limited = by_item and pair.matches.is_one_to_one
    return wanted_per_query(pair.matches, pair.rel) if limited else None


def ceilings(targets: Ints, k: int) -> tuple[float | None, float | None]:
    """The highest possible recall and precision at k if a result contains at most one target.

    >>> ceilings(np.array([1, 4]), 2)
    (0.75, 0.75)
    """
    targets = targets[targets > 0]
    if not targets.size:
        return None, None
    reachable = np.minimum(targets, k).astype(np.float64)
    return exact_mean(reachable / targets), exact_mean(reachable / k)
