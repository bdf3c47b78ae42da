"""A temporary file for rows that do not fit into the memory allowed.

The file has no name: the system takes it away when the process ends, however it ends.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from threading import Lock
from typing import BinaryIO, cast
from weakref import finalize

import polars as pl

from calipers.errors import WriteFailed

_THIN = 64
"""Rows of at most so many bytes are ids and numbers, quicker written than compressed."""


@dataclass(frozen=True)
class Piece:
    """Where some rows stand in the temporary file, and what they take in memory."""

    start: int
    length: int
    size: int


class ScratchFile:
    """The temporary file: pieces are written behind one another and read by their places."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = folder
        self._end = 0
        self._lock = Lock()

    @cached_property
    def _file(self) -> BinaryIO:
        file = _open(self._folder)
        # Closed, and so gone, once nobody reads the pieces any more.
        finalize(self, file.close)
        return file

    def write(self, frame: pl.DataFrame) -> Piece:
        """Put some rows behind all others, and say where they are."""
        packed, size = BytesIO(), int(frame.estimated_size())
        thin = size <= _THIN * frame.height
        # In the oldest form a part of a column is written without the rest of it.
        frame.write_ipc_stream(
            packed,
            compression="uncompressed" if thin else "lz4",
            compat_level=pl.CompatLevel.oldest(),
        )
        content = packed.getbuffer()
        with self._lock:
            piece, file = Piece(self._end, len(content), size), self._file
            self._do(lambda: file.seek(self._end))
            self._do(lambda: file.write(content))
            self._do(file.flush)
            self._end += len(content)
        return piece

    def read(self, piece: Piece | pl.DataFrame) -> pl.DataFrame:
        """The rows of a piece; those that never left the memory as they are."""
        if isinstance(piece, pl.DataFrame):
            return piece
        with self._lock:
            self._file.seek(piece.start)
            content = self._file.read(piece.length)
        return pl.read_ipc_stream(BytesIO(content))

    def _do(self, step: Callable[[], object]) -> None:
        try:
            step()
        except OSError as error:
            folder = self._folder or tempfile.gettempdir()
            raise WriteFailed(
                f"The temporary file in {folder} cannot grow: {error.strerror}; it holds "
                f"{self._end / 1e6:,.0f} MB of results that do not fit into the memory allowed. "
                "Name a folder with more room (--temp), or allow more memory (--memory)."
            ) from error


def _open(folder: str | os.PathLike[str] | None) -> BinaryIO:
    try:
        return cast(BinaryIO, tempfile.TemporaryFile(dir=folder, prefix="calipers-"))
    except OSError as error:
        raise WriteFailed(
            f"No temporary file can be made in {folder or tempfile.gettempdir()}: "
            f"{error.strerror}; name another folder (--temp)."
        ) from error
