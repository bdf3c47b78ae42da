"""Pack tables into compressed columns and back, with checksums."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.files.parquet import write_blocks

ROWS = 1 << 19
"""Rows to pack at a time."""
BLOCK = 1 << 17
"""Rows to unpack at a time."""
PACKED: dict[str, Any] = {"compression": "zstd", "compression_level": 9, "statistics": False}


def pack(frame: pl.DataFrame) -> bytes:
    """Pack a table as Parquet with zstd: columns compress better than rows."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **PACKED)
    return buffer.getvalue()


def pack_blocks(frames: Iterable[pl.DataFrame]) -> bytes | None:
    """Pack a table that comes in blocks; None if there is no block."""
    pieces = _even(frames)
    first = list(islice(pieces, 2))
    if len(first) < 2:
        return pack(first[0]) if first else None
    buffer = io.BytesIO()
    # The same table gives the same bytes however it was read, so the history stores it once.
    write_blocks(chain(first, pieces), buffer, row_group_size=ROWS, **PACKED)
    return buffer.getvalue()


def _even(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Regroup the rows into blocks of equal size."""
    held, n = list[pl.DataFrame](), 0
    for frame in frames:
        start = 0
        while start < frame.height:
            held.append(frame[start : start + ROWS - n])
            n, start = n + held[-1].height, start + held[-1].height
            if n == ROWS:
                yield pl.concat(held)
                held, n = [], 0
    if held:
        yield pl.concat(held)


def unpack(content: bytes, digest: str, whose: str) -> pl.DataFrame:
    """Unpack a table; ``whose`` names it in an error."""
    check_content(content, digest, whose)
    with _readable(whose):
        return pl.read_parquet(io.BytesIO(content))


class Packed:
    """A packed table that is unpacked block by block while it is read.

    ``finish`` converts each block for the reader. An unpacked table takes many times the memory.
    """

    def __init__(
        self,
        content: bytes,
        digest: str,
        whose: str,
        finish: Callable[[pl.DataFrame], pl.DataFrame],
    ) -> None:
        check_content(content, digest, whose)
        self._content, self._whose, self._finish = content, whose, finish
        with _readable(whose):
            self._height = pl.scan_parquet(content).select(pl.len()).collect().item()

    def __call__(self) -> Iterator[pl.DataFrame]:
        """All rows in order."""
        for start in range(0, self._height, BLOCK):
            yield self.rows(start, BLOCK)

    def rows(self, start: int, length: int) -> pl.DataFrame:
        """Some of the rows."""
        with _readable(self._whose):
            return self._finish(pl.scan_parquet(self._content).slice(start, length).collect())


@contextmanager
def _readable(whose: str) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise UnreadableFile(
            f"{whose} cannot be read: the content is whole and this version of Calipers cannot "
            f"open it ({str(error).splitlines()[0]})."
        ) from error


def check_content(content: bytes, digest: str, whose: str) -> None:
    """Refuse a content that is not what was written."""
    if digest_of(content) != digest:
        raise UnreadableFile(
            f"{whose} cannot be read: the content in the history is damaged (its SHA-256 is not "
            "the one that was saved with it). `calipers history check` lists everything that is; "
            "put back a copy of the history."
        )


def digest_of(content: bytes) -> str:
    """The digest that names a content."""
    return hashlib.sha256(content).hexdigest()
