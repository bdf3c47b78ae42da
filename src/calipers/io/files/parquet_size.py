"""How much a Parquet file says it holds, read from its footer before anything is unpacked.

A few kilobytes can stand for billions of rows, or for gigabytes of one repeated letter. The
footer is a struct in the compact encoding of Thrift; of it we need three numbers.
"""

from collections.abc import Iterator
from pathlib import Path

from calipers.errors import UnreadableFile
from calipers.io.files.open import most_unpacked

LARGE = 64 << 20
"""A file beyond needs as much memory as it looks, within a factor; its footer is left alone."""
SMALL_CELLS, CELLS_PER_BYTE = 10_000_000, 32
"""Cells that a small file may hold, and how many more for each byte of it."""
BYTES_PER_CELL = 16
"""Bytes that a cell may have, however well they are packed: the scores of a million queries, of
which most are equal, pack to a fiftieth."""
_NUM_ROWS, _ROW_GROUPS, _COLUMNS, _BYTES = 3, 4, 1, 2
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def check_parquet(path: Path) -> None:
    """Refuse a small file that says it holds far more than its bytes can mean."""
    size = path.stat().st_size
    if size > LARGE:
        return
    try:
        rows, columns, unpacked = stated(_footer(path, size))
    except (IndexError, ValueError):
        return  # damaged: whoever reads it says how
    cells = rows * columns
    most = max(BYTES_PER_CELL * cells, most_unpacked(size))
    if cells > SMALL_CELLS + CELLS_PER_BYTE * size or unpacked > most:
        raise UnreadableFile(
            f"The Parquet file {path} of {size:,} bytes says that it holds {rows:,} rows in "
            f"{columns:,} columns, {unpacked >> 20:,} MB unpacked; such a file is usually made to "
            "fill the memory. If it is not, write it again without compression."
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
    """The rows, the columns and the bytes before compression that a footer states."""
    reader = _Compact(footer)
    rows = columns = unpacked = 0
    for field, kind in reader.fields():
        if field == _NUM_ROWS:
            rows = reader.number()
        elif field == _ROW_GROUPS:
            for _ in range(reader.list_size()[0]):
                group, size = _row_group(reader)
                columns, unpacked = max(columns, group), unpacked + size
        else:
            reader.skip(kind)
    return rows, columns, unpacked


def _row_group(reader: "_Compact") -> tuple[int, int]:
    columns = size = 0
    for field, kind in reader.fields():
        if field == _COLUMNS:
            columns, inner = reader.list_size()
            for _ in range(columns):
                reader.skip(inner)
        elif field == _BYTES:
            size = reader.number()
        else:
            reader.skip(kind)
    return columns, size


class _Compact:
    """Reads the compact encoding of Thrift, value by value."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the kind of each field of a struct; the caller reads its value."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            yield number, head & 0x0F

    def number(self) -> int:
        """A whole number."""
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def list_size(self) -> tuple[int, int]:
        """How many values a list holds, and of which kind."""
        head = self._byte()
        return (self._varint() if head >> 4 == 15 else head >> 4), head & 0x0F

    def skip(self, kind: int, *, in_list: bool = False) -> None:
        """Go past a value."""
        if kind in (_TRUE, _FALSE):
            self._at += in_list
        elif kind == _BYTE:
            self._at += 1
        elif kind == _DOUBLE:
            self._at += 8
        elif kind == _BINARY:
            length = self._varint()
            self._at += length
        elif kind in (_LIST, _SET):
            size, inner = self.list_size()
            for _ in range(size):
                self.skip(inner, in_list=True)
                self._check()
        elif kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            for _ in range(size):
                self.skip(kinds >> 4, in_list=True)
                self.skip(kinds & 0x0F, in_list=True)
                self._check()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            self.number()

    def _check(self) -> None:
        if self._at > len(self._content):
            raise IndexError("the footer ends before its values")

    def _varint(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        return found | byte << shift

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]
