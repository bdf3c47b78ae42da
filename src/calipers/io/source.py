"""A file as bytes: opened with clear errors, unpacked, cut into blocks of whole lines."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path

from calipers.errors import UnreadableFile

BLOCK = 8 << 20
HEAD = 1 << 16
SMALL, MOST_TIMES = 64 << 20, 200
"""Text packs to a tenth or a fiftieth; only a file of nothing but repetitions packs better."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are read."""


@dataclass(frozen=True, eq=False)
class Source:
    """One file to read from. Reading may happen several times; nothing is kept open."""

    path: Path
    progress: Progress | None = None
    block: int | None = None
    """Bytes to read at a time, where the usual block would be more than all the rest."""

    @property
    def name(self) -> str:
        """The path as the user knows it."""
        return str(self.path)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the content, unpacked, without a byte order mark."""
        with self._open() as file:
            return self._take(file, HEAD).removeprefix(BYTE_ORDER_MARK)

    def read(self) -> bytes:
        """The whole content, unpacked, without a byte order mark."""
        return b"".join(self._pieces()).removeprefix(BYTE_ORDER_MARK)

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks of whole lines; line ends are single newlines."""
        rest = b""
        mark = BYTE_ORDER_MARK
        for piece in self._pieces():
            cut = piece.rfind(b"\n") + 1
            if not cut:
                rest += piece
                continue
            yield _newlines((rest + piece[:cut]).removeprefix(mark))
            rest, mark = piece[cut:], b""
        if rest.removeprefix(mark):
            yield _newlines(rest.removeprefix(mark))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers from 1, without their ends."""
        number = 0
        for block in self.blocks():
            for line in block.split(b"\n")[: -1 if block.endswith(b"\n") else None]:
                number += 1
                yield number, line

    def _pieces(self) -> Iterator[bytes]:
        total = self.path.stat().st_size if self.path.exists() else 0
        with self._open() as file:
            unpacked = 0
            while piece := self._take(file, self.block or BLOCK):
                unpacked += len(piece)
                if isinstance(file, Unpacked) and unpacked > max(SMALL, total * MOST_TIMES):
                    raise UnreadableFile(
                        f"The compressed file {self.name} unpacks to more than {MOST_TIMES} times "
                        f"its {total:,} bytes; such a file is usually damaged, or made to fill the "
                        "memory. If it is neither, unpack it with gunzip and give the result."
                    )
                if self.progress:
                    self.progress(_position(file), total)
                yield piece

    def _take(self, file: "BufferedReader | Unpacked", size: int) -> bytes:
        try:
            return file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableFile(
                f"The compressed file {self.name} is damaged or cut off ({error}); copy or "
                "compress it again."
            ) from error
        except OSError as error:
            raise UnreadableFile(f"{self.name} cannot be read: {error.strerror}.") from error

    def _open(self) -> "BufferedReader | Unpacked":
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            raise UnreadableFile(f"There is no file {self.name}; check the path.") from None
        except IsADirectoryError:
            raise UnreadableFile(f"{self.name} is a folder; name a file in it.") from None
        except OSError as error:
            raise UnreadableFile(f"{self.name} cannot be opened: {error.strerror}.") from error
        magic = file.read(2)
        file.seek(0)
        return Unpacked(file) if magic == b"\x1f\x8b" else file

    def check_has_content(self) -> None:
        """Refuse an empty file, and one that is neither text nor a known binary form."""
        head = self.head
        if not head.strip():
            raise UnreadableFile(f"The file {self.name} is empty; nothing can be measured from it.")
        if b"\x00" in head:
            raise UnreadableFile(
                f"The file {self.name} is binary and in no form Calipers knows; it reads JSON, "
                "JSON lines, CSV, TSV, TREC text, Parquet and Arrow files."
            )


class Unpacked(gzip.GzipFile):
    """A gzip stream that owns its file and can say how far it got in it."""

    def __init__(self, packed: BufferedReader) -> None:
        self.packed = packed
        super().__init__(fileobj=packed, mode="rb")

    def close(self) -> None:
        """Close the stream and the file under it."""
        super().close()
        self.packed.close()


def _position(file: BufferedReader | Unpacked) -> int:
    return file.packed.tell() if isinstance(file, Unpacked) else file.tell()


def _newlines(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n") if b"\r" in block else block


def stamp(path: Path) -> tuple[int, int, int]:
    """What tells whether a file is still the one it was."""
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns


def line_and_column(content: bytes, position: int) -> tuple[int, int]:
    """Where a byte stands, both counted from 1.

    >>> line_and_column(b"ab\\ncd", 4)
    (2, 2)
    """
    before = content[:position]
    return before.count(b"\n") + 1, position - (before.rfind(b"\n") + 1) + 1
