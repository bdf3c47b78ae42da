"""The memory limit, and a temporary file for the rows that do not fit.

The file has no name: the system removes it when the process ends, however it ends.
"""

import re
import tempfile
from collections.abc import Callable
from functools import cached_property
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast
from weakref import finalize

import polars as pl

from calipers.errors import InvalidInput, WriteFailed
from calipers.frozen import dataclass
from calipers.model.run import bytes_of

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
SHARE_TO_HOLD = 16
"""One part in so many of memory holds rows; sorting, ranking and matching need the rest."""
LEAST = 460 << 20
"""Bytes needed for any large run: for libraries and blocks."""
_WHERE_NOTHING_IS_KNOWN = 2 << 30
_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class Piece:
    """The position of some rows in the temporary file, and their size in memory."""

    start: int
    length: int
    size: int


class ScratchFile:
    """The temporary file: pieces are appended and read by position."""

    def __init__(self) -> None:
        self._end = 0
        self._lock = Lock()

    @cached_property
    def _file(self) -> BinaryIO:
        file = _open()
        # Closed, and so deleted, once the pieces are no longer used.
        finalize(self, file.close)
        return file

    def write(self, frame: pl.DataFrame) -> Piece:
        """Append some rows, and return where they are."""
        packed = BytesIO()
        size = bytes_of(frame)
        # With the oldest format, only the slice of a column is written and not all of it.
        frame.write_ipc_stream(packed, compat_level=pl.CompatLevel.oldest())
        content = packed.getbuffer()
        with self._lock:
            piece = Piece(self._end, len(content), size)
            file = self._file
            self._do(lambda: file.seek(self._end))
            self._do(lambda: file.write(content))
            self._do(file.flush)
            self._end += len(content)
        return piece

    def read(self, piece: Piece | pl.DataFrame) -> pl.DataFrame:
        """The rows of a piece; a frame in memory is returned unchanged."""
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
            raise WriteFailed(
                f"The temporary file in {tempfile.gettempdir()} cannot grow: {error.strerror} (it "
                f"holds {self._end / 1e6:,.0f} MB of results). Set TMPDIR to a folder with more "
                "room, or allow more memory (--memory)."
            ) from error


def _open() -> BinaryIO:
    try:
        return cast(BinaryIO, tempfile.TemporaryFile(prefix="calipers-"))
    except OSError as error:
        raise WriteFailed(
            f"No temporary file can be made: {error.strerror}; set TMPDIR to another folder."
        ) from error


def memory_in_bytes(given: str | int | None) -> int:
    """The bytes of a size such as "2GB"; None means half of the free memory.

    >>> memory_in_bytes("2GB") == memory_in_bytes("2048 MiB") == 2 << 30
    True
    """
    if given is None:
        return max(free_memory() // 2, LEAST)
    found = _SIZE.fullmatch(str(given))
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if isinstance(given, bool) or size < LEAST:
        raise InvalidInput(
            f"The memory to use is given as {given!r}; it must be a size such as 500MB or 2GB, at "
            f"least {LEAST >> 20}MB."
        )
    return size


def free_memory() -> int:
    """The free memory of the machine; a modest guess if the system does not say."""
    found = (
        re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())
        if _MEMINFO.is_file()
        else None
    )
    return int(found[1]) << 10 if found else _WHERE_NOTHING_IS_KNOWN
