"""Where each target stands, and how many competitors stand above it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.measures.views import NEVER, Found, per_query
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matched import Matched, Matches
from calipers.questions.shown_results import Context, over_contexts, with_documents
from calipers.statistics.growth import Standing

ONE = np.ones(1)
MOST_RESULTS = 200
"""Documents with more results than these are counted as having so many."""


def counts_documents(pair: Matched) -> bool:
    """Whether results name their documents and are not documents themselves."""
    return not pair.matching.at_documents and pair.run.has("document")


def standing_of_targets(
    pair: Matched, rel: float | None, *, deepest: int, thin: bool
) -> Standing:
    """Where all targets stand; ``thin`` prepares for a part of the corpus.

    ``deepest``: only results down to this rank say how many results a document has.
    """
    if not counts_documents(pair):
        return _by_results(pair.matches, rel)
    return _by_documents(pair, rel, deepest, thin=thin)


def first_of_each(standing: Standing) -> Standing:
    """Only the first target of each query, found or not."""
    rank = np.where(standing.rank == 0, NEVER, standing.rank)
    order = np.lexsort((rank, standing.query))
    first = np.sort(order[np.diff(standing.query[order], prepend=-1) != 0])
    pieces = standing.pieces
    if pieces is not None:
        owner = np.repeat(np.arange(standing.rank.size), standing.above)
        pieces = pieces[np.isin(owner, first)]
    return replace(
        standing,
        query=standing.query[first],
        rank=standing.rank[first],
        above=standing.above[first],
        beside=standing.beside[first],
        listed=standing.listed[first],
        pieces=pieces,
    )


def _by_results(matches: Matches, rel: float | None) -> Standing:
    """Every result that holds no target is a competitor."""
    found = Found.of(matches, rel)
    place = (found.holding_query << 32) + found.holding_rank
    is_found = found.rank < NEVER
    listed = matches.retrieved[found.query]
    # A target that was not found stands below the whole list.
    rank = np.where(is_found, found.rank, listed + 1)
    start = np.searchsorted(place, found.query << 32)
    beside = np.searchsorted(place, (found.query << 32) + rank) - start
    return Standing(
        found.query,
        np.where(is_found, found.rank, 0),
        rank - 1 - beside,
        beside,
        listed,
        matches.n_queries,
        ONE,
    )


@dataclass(frozen=True, eq=False)
class _Block:
    """The targets of some queries."""

    query: Ints
    rank: Ints
    above: Ints
    beside: Ints
    listed: Ints
    often: Floats
    """How many documents above targets have at least 1, 2, … results there."""
    pieces: Ints | None


def _by_documents(
    pair: Matched, rel: float | None, deepest: int, *, thin: bool
) -> Standing:
    """Every document without a target of the query is a competitor."""
    blocks = [
        _of_block(context, rel, deepest, thin=thin)
        for context in over_contexts(pair, lambda context: context, with_documents(pair))
    ]
    blocks += _unanswered(pair.matches, rel, [block.query for block in blocks], thin=thin)
    often = np.sum([block.often for block in blocks], axis=0)
    exactly = often - np.append(often[1:], 0.0)
    largest = int(np.flatnonzero(exactly).max(initial=0)) + 1
    sizes = exactly[:largest] / exactly.sum() if exactly.sum() else ONE
    query = np.concatenate([block.query for block in blocks])
    order = np.argsort(query, kind="stable")
    above = np.concatenate([block.above for block in blocks])
    pieces = None
    if thin and sizes.size > 1:
        parts = [block.pieces for block in blocks if block.pieces is not None]
        pieces = _reordered(np.concatenate(parts), above, order)
    return Standing(
        query[order],
        np.concatenate([block.rank for block in blocks])[order],
        above[order],
        np.concatenate([block.beside for block in blocks])[order],
        np.concatenate([block.listed for block in blocks])[order],
        pair.matches.n_queries,
        sizes,
        pieces,
    )


def _reordered(pieces: Ints, lengths: Ints, order: Ints) -> Ints:
    """Stretches of an array in another order."""
    starts = np.cumsum(lengths) - lengths
    wanted = lengths[order]
    within = np.arange(wanted.sum()) - np.repeat(np.cumsum(wanted) - wanted, wanted)
    reordered: Ints = pieces[np.repeat(starts[order], wanted) + within]
    return reordered


def _unanswered(
    matches: Matches, rel: float | None, seen: list[Ints], *, thin: bool
) -> Iterator[_Block]:
    """The targets of queries without results: nothing is known of their competitors."""
    found = Found.of(matches, rel)
    known = np.zeros(matches.n_queries, dtype=np.bool_)
    for query in seen:
        known[query] = True
    query = found.query[~known[found.query]]
    none = np.zeros(query.size, dtype=np.int64)
    empty = np.empty(0, dtype=np.int64) if thin else None
    yield _Block(query, none, none, none, none, np.zeros(MOST_RESULTS), empty)


def _of_block(context: Context, rel: float | None, deepest: int, *, thin: bool) -> _Block:
    """The targets of a block of queries, with the competing documents above them."""
    found = Found.of(context.matches, rel)
    code = context.code
    lengths = np.bincount(code, minlength=context.matches.n_queries)
    starts = np.cumsum(lengths) - lengths
    document = _document_numbers(context)
    competes = ~_of_a_target(context, rel, document)
    nth = _nth_of_document(document, competes)
    is_found = found.rank < NEVER
    listed = lengths[found.query]
    end = starts[found.query] + np.where(is_found, found.rank - 1, listed)
    above = _between(competes & (nth == 1), starts[found.query], end)
    beside = _between(~competes, starts[found.query], end)
    # A document has as many results above a target as rows there have it for the nth time.
    below = np.zeros(code.size + 1)
    np.add.at(below, starts[found.query], 1.0)
    np.subtract.at(below, end, 1.0)
    weight = np.cumsum(below)[:-1]
    counted = competes & (context.rank <= deepest)
    often = per_query(
        np.minimum(nth[counted], MOST_RESULTS) - 1, MOST_RESULTS, weight[counted]
    )
    pieces = _pieces(document, competes, starts[found.query], end) if thin else None
    rank = np.where(is_found, found.rank, 0)
    return _Block(context.codes[found.query], rank, above, beside, listed, often, pieces)


def _document_numbers(context: Context) -> Ints:
    """One number per query and document; a result without a document is one of its own."""
    names = context.frame["document"]
    number = names.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    unknown = number == 0
    number[unknown] = number.max(initial=0) + 1 + np.arange(unknown.sum())
    return (context.code << 32) + number


def _of_a_target(context: Context, rel: float | None, document: Ints) -> Bools:
    """Which results hold a target, or come from a document that has one for this query."""
    matches = context.matches
    relevant = matches.relevant(rel)
    own = (
        document[context.holds_target]
        if rel == context.rel
        else _holding(context, document, rel)
    )
    wanted = pl.DataFrame(
        {
            "code": matches.target_query[relevant],
            "document": context.targets["document"].filter(pl.Series(relevant)),
        }
    ).drop_nulls()
    results = context.frame.select("code", "document").with_row_index("row")
    named = results.join(wanted.unique(), on=["code", "document"], how="semi")["row"]
    mine = np.isin(document, own)
    mine[named.to_numpy()] = True
    return mine


def _holding(context: Context, document: Ints, rel: float | None) -> Ints:
    """The documents of the results that hold a target of this threshold."""
    matches = context.matches
    held = matches.relevant(rel)[matches.edge_target]
    return document[context.place(matches.edge_query[held], matches.edge_rank[held])]


def _nth_of_document(document: Ints, competes: Bools) -> Ints:
    """1 where a competing document comes for the first time, 2 for the second, and so on."""
    nth = np.zeros(document.size, dtype=np.int64)
    rows = np.flatnonzero(competes)
    order = rows[np.argsort(document[rows], kind="stable")]
    first = np.flatnonzero(np.diff(document[order], prepend=-1))
    lengths = np.diff(first, append=order.size)
    nth[order] = np.arange(order.size) - np.repeat(first, lengths) + 1
    return nth


def _between(rows: Bools, start: Ints, end: Ints) -> Ints:
    """How many of these rows lie in each stretch."""
    before = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
    counts: Ints = before[end] - before[start]
    return counts


def _pieces(document: Ints, competes: Bools, start: Ints, end: Ints) -> Ints:
    """The results of every competing document in each stretch, stretch by stretch."""
    lengths = end - start
    owner = np.repeat(np.arange(start.size), lengths)
    row = np.arange(lengths.sum()) - np.repeat(
        np.cumsum(lengths) - lengths - start, lengths
    )
    kept = competes[row]
    pairs = np.stack([owner[kept], document[row[kept]]])
    return np.unique(pairs, axis=1, return_counts=True)[1].astype(np.int64)
