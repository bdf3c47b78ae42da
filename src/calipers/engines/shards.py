"""Rows of queries that do not stand together, brought together on disk.

Rows that fit into the memory allowed are sorted there. Else they are divided by a hash of their
query into the shards of one temporary file, so that all rows of a query are in one shard, and
each shard is sorted by itself. The file has no name: the system takes it away when the process
ends, however it ends.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import BinaryIO, TypeAlias, cast
from weakref import finalize

import numpy as np
import polars as pl

from calipers.ahead import ahead
from calipers.engines.budget import memory_in_bytes
from calipers.errors import InvalidInput, WriteFailed
from calipers.model.ranking import query_starts
from calipers.model.run import Scan, in_query_order

SHARDS = 128
_SHARE_TO_HOLD = 16
"""One part in so many of the memory holds rows; sorting, ranking and matching need the rest."""
_SHARE_OF_SHARD = 32
"""A shard beyond one part in so many is divided again: three of them are worked on at a time."""
_MOST_DIVISIONS = 4
_ROWS_AT_ONCE = 1 << 16
"""So few that taking them in any order stays within the fast memory of a processor."""
_WITHIN = 77
"""The seed by which a shard is divided in memory: no division on disk has it."""
_THIN = 64
"""Rows of at most so many bytes are ids and numbers, quicker written than compressed."""


@dataclass(frozen=True)
class Shards:
    """A way to bring the rows of each query together within a bound of memory."""

    memory: str | int | None = None
    """Such as "2GB"; None: half of what is free."""
    temp: str | os.PathLike[str] | None = None
    """The folder of the temporary file; None: the usual one."""

    def __post_init__(self) -> None:
        if self.memory is not None:
            memory_in_bytes(self.memory)
        if self.temp is not None and not Path(self.temp).is_dir():
            raise InvalidInput(
                f"There is no folder {self.temp} for temporary files; create it, or name another."
            )

    @cached_property
    def _bytes(self) -> int:
        return memory_in_bytes(self.memory)

    def __call__(self, scan: Scan) -> Scan:
        """The frames with the rows of each query together, in their order within it."""
        held: list[pl.DataFrame] = []
        frames = scan()
        size = 0
        for frame in frames:
            held.append(frame)
            size += int(frame.estimated_size())
            if size > self._bytes // _SHARE_TO_HOLD:
                break
        else:
            rows = sum(frame.height for frame in held)
            if rows < 2 * _ROWS_AT_ONCE:
                together = in_query_order(held)
                return lambda: iter((together,))
            several = min(rows // _ROWS_AT_ONCE, SHARDS)
            divide = partial(_apart, shards=several, seed=_WITHIN)
            parts = _collected(ahead(divide, _blocks(_taken(held))), several)
            return lambda: map(_by_query, parts)
        shelf = _Shelf(self.temp, _open(self.temp))
        shards = list(self._shards(chain(_taken(held), frames), shelf))
        return lambda: chain.from_iterable(_batches(map(shelf.read, shard)) for shard in shards)

    def _shards(
        self, frames: Iterator[pl.DataFrame], shelf: "_Shelf", seed: int = 0
    ) -> "Iterator[list[_Piece]]":
        """The pieces of every shard; one that is too large for the memory is divided again."""
        divided = self._divide(frames, shelf, seed)
        # The rows of one query cannot be divided, however many they are.
        final = seed == _MOST_DIVISIONS or (seed and len(divided) == 1)
        for shard in divided:
            size = sum(piece.size for piece in shard)
            if final or size <= self._bytes // _SHARE_OF_SHARD:
                yield shard
            else:
                yield from self._shards(map(shelf.read, shard), shelf, seed + 1)

    def _divide(
        self, frames: Iterator[pl.DataFrame], shelf: "_Shelf", seed: int
    ) -> "list[list[_Piece]]":
        """Write rows to shards by a hash of their query; returns the pieces of each with rows."""
        pieces: list[list[_Piece]] = [[] for _ in range(SHARDS)]
        held: list[list[pl.DataFrame]] = [[] for _ in range(SHARDS)]
        size = 0

        def flush() -> None:
            for shard, parts in enumerate(held):
                if parts:
                    pieces[shard].append(shelf.write(pl.concat(parts, rechunk=True)))
                    parts.clear()

        for parts, bytes_held in ahead(lambda block: _apart(block, SHARDS, seed), _blocks(frames)):
            for shard, part in parts:
                held[shard].append(part)
            size += bytes_held
            if size > self._bytes // _SHARE_TO_HOLD:
                flush()
                size = 0
        flush()
        return [shard for shard in pieces if shard]


def _blocks(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows, few at a time."""
    for frame in frames:
        yield from frame.iter_slices(_ROWS_AT_ONCE)


