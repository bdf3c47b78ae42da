"""The one ranking that all metrics share, made batch by batch.

A batch holds whole queries, so that sorting, ranks and duplicates never need more than
it.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Literal, TypeVar

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Hashes, Ints, as_series
from calipers.model.fingerprint import (
    RankingFingerprint,
    mixed_hashes,
    suspected_duplicates,
)
from calipers.model.policy import Ties
from calipers.prefetch import ahead

Order = Literal["listed", "rank", "score"]
"""What makes the order: the list itself, a column of ranks, or scores from high to
low."""

Numbers = TypeVar("Numbers", Ints, Floats)
T = TypeVar("T")
_MOST_PADDING = 4
_NAMES = (
    ("{}", ("item",)),
    ("{}:{}-{}", ("document", "start", "end")),
    ("{}", ("text",)),
    ("{}#{}", ("document", "page")),
    ("{}", ("document",)),
)
"""What a result may be known by, the surest first, and how that is written."""


class NotGroupedError(Exception):
    """The results are not grouped by query, so batches cannot be ranked one at a time."""


@dataclass(frozen=True, eq=False)
class RankedBatch:
    """Rankings of whole queries, one after the other."""

    frame: pl.DataFrame
    starts: Ints
    """The row at which each query begins."""
    tied: Bools
    """Whether a row shares its score with a neighbour, where scores make the order."""

    @cached_property
    def queries(self) -> pl.Series:
        """The queries of the batch, in order."""
        return self.frame["query"][as_series(self.starts)]

    @cached_property
    def lengths(self) -> Ints:
        """How many results each query has."""
        return np.diff(self.starts, append=self.frame.height)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row."""
        return np.arange(1, self.frame.height + 1) - np.repeat(self.starts, self.lengths)

    def first(self, k: int | None) -> pl.DataFrame:
        """The first k results of each query, with their ranks."""
        table = self.frame.with_columns(as_series(self.rank).alias("rank"))
        # Adding nothing copies the texts: a mere selection keeps all of the batch in
        # memory.
        some = pl.col(pl.String) + ""
        return (
            table if k is None else table.filter(pl.col("rank") <= k).with_columns(some)
        )

    def query_of(self, rows: Ints) -> Ints:
        """The query of each of these rows, by number."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    @cached_property
    def identity(self) -> pl.Series:
        """What identifies a result: equal values are duplicates."""
        names = self.frame[_identity(self.frame)]
        return result_names(self.frame) if names.null_count() else names

    @cached_property
    def query_hashes(self) -> Hashes:
        """One number per query."""
        return self.queries.hash().to_numpy()

    @cached_property
    def hashes(self) -> Hashes:
        """One number per row; two rows of the same query and identity have the same."""
        return mixed_hashes(
            self.query_hashes, self.identity.hash().to_numpy(), self.lengths
        )

    @cached_property
    def suspects(self) -> Ints:
        """The rows that may be duplicates within their query."""
        return suspected_duplicates(self.hashes)

    @cached_property
    def fingerprint(self) -> RankingFingerprint:
        """This batch's part of the run's fingerprint."""
        part = RankingFingerprint()
        part.add(self.queries, self.identity, self.starts)
        return part


def _identity(frame: pl.DataFrame) -> str:
    """The identity of a result: its id, else its text, else its document."""
    return next(name for name in ("item", "text", "document") if name in frame.columns)


def result_names(frame: pl.DataFrame) -> pl.Series:
    """What each result is known by: its id, else its place, its text or its document.

    >>> result_names(pl.DataFrame({"item": ["a", None], "text": ["b", "c"]})).to_list()
    ['a', 'c']
    """
    names = [
        pl.format(form, *columns)
        for form, columns in _NAMES
        if {*columns} <= {*frame.columns}
    ]
    nothing = pl.repeat(None, pl.len(), dtype=pl.String())
    return frame.select(pl.coalesce(*names, nothing).alias("name")).to_series()


def over_ranked(
    work: Callable[[RankedBatch], T],
    frames: Iterable[pl.DataFrame],
    order: Order,
    ties: Ties,
    *,
    grouped: bool = False,
    side_by_side: bool = False,
) -> Iterator[T]:
    """What ``work`` makes of ranked batches of whole queries; frames may cut a query in two.

    Where the rows are not known to be ``grouped`` by query, that is checked on the way.
    Batches that come from a file are ranked ``side_by_side``, ahead of the consumer.
    """
    queries = whole_queries(frames)

    # In one step: each step more that works ahead holds three batches more in memory.
    def ranked(batch: tuple[pl.DataFrame, Ints]) -> T:
        return work(_rank(*batch, order, ties))

    batches = queries if grouped else _checked(queries)
    return ahead(ranked, batches) if side_by_side else map(ranked, batches)


def _checked(
    batches: Iterator[tuple[pl.DataFrame, Ints]],
) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """The same batches; raises where a query appears a second time."""
    # By hash: a collision is very rare, and costs only a needless sort.
    seen: set[int] = set()
    for frame, starts in batches:
        before = len(seen)
        seen.update(frame["query"][as_series(starts)].hash().to_list())
        if len(seen) < before + starts.size:
            raise NotGroupedError
        yield frame, starts


def query_starts(query: pl.Series) -> Ints:
    """The rows at which a new query begins."""
    starts = []
    last = None
    done = 0
    # Piece by piece: to compare a column with itself would copy it into one.
    for piece in query.get_chunks() if query.n_chunks() > 1 else (query,):
        if not len(piece):
            continue
        if not done or piece[0] != last:
            starts.append(np.array([done]))
        # What is between two columns goes without the detour over an expression.
        here = piece[1:]
        before = piece[:-1]
        differs = here.ne_missing(before) if piece.null_count() else here != before
        changes = np.flatnonzero(differs.to_numpy())
        changes += done + 1
        starts.append(changes)
        last = piece[-1]
        done = done + len(piece)
    return np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)


def whole_queries(frames: Iterable[pl.DataFrame]) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """Frames that end where a query ends, and the rows at which their queries begin."""
    held: tuple[pl.DataFrame, Ints] | None = None
    for frame in frames:
        if not frame.height:
            continue
        if held is not None:
            before, starts = held
            # The last query may go on in the next frame, so it waits for it.
            cut = int(starts[-1])
            if cut:
                yield before[:cut], starts[:-1]
            frame = _in_one_piece(pl.concat([before[cut:], frame]))
        held = frame, query_starts(frame["query"])
    if held is not None:
        yield held


def in_pieces(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows, about so many at a time: small frames together, large ones cut."""
    held: list[pl.DataFrame] = []
    n = 0
    for frame in frames:
        for piece in frame.iter_slices(rows):
            held.append(piece)
            n += piece.height
            if n >= rows:
                yield pl.concat(held) if len(held) > 1 else held[0]
                held = []
                n = 0
    if held:
        yield pl.concat(held)


