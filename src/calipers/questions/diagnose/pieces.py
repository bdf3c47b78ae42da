"""Cures for targets of which pieces came back: the best that can be, with other chunks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calipers.match.pair import match_pair
from calipers.match.pieces import first_pieces, first_span_pieces
from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Floats, Ints, as_series
from calipers.model.matching import Matching
from calipers.questions.diagnose.cures import Seen, Trial
from calipers.questions.misses.table import best_ranks
from calipers.questions.shown_results import Context


def first_piece_ranks(block: Context, matching: Matching) -> Ints:
    """The rank of the first piece of each target that several results hold together; else 0.

    Of a quote that need not be there word for word, nobody can say which result holds it alone.
    """
    first = np.zeros(block.targets.height, dtype=np.int64)
    rule = matching.rule
    is_told = rule.kind == "span" or (rule.kind == "quote" and rule.least >= 1)
    rank = best_ranks(block.matches)
    found = np.flatnonzero(
        (rank > 1) & (rank < NEVER) & block.matches.relevant(block.rel)
    )
    if not is_told or matching.level != "evidence" or not found.size:
        return first
    query = block.matches.target_query[found]
    if rule.kind == "span":
        targets = block.targets[found].with_columns(
            code=as_series(query), rank=as_series(rank[found])
        )
        results = block.frame.select("code", "document", "start", "end", "rank")
        first[found] = first_span_pieces(targets, results, rule.least)
        return first
    texts = block.frame["text"]
    last = block.place(query, rank[found])
    quotes = block.targets["quote"].gather(as_series(found)).to_list()
    listed = (
        texts[row - one + 1 : row + 1].to_list()
        for row, one in zip(last.tolist(), rank[found].tolist(), strict=True)
    )
    first[found] = first_pieces(
        zip(quotes, listed, strict=True), ignore_case=rule.ignore_case
    )
    return first


def right_document(seen: Seen, near: Bools) -> Iterator[Trial]:
    """Targets whose document is in the first k, as if the right chunk of it were."""
    recall = _recall_with(seen, near)
    if recall is None:
        return
    yield Trial(
        "right_document",
        "the right chunk",
        "at most",
        np.column_stack([recall, seen.values[:, 1]]),
        "The right document comes back, the wrong chunk of it: with the right one",
        "with neighbouring chunks",
    )


def pieces(seen: Seen, held: Bools) -> Iterator[Trial]:
    """Targets of which a piece is in the first k, as if all of it were."""
    recall = _recall_with(seen, held)
    if recall is None:
        return
    yield Trial(
        "pieces",
        "pieces made whole",
        "at most",
        np.column_stack([recall, seen.values[:, 1]]),
        "Targets are cut by the edge of a chunk: whole,",
        "with neighbours",
    )


def together(seen: Seen) -> Iterator[Trial]:
    """Targets that several results hold together, where one alone should hold each."""
    if seen.by_id or seen.pair.matching.level != "chunk":
        return
    pair = match_pair(*seen.pair.as_read, replace(seen.pair.asked, level="evidence"))
    if pair.matches.target_query.size != seen.matches.target_query.size:
        return
    yield Trial(
        "together",
        "pieces together",
        "at most",
        seen.measured(pair.matches),
        "Several results hold the target together: counted,",
        "cut otherwise",
        option="--level evidence",
    )


def uncut(seen: Seen) -> Iterator[Trial]:
    """Targets that only several results hold, as if the first of these held all of it."""
    matches = seen.matches
    is_cut = seen.first_piece > 0
    if not is_cut.any() or seen.lists is not seen.recorded:
        return
    first = seen.first_piece[matches.edge_target]
    rank = np.where(first > 0, np.minimum(first, matches.edge_rank), matches.edge_rank)
    order = np.lexsort((matches.edge_target, rank, matches.edge_query))
    whole = replace(
        matches,
        edge_query=matches.edge_query[order],
        edge_rank=rank[order],
        edge_target=matches.edge_target[order],
        edge_overlap=matches.edge_overlap[order],
    )
    yield Trial(
        "uncut",
        "targets not cut",
        "at most",
        seen.measured(whole),
        "Targets are cut over several results: each in one,",
        "cut otherwise",
    )


def _recall_with(seen: Seen, near: Bools) -> Floats | None:
    """The recall if these targets were in the first k, too; None where none is new."""
    matches = seen.matches
    is_found = np.zeros(matches.target_grade.size, dtype=np.bool_)
    is_found[matches.edge_target[matches.edge_rank <= seen.k]] = True
    # Of alternatives one is enough, be it found already.
    has_found = np.isin(matches.target_unit, matches.target_unit[is_found])
    close = np.flatnonzero(near & ~has_found & matches.relevant(seen.pair.rel))
    if not close.size:
        return None
    units = np.unique(matches.target_unit[close], return_index=True)[1]
    more = np.bincount(matches.target_query[close[units]], minlength=matches.n_queries)
    recall = seen.values[:, 0] + more / np.maximum(seen.wanted, 1)
    return np.minimum(recall, 1.0)
