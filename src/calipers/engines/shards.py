"""Rows of queries that do not stand together, brought together on disk.

Rows that fit into the memory allowed are sorted there. Else they are divided by a hash of their
query into the shards of one temporary file, so that all rows of a query are in one shard, and
each shard is sorted by itself. The file has no name: the system takes it away when the process
ends, however it ends.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast
from weakref import finalize

import numpy as np
import polars as pl

from calipers.engines.budget import memory_in_bytes
from calipers.errors import InvalidInput, WriteFailed
from calipers.model.run import Scan, in_query_order

SHARDS = 128
_SHARE_TO_HOLD = 16
"""One part in so many of the memory holds rows; sorting, ranking and matching need the rest."""
_SHARE_OF_SHARD = 32
"""A shard beyond one part in so many is divided again: three of them are worked on at a time."""
_MOST_DIVISIONS = 4


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
            together = in_query_order(held)
            return lambda: iter((together,))

        def again() -> Iterator[pl.DataFrame]:
            while held:
                yield held.pop(0)
            yield from frames

        shelf = _Shelf(self.temp, _open(self.temp))
        shards = list(self._shards(again(), shelf))
        return lambda: (in_query_order(map(shelf.read, shard)) for shard in shards)

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
        held: list[pl.DataFrame] = []
        size = 0

        def flush() -> None:
            for shard, part in _by_shard(pl.concat(held), seed):
                pieces[shard].append(shelf.write(part))
            held.clear()

        for frame in frames:
            held.append(frame)
            size += int(frame.estimated_size())
            if size > self._bytes // _SHARE_TO_HOLD:
                flush()
                size = 0
        if held:
            flush()
        return [shard for shard in pieces if shard]


def _by_shard(frame: pl.DataFrame, seed: int) -> Iterator[tuple[int, pl.DataFrame]]:
    of_row = (frame["query"].hash(seed) % SHARDS).to_numpy().astype(np.uint8)
    # Few small numbers: this sort only counts them.
    order = np.argsort(of_row, kind="stable")
    frame = frame[order]
    ends = np.cumsum(np.bincount(of_row, minlength=SHARDS))
    starts = ends - np.diff(ends, prepend=0)
    for shard in np.flatnonzero(ends > starts).tolist():
        yield shard, frame[int(starts[shard]) : int(ends[shard])]


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
        packed = BytesIO()
        # In the oldest form a part of a column is written without the rest of it.
        frame.write_ipc_stream(packed, compression="lz4", compat_level=pl.CompatLevel.oldest())
        content = packed.getbuffer()
        with self._lock:
            piece = _Piece(self._end, len(content), int(frame.estimated_size()))
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
