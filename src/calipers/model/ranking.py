"""The one ranking that all metrics share, made batch by batch.

A batch holds whole queries, so that sorting, ranks and duplicates never need more than it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Ints
from calipers.model.policy import Ties

Order = Literal["listed", "rank", "score"]
"""What makes the order: the list itself, a column of ranks, or scores from high to low."""


class NotGroupedError(Exception):
    """A query's results do not stand together, so batches cannot be ranked one at a time."""


@dataclass(frozen=True, eq=False)
class RankedBatch:
    """Rankings of whole queries, one after the other."""

    frame: pl.DataFrame
    starts: Ints
    """The row at which each query begins."""
    rank: Ints
    tied: Bools
    """Whether a row shares its score with a neighbour, where scores make the order."""

    @property
    def queries(self) -> pl.Series:
        """The queries of the batch, in order."""
        return self.frame["query"].gather(self.starts)

    @property
    def lengths(self) -> Ints:
        """How many results each query has."""
        return np.diff(self.starts, append=self.frame.height)


def rank_batches(frames: Iterable[pl.DataFrame], order: Order, ties: Ties) -> Iterator[RankedBatch]:
    """Ranked batches of whole queries from frames that may cut a query in two."""
    seen: set[str] = set()
    for frame in _whole_queries(frames):
        starts = query_starts(frame["query"])
        names = frame["query"].gather(starts).to_list()
        before = len(seen)
        seen.update(names)
        if len(seen) != before + len(names):
            raise NotGroupedError
        yield _rank(frame, starts, order, ties)


def query_starts(query: pl.Series) -> Ints:
    """The rows at which a new query begins."""
    return (
        query.ne_missing(query.shift(1)).arg_true().to_numpy().astype(np.int64)
        if len(query) > 1
        else np.arange(len(query), dtype=np.int64)
    )


def _whole_queries(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    pending: pl.DataFrame | None = None
    for frame in frames:
        if not frame.height:
            continue
        if pending is not None:
            cut = int(query_starts(pending["query"])[-1])
            if pending["query"][-1] != frame["query"][0]:
                cut = pending.height
            if cut:
                yield pending[:cut]
            frame = (
                pl.concat([pending[cut:], frame], rechunk=True) if cut < pending.height else frame
            )
        pending = frame
    if pending is not None:
        yield pending


def _rank(frame: pl.DataFrame, starts: Ints, order: Order, ties: Ties) -> RankedBatch:
    tied = np.zeros(frame.height, dtype=np.bool_)
    lengths = np.diff(starts, append=frame.height)
    if order == "rank":
        frame = _sorted(frame, lengths, ["rank"], [False])
    elif order == "score":
        frame, tied = _by_score(frame, starts, lengths, ties)
    rank = np.arange(1, frame.height + 1) - np.repeat(starts, lengths)
    return RankedBatch(frame, starts, rank, tied)


def _by_score(
    frame: pl.DataFrame, starts: Ints, lengths: Ints, ties: Ties
) -> tuple[pl.DataFrame, Bools]:
    goes_on = np.ones(frame.height, dtype=np.bool_)
    goes_on[starts] = False
    if not _is_sorted(frame, goes_on, ties):
        columns = ["score", "item"] if ties == "trec" else ["score"]
        frame = _sorted(frame, lengths, columns, [True] * len(columns))
    score = frame["score"].to_numpy()
    with_previous = goes_on & (score == np.roll(score, 1))
    if ties == "error" and with_previous.any():
        row = int(np.argmax(with_previous))
        raise InvalidInput(
            f"Two results of query {frame['query'][row]!r} have the same score "
            f"{score[row]:g}: {frame['item'][row - 1]!r} and {frame['item'][row]!r}; with "
            "ties=error all scores of a query must differ (ties=trec or ties=input decide)."
        )
    tied = with_previous.copy()
    tied[:-1] |= with_previous[1:]
    return frame, tied


def _is_sorted(frame: pl.DataFrame, goes_on: Bools, ties: Ties) -> bool:
    score = frame["score"].to_numpy()
    previous = np.roll(score, 1)
    if (goes_on & (score > previous)).any():
        return False
    if ties != "trec":
        return True
    rows = np.flatnonzero(goes_on & (score == previous))
    item = frame["item"]
    return not (item.gather(rows) > item.gather(rows - 1)).any()


def _sorted(
    frame: pl.DataFrame, lengths: Ints, columns: list[str], descending: list[bool]
) -> pl.DataFrame:
    segment = pl.Series("__segment", np.repeat(np.arange(lengths.size), lengths))
    return (
        frame.with_columns(segment)
        .sort(["__segment", *columns], descending=[False, *descending], maintain_order=True)
        .drop("__segment")
    )
