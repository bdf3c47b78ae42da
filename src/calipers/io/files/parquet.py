"""Parquet files: write in blocks; check the size in the footer before reading."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.files.open import most_unpacked
from calipers.io.tables.scan import lazily


def write_blocks(blocks: Iterable[pl.DataFrame], file: BinaryIO, **options: Any) -> None:
    """Write blocks of one table, at least one, without holding all of them in memory."""
    waiting = iter(blocks)
    first = next(waiting)
    lazily(first.schema, lambda: chain([first], waiting)).sink_parquet(file, **options)


LARGE = 64 << 20
"""Larger files need memory in proportion to their size, so their footer is not checked."""
SMALL_CELLS, CELLS_PER_BYTE = 10_000_000, 32
"""Cells that any file may hold, and how many more per byte of its size."""
BYTES_PER_CELL = 16
"""Bytes that a cell may have, however well it compresses: the scores of a million queries, of
which most are equal, compress to a fiftieth."""
_NUM_ROWS, _ROW_GROUPS, _COLUMNS, _BYTES = 3, 4, 1, 2
"""The numbers of fields: two of the file, two of a row group."""


def check_parquet(path: Path) -> None:
    """Refuse a small file that claims an implausibly large content."""
    size = path.stat().st_size
    if size > LARGE:
        return
    try:
        rows, columns, unpacked = stated(_footer(path, size))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return  # damaged: the reader reports it
    cells = rows * columns
    most = max(BYTES_PER_CELL * cells, most_unpacked(size))
    if cells > SMALL_CELLS + CELLS_PER_BYTE * size or unpacked > most:
        raise UnreadableFile(
            f"The Parquet file {path} of {size:,} bytes says that it holds {cells:,} cells, "
            f"{unpacked >> 20:,} MB unpacked, as if made to fill the memory; if it is sound, write "
            "it without compression."
        )


def _footer(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or length + 8 > size:
            raise ValueError("no footer")
        file.seek(size - 8 - length)
        return file.read(length)


def stated(footer: bytes) -> tuple[int, int, int]:
    """The rows, columns and uncompressed bytes stated in a footer."""
    about = _Compact(footer).value(_STRUCT)
    groups = about.get(_ROW_GROUPS, [])
    columns = max((len(one[_COLUMNS]) for one in groups), default=0)
    return int(about[_NUM_ROWS]), columns, sum(int(one[_BYTES]) for one in groups)


_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


class _Compact:
    """Reads Thrift's compact encoding; fields are known by their numbers alone."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def value(self, kind: int, *, in_list: bool = False) -> Any:
        """The next value of a kind."""
        if kind in (_TRUE, _FALSE):
            return self._take(1) if in_list else kind == _TRUE
        if kind in (_BYTE, _DOUBLE):
            return self._take(1 if kind == _BYTE else 8)
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            size = self._varint() if head >> 4 == 15 else head >> 4
            return [self.value(head & 0x0F, in_list=True) for _ in range(size)]
        if kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            pair = (kinds >> 4, kinds & 0x0F)
            return [[self.value(one, in_list=True) for one in pair] for _ in range(size)]
        if kind == _STRUCT:
            fields, number = dict[int, Any](), 0
            while head := self._byte():
                number = number + (head >> 4) if head >> 4 else self._number()
                fields[number] = self.value(head & 0x0F)
            return fields
        return self._number()

    def _number(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def _varint(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        return found | byte << shift

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        found = self._content[self._at : self._at + size]
        if len(found) < size:
            raise IndexError("the footer ends before its values")
        self._at += size
        return found
