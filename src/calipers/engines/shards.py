"""Group rows by query, on disk where they do not fit into memory.

Rows that fit into the memory allowed are sorted there. Else they are divided by a hash of
their query into the shards of one temporary file, so that all rows of a query are in one
shard, and each shard is sorted by itself. The file has no name: the system removes it
when the process ends, however it ends.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.io.files.spill import SHARE_TO_HOLD, Piece, ScratchFile, memory_in_bytes
from calipers.model.ranking import query_starts
from calipers.model.run import Scan, bytes_of, in_query_order
from calipers.prefetch import ahead

SHARDS = 256
"""Three are in memory at a time, so that a run may be some thirty times as large as the
memory."""
_FEW_ROWS = 1 << 17
"""Fewer rows than these are sorted without dividing them."""
_ROWS_AT_ONCE = 1 << 18
"""Rows that are divided or sorted together: with fewer, the overhead of a batch exceeds
the work on its rows."""
_SMALL = 1 << 20
"""Shards of fewer bytes are sorted together."""


@dataclass(frozen=True)
class Shards:
    """Groups rows by query within a bound of memory."""

    memory: str | int | None = None
    """Such as "2GB"; None: half of what is free."""

    def __post_init__(self) -> None:
        if self.memory is not None:
            memory_in_bytes(self.memory)

    @cached_property
    def _bytes(self) -> int:
        return memory_in_bytes(self.memory)

    def __call__(self, scan: Scan) -> Scan:
        """The frames grouped by query, with each query's rows in their order."""
        held: list[pl.DataFrame] = []
        frames = scan()
        rows = 0
        size = 0
        for frame in frames:
            held.append(frame)
            rows += frame.height
            size += bytes_of(frame)
            if rows >= _FEW_ROWS or size > self._bytes // SHARE_TO_HOLD:
                break
        else:
            together = in_query_order(held)
            return lambda: iter((together,))
        scratch = ScratchFile()
        shards = self._divide(chain(_taken(held), frames), scratch)
        return lambda: ahead(
            lambda shard: _in_order(map(scratch.read, shard)), _not_small(shards)
        )

    def _divide(
        self, frames: Iterator[pl.DataFrame], scratch: ScratchFile
    ) -> "list[_Shard]":
        """The rows by a hash of their query, on disk if they are too many for the memory."""
        shards: list[_Shard] = [[] for _ in range(SHARDS)]
        held: list[list[pl.DataFrame]] = [[] for _ in range(SHARDS)]
        size = 0

        def put_away() -> None:
            for shard, parts in zip(shards, held, strict=True):
                if parts:
                    shard.append(scratch.write(pl.concat(parts, rechunk=True)))
                    parts.clear()

        for parts, bytes_held in ahead(_apart, _blocks(frames)):
            for shard, part in parts:
                held[shard].append(part)
            size += bytes_held
            if size > self._bytes // SHARE_TO_HOLD:
                put_away()
                size = 0
        if any(shards):
            put_away()
            return [shard for shard in shards if shard]
        return [list(parts) for parts in held if parts]


def _blocks(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows, few at a time."""
    for frame in frames:
        # In one chunk: taking rows from several costs twice as much.
        yield from (rows.rechunk() for rows in frame.iter_slices(_ROWS_AT_ONCE))


def _apart(frame: pl.DataFrame) -> tuple[list[tuple[int, pl.DataFrame]], int]:
    """The rows divided by a hash of their query, by shard number, and their size in bytes."""
    of_row = (frame["query"].hash() % SHARDS).to_numpy().astype(np.uint8)
    # Few small numbers: this is a counting sort.
    frame = frame[np.argsort(of_row, kind="stable")]
    ends = np.cumsum(np.bincount(of_row, minlength=SHARDS))
    starts = ends - np.diff(ends, prepend=0)
    parts = [
        (shard, frame[int(starts[shard]) : int(ends[shard])])
        for shard in np.flatnonzero(ends > starts).tolist()
    ]
    return parts, bytes_of(frame)


def _not_small(shards: "list[_Shard]") -> "Iterator[_Shard]":
    """The shards, small ones merged."""
    waiting: _Shard = []
    for shard in shards:
        waiting += shard
        sizes = (
            piece.size if isinstance(piece, Piece) else bytes_of(piece)
            for piece in waiting
        )
        if sum(sizes) >= _SMALL:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


_Shard: TypeAlias = list[Piece | pl.DataFrame]
"""All rows of some queries, on disk or in memory."""


def _taken(held: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The frames one by one, each removed from the list, so that its memory is freed."""
    while held:
        yield held.pop(0)


def _in_order(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows grouped by query, with each query's rows in their order."""
    frame = pl.concat(list(parts), rechunk=True)
    hashes = frame["query"].hash().to_numpy()
    order = np.argsort(hashes, kind="stable")
    ordered = frame[order]
    if query_starts(ordered["query"]).size == 1 + np.count_nonzero(
        np.diff(hashes[order])
    ):
        return ordered
    # Two queries have the same hash, which is very rare.
    return in_query_order([frame])
