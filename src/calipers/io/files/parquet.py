"""Parquet files: write in blocks; check the size in the footer before reading."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from typing import Any, BinaryIO

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.files.open import most_unpacked
from calipers.io.files.write import check_writable, whole_file

_LOOKS_EVERY = 0.1
"""Seconds between checks of a waiting writer that the file can still be written."""


class _LeftError(BaseException):
    """The producer of the blocks stopped, so there will be no file."""


@contextmanager
def parquet_in_blocks(path: str | Path) -> Iterator["ParquetBlocks"]:
    """Open a file to put blocks into; it gets its name only when all are written."""
    check_writable(path)
    stopped: BaseException | None = None
    # An error of the caller is not about this file, whatever its type.
    with suppress(_LeftError), whole_file(path) as file:
        blocks = ParquetBlocks(file)
        try:
            yield blocks
        except BaseException as error:
            blocks.abandon()
            if error is blocks.failure:
                raise
            stopped = error
            raise _LeftError from error
        blocks.finish()
    if stopped is not None:
        raise stopped


class ParquetBlocks:
    """Writes blocks of one table on its own thread.

    Polars pulls its rows. On another thread it does so without blocking the producer's, which
    receives errors and Ctrl-C.
    """

    def __init__(self, file: BinaryIO, **options: Any) -> None:
        self._file = file
        self._options = options
        self._waiting: Queue[pl.DataFrame | None] = Queue(1)
        self._thread: Thread | None = None
        self._is_left = False
        self._is_whole = False
        self.about: Mapping[str, str] = {}
        """The metadata of the file; may be set until ``finish``."""
        self.failure: BaseException | None = None
        """The error that stopped writing, if any."""

    def put(self, block: pl.DataFrame) -> None:
        """Write one more block; all have the same columns."""
        if self._thread is None:
            # A daemon, so that it does not keep the process alive.
            self._thread = Thread(target=self._write, args=(block.schema,), daemon=True)
            self._thread.start()
        self._hand_over(block)

    def finish(self) -> None:
        """Write the remaining blocks and the footer."""
        self._hand_over(None)
        if self._thread is not None:
            self._thread.join()
        if self.failure is not None:
            raise self.failure

    def abandon(self) -> None:
        """Stop writing."""
        self._is_left = True
        if self._thread is not None:
            with suppress(Full):
                self._waiting.put_nowait(None)
            self._thread.join()

    def _hand_over(self, block: pl.DataFrame | None) -> None:
        while self.failure is None:
            with suppress(Full):
                self._waiting.put(block, timeout=_LOOKS_EVERY)
                return
        raise self.failure

    def _write(self, schema: pl.Schema) -> None:
        from polars.io.plugins import register_io_source

        try:
            table = register_io_source(self._source, schema=dict(schema))
            table.sink_parquet(self._file, metadata=self._metadata, **self._options)
        except BaseException as error:  # noqa: BLE001 - raised where the blocks come from
            self.failure = error
            with suppress(Empty):
                self._waiting.get_nowait()

    def _source(
        self, columns: list[str] | None, _: pl.Expr | None, __: int | None, ___: int | None
    ) -> Iterator[pl.DataFrame]:
        while (block := self._waiting.get()) is not None and not self._is_left:
            yield block if columns is None else block.select(columns)
        if self._is_left:
            raise _LeftError
        self._is_whole = True

    def _metadata(self, _: Any = None) -> dict[str, str]:
        if not self._is_whole:
            raise RuntimeError("The metadata of a Parquet file are asked for before its last row.")
        return dict(self.about)


LARGE = 64 << 20
"""Larger files need memory in proportion to their size, so their footer is not checked."""
SMALL_CELLS, CELLS_PER_BYTE = 10_000_000, 32
"""Cells that any file may hold, and how many more per byte of its size."""
BYTES_PER_CELL = 16
"""Bytes that a cell may have, however well it compresses: the scores of a million queries, of
which most are equal, compress to a fiftieth."""
_NUM_ROWS, _ROW_GROUPS, _COLUMNS, _BYTES = 3, 4, 1, 2
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def check_parquet(path: Path) -> None:
    """Refuse a small file that claims an implausibly large content."""
    size = path.stat().st_size
    if size > LARGE:
        return
    try:
        rows, columns, unpacked = stated(_footer(path, size))
    except (IndexError, ValueError):
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
    """Reads Thrift's compact encoding, value by value."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and type of each field of a struct; the caller reads its value."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            yield number, head & 0x0F

    def number(self) -> int:
        """A whole number."""
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def list_size(self) -> tuple[int, int]:
        """The length of a list and the type of its values."""
        head = self._byte()
        return (self._varint() if head >> 4 == 15 else head >> 4), head & 0x0F

    def skip(self, kind: int, *, in_list: bool = False) -> None:
        """Skip a value."""
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
