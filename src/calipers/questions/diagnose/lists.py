"""The results of every query as arrays, and matches after the results were put in another order."""

from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.match.tokens import count_tokens
from calipers.model.arrays import Bools, Floats, Hashes, Ints, as_series, order_by
from calipers.model.matched import Matches
from calipers.questions.shown_results import Context

NOWHERE = 0
"""The new rank of a result that is left out."""


_HUB = 0.2
"""A document is a hub if it stands first for at least this share of the queries."""
_HUBS = 0.5
"""Several are hubs if each stands first for at least this share, once those before are gone."""
_MOST_HUBS = 5
_NO_TOPS = pl.DataFrame(schema={"hash": pl.UInt64, "name": pl.String})


@dataclass(frozen=True, eq=False)
class Lists:
    """Every result that was returned, one row each, the results of a query in their order."""

    query: Ints
    rank: Ints
    row: Ints
    """The number of each result in the run as it was recorded."""
    same_id: Ints
    """The first row of the same query with the same id: its own number where it is new."""
    same_text: Ints
    """The same by text."""
    name: Hashes
    """A hash of the document, or else of the id."""
    score: Floats | None
    """NaN where a result has none; None where no result has one."""
    tops: pl.DataFrame
    """The names of what stands first: hash, name."""
    tokens: Ints | None
    """What each costs a language model; None where that is not known of all results."""
    n_queries: int

    @classmethod
    def joined(cls, parts: "list[Lists]", n_queries: int) -> "Lists":
        """The rows of several blocks."""
        if not parts:
            none = np.empty(0, dtype=np.int64)
            hashes = np.empty(0, dtype=np.uint64)
            return cls(
                none, none, none, none, none, hashes, None, _NO_TOPS, None, n_queries
            )
        row = np.arange(sum(part.query.size for part in parts))
        scores = [part.score for part in parts if part.score is not None]
        tokens = [part.tokens for part in parts if part.tokens is not None]
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.rank for part in parts]),
            row,
            _joined_rows([part.same_id for part in parts], row),
            row
            if all(part.same_text is part.row for part in parts)
            else _joined_rows([part.same_text for part in parts], row),
            np.concatenate([part.name for part in parts]),
            np.concatenate(scores) if len(scores) == len(parts) else None,
            _each_top([part.tops for part in parts]),
            np.concatenate(tokens) if len(tokens) == len(parts) else None,
            n_queries,
        )

    @classmethod
    def of(cls, block: Context) -> "Lists":
        """The rows of one block, with the codes of the whole ground truth."""
        frame = block.frame
        score = None
        if "score" in frame.columns and frame["score"].null_count() < frame.height:
            score = frame["score"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        name, tops = names_of(block)
        own = np.arange(frame.height)
        return cls(
            block.codes[block.code],
            block.rank,
            own,
            block.same_id,
            block.same_text if "text" in frame.columns else own,
            name,
            score,
            tops,
            next((counts for _, counts in count_tokens(frame)), None),
            0,
        )

    def some(self, queries: Ints) -> tuple["Lists", Ints]:
        """The lists of these ascending queries, all of which have results, and their rows."""
        order = np.argsort(self.starts[queries])
        first = self.starts[queries][order]
        many = self.lengths[queries][order]
        rows = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(many.sum())
        part = replace(
            self,
            query=np.repeat(order, many),
            rank=self.rank[rows],
            row=np.arange(rows.size),
            same_id=np.searchsorted(rows, self.same_id[rows]),
            same_text=np.searchsorted(rows, self.same_text[rows]),
            name=self.name[rows],
            score=None if self.score is None else self.score[rows],
            tokens=None if self.tokens is None else self.tokens[rows],
            n_queries=queries.size,
        )
        return part, rows

    def renamed(
        self, same_id: list[Ints], name: list[Hashes], tops: list[pl.DataFrame]
    ) -> "Lists":
        """The lists as they were recorded, block by block under other names."""
        renamed = replace(
            self,
            same_id=_joined_rows(same_id, self.row),
            name=np.concatenate(name),
            tops=_each_top(tops),
        )
        for known in ("lengths", "starts", "reversed", "_is_new"):
            if known in vars(self):
                vars(renamed)[known] = vars(self)[known]
        return renamed

    @cached_property
    def lengths(self) -> Ints:
        """The number of results of each query."""
        return np.bincount(self.query, minlength=self.n_queries)

    @cached_property
    def starts(self) -> Ints:
        """The row of the first result of each query; meaningless where it has none."""
        starts = np.zeros(self.n_queries, dtype=np.int64)
        first = np.flatnonzero(self.rank == 1)
        starts[self.query[first]] = first
        return starts

    @cached_property
    def repeats(self) -> Bools:
        """Which results repeat the id of one above them."""
        repeats: Bools = self.same_id != np.arange(self.rank.size)
        return repeats

    @cached_property
    def text_repeats(self) -> Bools:
        """Which results repeat the id or the text of one above them."""
        repeats: Bools = self.repeats | (self.same_text != np.arange(self.rank.size))
        return repeats

    @cached_property
    def hubs(self) -> tuple[Hashes, int]:
        """What stands first in many lists, or behind such a hub, and in how many the first does."""
        answered = float((self.lengths > 0).sum())
        least = max(3.0, _HUB * answered)
        hubs: list[np.uint64] = []
        first_count = 0
        top = np.flatnonzero(self.rank == 1)
        while top.size and len(hubs) < _MOST_HUBS:
            names, counts = np.unique(self.name[top], return_counts=True)
            most = int(np.argmax(counts))
            if counts[most] < least:
                break
            hubs.append(names[most])
            least = max(least, _HUBS * answered)
            first_count = first_count or int(counts[most])
            if first_count < least:
                break
            rest = np.flatnonzero(~np.isin(self.name, hubs))
            top = rest[np.diff(self.query[rest], prepend=-1) != 0]
        return np.array(hubs, dtype=np.uint64), first_count

    def is_hub_at(self, rank: int) -> bool:
        """Whether one result has this rank in at least half of all lists."""
        _, counts = np.unique(self.name[self.rank == rank], return_counts=True)
        answered = int((self.lengths > 0).sum())
        return int(counts.max(initial=0)) >= max(3.0, _HUBS * answered)

    @cached_property
    def reversed(self) -> Ints:
        """The rank of each result when every list is read from its end."""
        return self.lengths[self.query] + 1 - self.rank

    @cached_property
    def _is_new(self) -> Bools:
        """Which rows but the first are of another query than the row above."""
        is_new: Bools = self.query[1:] != self.query[:-1]
        return is_new

    def ranked_by(self, keys: Floats) -> Ints:
        """The rank of each result when each query is sorted by a key, smallest first.

        Equal keys keep their order, and NaN comes last. The ranks themselves where they are sorted.
        """
        before = keys[:-1]
        behind = keys[1:]
        if (self._is_new | (before <= behind)).all():
            return self.rank
        if (self._is_new | (before > behind)).all():
            return self.reversed
        order = np.lexsort((self.rank, keys, self.query))
        place = np.empty(self.rank.size, dtype=np.int64)
        query = self.query[order]
        new = np.flatnonzero(np.diff(query, prepend=-1))
        sizes = np.diff(new, append=query.size)
        place[order] = np.arange(query.size) - np.repeat(new, sizes) + 1
        return place

    def without(self, left_out: Bools) -> Ints:
        """The rank of each result once some are left out and the others move up."""
        before: Ints = np.cumsum(left_out) - left_out
        above: Ints = before - before[self.starts[self.query]]
        return np.where(left_out, NOWHERE, self.rank - above)

    def called(self, name: np.uint64) -> str | None:
        """What something is called that stood first in a recorded list."""
        found = self.tops.filter(pl.col("hash") == int(name))["name"]
        return None if found.is_empty() else found[0]

    def places(self, recorded: "Lists") -> Ints:
        """Where each result of the recorded lists is now; ``NOWHERE``: it was left out."""
        place = np.full(recorded.rank.size, NOWHERE, dtype=np.int64)
        place[self.row] = self.rank
        return place

    def shown_at(self, k: int) -> int:
        """How many results there are in the first k of all lists."""
        return int(np.minimum(self.lengths, k).sum())

    def tokens_at(self, k: int) -> float | None:
        """The mean tokens of the first k results; None where tokens are not known."""
        if self.tokens is None:
            return None
        return float(self.tokens[self.rank <= k].sum()) / max(
            1, int((self.lengths > 0).sum())
        )

    def moved(self, place: Ints) -> "Lists":
        """The lists with each result at its new rank."""
        kept = np.flatnonzero(place != NOWHERE)
        lengths = np.bincount(self.query[kept], minlength=self.n_queries)
        starts = np.cumsum(lengths) - lengths
        order = np.empty(kept.size, dtype=np.int64)
        order[starts[self.query[kept]] + place[kept] - 1] = kept
        return Lists(
            self.query[order],
            place[order],
            self.row[order],
            _renumbered(self.same_id, order),
            _renumbered(self.same_text, order),
            self.name[order],
            None if self.score is None else self.score[order],
            self.tops,
            None if self.tokens is None else self.tokens[order],
            self.n_queries,
        )


def names_of(block: Context) -> tuple[Hashes, pl.DataFrame]:
    """A hash of what each result is called, and the names of what stands first."""
    frame = block.frame
    named = [name for name in ("document", "item", "text") if name in frame.columns]
    # A column alone is no new column; texts are hashed once.
    name = (
        frame[named[0]]
        if len(named) == 1
        else frame.select(pl.coalesce(*named)).to_series()
    )
    hashes = name.hash()
    first = as_series(np.flatnonzero(block.rank == 1))
    tops = pl.DataFrame({"hash": hashes.gather(first), "name": name.gather(first)})
    return hashes.to_numpy(), tops


def _joined_rows(parts: list[Ints], row: Ints) -> Ints:
    """Rows of several blocks, numbered on; ``row`` itself where each is its own."""
    same = np.concatenate(parts)
    start = 0
    for part in parts:
        same[start : start + part.size] += start
        start += part.size
    return row if (same == row).all() else same


def _each_top(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """What stands first in the lists of several blocks, each once."""
    return pl.concat(parts).unique("hash", maintain_order=True)


def _renumbered(same: Ints, order: Ints) -> Ints:
    """Which row is the first of its kind, after rows were put in another order."""
    if (same == np.arange(same.size)).all():
        return np.arange(order.size)
    kind = same[order]
    rows = np.arange(order.size)
    first = np.full(same.size, order.size, dtype=np.int64)
    np.minimum.at(first, kind, rows)
    return first[kind]


def _rows_of_first_pieces(matches: Matches, lists: Lists, pieces: Ints) -> Ints:
    """For each edge the row of the target's first piece; -1 where a result holds it whole."""
    order = np.lexsort((matches.edge_rank, matches.edge_target))
    # What stands further down for the same target holds it whole.
    nearest = order[np.diff(matches.edge_target[order], prepend=-1) != 0]
    first = pieces[matches.edge_target[nearest]]
    cut = nearest[first > 0]
    begin = np.full(matches.edge_target.size, -1, dtype=np.int64)
    begin[cut] = lists.starts[matches.edge_query[cut]] + first[first > 0] - 1
    return begin


def matches_after(
    matches: Matches,
    lists: Lists,
    place: Ints,
    *,
    by_id: bool,
    pieces: Ints | None = None,
) -> Matches:
    """The matches after every result went to its new rank; ``NOWHERE``: it is left out.

    By id this is what matching the changed lists would give. By quote and span the share of a
    target that several results hold together is taken as it was. ``pieces``: the rank of the first
    piece of each such target, 0 for others; it is held where its first and last piece both are.
    """
    row = lists.starts[matches.edge_query] + matches.edge_rank - 1
    edge = np.arange(row.size)
    if lists.repeats.any():
        # A copy holds what the first one holds.
        copies = np.flatnonzero(lists.repeats)
        is_first = np.zeros(place.size, dtype=np.bool_)
        is_first[lists.same_id[copies]] = True
        order = np.flatnonzero(is_first[row])
        order = order[np.argsort(row[order], kind="stable")]
        first = np.searchsorted(row[order], lists.same_id[copies])
        behind = np.searchsorted(row[order], lists.same_id[copies], side="right")
        many = behind - first
        at = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
        edge = np.concatenate([edge, order[at]])
        row = np.concatenate([row, np.repeat(copies, many)])
    rank = place[row]
    if pieces is not None and pieces.any():
        begin = _rows_of_first_pieces(matches, lists, pieces)[edge]
        cut = np.flatnonzero(begin >= 0)
        there = place[begin[cut]]
        is_there = (rank[cut] != NOWHERE) & (there != NOWHERE)
        rank[cut] = np.where(is_there, np.maximum(rank[cut], there), NOWHERE)
    kept = rank != NOWHERE
    edge = edge[kept]
    rank = rank[kept]
    target = matches.edge_target[edge]
    is_each_once = int(np.bincount(target).max(initial=0)) <= 1
    if not is_each_once and (by_id or lists.repeats.any()):
        order = np.lexsort((rank, target))
        best = order[np.flatnonzero(np.diff(target[order], prepend=-1))]
        edge = edge[best]
        rank = rank[best]
        target = target[best]
    query = matches.edge_query[edge]
    order = order_by(query, rank, target)
    retrieved = matches.retrieved
    kept_rows = place != NOWHERE
    if not kept_rows.all():
        left = np.bincount(lists.query[kept_rows], minlength=lists.n_queries)
        retrieved = np.where(lists.lengths > 0, left, retrieved)
    return matches.with_edges(
        query[order],
        rank[order],
        target[order],
        matches.edge_overlap[edge][order],
        retrieved,
    )