def _reordered(frame: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """The frame with the rows of each query in another order; queries keep their places."""
    columns = (
        column if column.name == "query" else column.rechunk()[rows] for column in frame
    )
    return pl.DataFrame(list(columns))


def _in_one_piece(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its numbers in one piece each, as numpy takes them; texts stay as they are."""
    return pl.DataFrame(
        [column.rechunk() if column.dtype.is_numeric() else column for column in frame]
    )


def _rank(frame: pl.DataFrame, starts: Ints, order: Order, ties: Ties) -> RankedBatch:
    tied = np.zeros(frame.height, dtype=np.bool_)
    lengths = np.diff(starts, append=frame.height)
    if order == "rank":
        rows = order_within(starts, lengths, frame["rank"].to_numpy())
        frame = frame if rows is None else _reordered(frame, rows)
    elif order == "score":
        frame, tied = _by_score(frame, starts, lengths, ties)
    return RankedBatch(frame, starts, tied)


def _by_score(
    frame: pl.DataFrame, starts: Ints, lengths: Ints, ties: Ties
) -> tuple[pl.DataFrame, Bools]:
    score = frame["score"].to_numpy()
    order = order_within(starts, lengths, -score)
    if order is not None:
        frame = _reordered(frame, order)
        score = score[order]
    with_previous = within_queries(score[1:] == score[:-1], starts)
    if ties == "error" and with_previous.any():
        row = int(np.argmax(with_previous))
        name = frame[_identity(frame)]
        raise InvalidInput(
            f"Two results of query {frame['query'][row]!r} have the same score "
            f"{score[row]:g}: {name[row - 1]!r:.60} and {name[row]!r:.60}; with "
            "ties=error all scores of a query must differ (ties=trec or ties=input "
            "decide)."
        )
    tied = with_neighbour(with_previous)
    if ties == "trec":
        frame = _tied_by_id(frame, with_previous, np.flatnonzero(tied))
    return frame, tied


def within_queries(of_next: Bools, starts: Ints) -> Bools:
    """What holds between a row and the one before it, False where a query begins."""
    result = np.concatenate(([False], of_next))
    result[starts] = False
    return result


def with_neighbour(with_previous: Bools) -> Bools:
    """What holds between a row and the one before it, or the one behind it."""
    either = with_previous.copy()
    either[:-1] |= with_previous[1:]
    return either


def _tied_by_id(frame: pl.DataFrame, with_previous: Bools, rows: Ints) -> pl.DataFrame:
    """The frame with equal scores in descending order of ids; all other rows stay in place."""
    if not rows.size:
        return frame
    run = pl.Series("run", np.cumsum(~with_previous[rows]))
    order = (
        pl.DataFrame([run, frame[_identity(frame)].gather(rows).alias("name")])
        .select(
            pl.arg_sort_by("run", "name", descending=[False, True], maintain_order=True)
        )
        .to_series()
        .to_numpy()
    )
    moves = order != np.arange(rows.size)
    if not moves.any():
        return frame
    to = rows[moves]
    taken = rows[order[moves]]
    # All within a tie: what is the same in all of it need not move.
    columns = [frame[name] for name in frame.columns if name not in ("query", "score")]
    # Few rows move in most files, and a column with some values set anew is made ten times
    # as fast as one that is gathered whole.
    return frame.with_columns(
        column.clone().scatter(to, column.gather(taken)) for column in columns
    )


def order_within(starts: Ints, lengths: Ints, key: Floats) -> Ints | None:
    """The rows of each query in ascending order of a key; None where they are already."""
    if not within_queries(key[1:] < key[:-1], starts).any():
        return None
    order: Ints | None = row_by_row(
        lengths, key, partial(np.argsort, axis=1, kind="stable")
    )
    if order is not None:
        return order + np.repeat(starts, lengths)
    pair = pl.DataFrame(
        {"segment": np.repeat(np.arange(lengths.size), lengths), "key": key}
    )
    rows = pair.select(
        pl.arg_sort_by("segment", "key", maintain_order=True).cast(pl.Int64)
    )
    return rows.to_series().to_numpy()


def row_by_row(
    lengths: Ints, key: Floats, work: Callable[[Floats], Numbers]
) -> Numbers | None:
    """Apply ``work`` to a matrix with one row per query; None where it would be mostly empty."""
    widest = int(lengths.max())
    if widest * lengths.size > _MOST_PADDING * key.size:
        return None
    if widest * lengths.size == key.size:
        return work(key.reshape(-1, widest)).ravel()
    inside = np.arange(widest) < lengths[:, np.newaxis]
    keys = np.full(inside.shape, np.inf)
    keys[inside] = key
    return work(keys)[inside]