def _apart(frame: pl.DataFrame, shards: int, seed: int) -> "Apart":
    """The rows divided by a hash of their query."""
    of_row = (frame["query"].hash(seed) % shards).to_numpy().astype(np.uint8)
    # Few small numbers: this sort only counts them.
    frame = frame[np.argsort(of_row, kind="stable")]
    ends = np.cumsum(np.bincount(of_row, minlength=shards))
    starts = ends - np.diff(ends, prepend=0)
    parts = [
        (shard, frame[int(starts[shard]) : int(ends[shard])])
        for shard in np.flatnonzero(ends > starts).tolist()
    ]
    return parts, int(frame.estimated_size())


def _batches(pieces: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows of a shard with those of each query together, a large shard in several batches."""
    frame = pl.concat(pieces)
    several = min(frame.height // _ROWS_AT_ONCE, SHARDS)
    if several <= 1:
        return iter((_by_query([frame]),))
    apart = (_apart(block, several, _WITHIN) for block in _blocks([frame]))
    return map(_by_query, _collected(apart, several))


Apart: TypeAlias = tuple[list[tuple[int, pl.DataFrame]], int]
"""Rows by shard, with its number, and how many bytes they take in all."""


def _collected(divided: Iterable[Apart], shards: int) -> list[list[pl.DataFrame]]:
    """The rows of every shard that has any."""
    held: list[list[pl.DataFrame]] = [[] for _ in range(shards)]
    for parts, _ in divided:
        for shard, part in parts:
            held[shard].append(part)
    return [parts for parts in held if parts]


def _taken(held: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """One frame after the other, none of which is held any longer."""
    while held:
        yield held.pop(0)


def _by_query(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows with those of each query together, in their order within it."""
    frame = pl.concat(parts, rechunk=True)
    bits = np.uint64(frame.height.bit_length())
    rows = np.arange(frame.height, dtype=np.uint64)
    # The upper bits of the hash, and the row in the lower ones: a sort of plain numbers, and one
    # that keeps the order of rows.
    keys = np.sort(((frame["query"].hash().to_numpy() >> bits) << bits) | rows)
    ordered = frame[(keys & np.uint64((1 << int(bits)) - 1)).view(np.int64)]
    changes = np.flatnonzero(np.diff(keys >> bits)) + 1
    if np.array_equal(query_starts(ordered["query"])[1:], changes):
        return ordered
    # Two queries have the same bits: once in very many runs.
    return in_query_order([frame])


@dataclass(frozen=True)
class _Piece:
    """Where some rows stand in the temporary file, and what they take in memory."""

    start: int
    length: int
    size: int


class _Shelf:
    """The temporary file: pieces are written behind one another and read by their places."""

    def __init__(self, folder: str | os.PathLike[str] | None, file: BinaryIO) -> None:
        self._folder = folder or tempfile.gettempdir()
        self._file = file
        self._end = 0
        self._lock = Lock()
        # Closed, and so gone, once nobody reads the shards any more.
        finalize(self, file.close)

    def write(self, frame: pl.DataFrame) -> _Piece:
        packed, size = BytesIO(), int(frame.estimated_size())
        thin = size <= _THIN * frame.height
        # In the oldest form a part of a column is written without the rest of it.
        frame.write_ipc_stream(
            packed, compression="uncompressed" if thin else "lz4",
            compat_level=pl.CompatLevel.oldest(),
        )  # fmt: skip
        content = packed.getbuffer()
        with self._lock:
            piece = _Piece(self._end, len(content), size)
            self._do(lambda: self._file.seek(self._end))
            self._do(lambda: self._file.write(content))
            self._do(self._file.flush)
            self._end += len(content)
        return piece

    def read(self, piece: _Piece) -> pl.DataFrame:
        with self._lock:
            self._file.seek(piece.start)
            content = self._file.read(piece.length)
        return pl.read_ipc_stream(BytesIO(content))

    def _do(self, step: Callable[[], object]) -> None:
        try:
            step()
        except OSError as error:
            raise WriteFailed(
                f"The temporary file in {self._folder} cannot grow: {error.strerror}; it holds "
                f"{self._end / 1e6:,.0f} MB of results that were not in the order of their "
                "queries. Name a folder with more room (--temp), or allow more memory (--memory)."
            ) from error


def _open(folder: str | os.PathLike[str] | None) -> BinaryIO:
    try:
        return cast(BinaryIO, tempfile.TemporaryFile(dir=folder, prefix="calipers-"))
    except OSError as error:
        raise WriteFailed(
            f"No temporary file can be made in {folder or tempfile.gettempdir()}: "
            f"{error.strerror}; name another folder (--temp)."
        ) from error
