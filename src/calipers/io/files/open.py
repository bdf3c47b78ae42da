"""Read files as bytes: clear errors, decompression, blocks."""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from calipers.errors import UnreadableFile
from calipers.frozen import dataclass

BLOCK = 8 << 20
HEAD = 1 << 16
SMALL = 18 << 20
SMALL_PACKED = 1 << 20
MOST_TIMES = 200
"""Text compresses to a tenth or a fiftieth; only pure repetition compresses better."""
LARGE = 16 << 20
"""Compressed files beyond this size are decompressed in blocks."""
_LINE = 1 << 12
"""Most lines are shorter."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PACKED = b"\x1f\x8b"
STANDARD_INPUT = "-"


@dataclass(frozen=True, eq=False)
class Source:
    """One input file. It can be read several times; nothing is kept open."""

    path: Path
    encoding: str = "utf-8"
    """The encoding of the file; what is read from here is always UTF-8."""

    @property
    def name(self) -> str:
        """The path as shown to the user."""
        return "standard input" if is_standard_input(self.path) else str(self.path)

    @property
    def is_plain(self) -> bool:
        """Whether the bytes on disk can be read directly: UTF-8, not compressed, no pipe."""
        if self._held is not None or (b"\r" in self.head and b"\n" not in self.head):
            return False
        with self.path.open("rb") as file:
            return file.read(2) != PACKED

    @property
    def is_large_and_packed(self) -> bool:
        """Whether it is a large compressed file of UTF-8 lines, decompressed in blocks."""
        if self._held is not None or b"\n" not in self.head:
            return False
        return not self.is_plain and self.path.stat().st_size > LARGE

    @cached_property
    def _held(self) -> bytes | None:
        """The content in memory, if it can be read only once or is in another encoding."""
        if is_standard_input(self.path) or self.path.is_fifo():
            try:
                content = _piped(self.path) if self.path.is_fifo() else _standard_input()
            except OSError as error:
                raise UnreadableFile(
                    f"{self.name} cannot be read: {error.strerror}."
                ) from error
        elif self.encoding == "utf-8":
            return None
        else:
            content = replace(self, encoding="utf-8").read()
        if self.encoding == "utf-8":
            return content
        try:
            return content.decode(self.encoding).encode()
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                f"{self.name} is neither UTF-8 nor {self.encoding}; save the file as UTF-8."
            ) from error

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the content, decompressed, without a byte order mark."""
        with self._open() as file:
            return self._take(file, HEAD).removeprefix(BYTE_ORDER_MARK)

    def last_line(self) -> bytes:
        """The last line of a plain file; empty if it would have to be decompressed."""
        if not self.path.is_file() or not self.is_plain:
            return b""
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - _LINE))
            return file.read().rstrip().rpartition(b"\n")[2]

    def read(self) -> bytes:
        """The whole content, decompressed, without a byte order mark."""
        return b"".join(self._pieces()).removeprefix(BYTE_ORDER_MARK)

    @property
    def place(self) -> Path | bytes:
        """The path, or the content if it came through a pipe."""
        return self.path if self.path.is_file() else self.read()

    def blocks(self, *, as_is: bool = False) -> Iterator[bytes]:
        """Yield blocks of whole lines; line ends become newlines unless ``as_is``."""
        newlines = bytes if as_is else _newlines
        rest = b""
        mark = BYTE_ORDER_MARK
        for piece in self._pieces():
            cut = piece.rfind(b"\n") + 1
            if not cut:
                rest += piece
                continue
            # Copying a block costs about as much as reading it.
            whole = cut == len(piece) and not rest
            block = piece if whole else b"".join((rest, memoryview(piece)[:cut]))
            yield newlines(block.removeprefix(mark))
            rest = piece[cut:]
            mark = b""
        if rest.removeprefix(mark):
            yield newlines(rest.removeprefix(mark))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers from 1, without line ends."""
        number = 0
        for block in self.blocks():
            for line in block.split(b"\n")[: -1 if block.endswith(b"\n") else None]:
                number += 1
                yield number, line

    def _pieces(self) -> Iterator[bytes]:
        with self._open() as file:
            packed = isinstance(file, gzip.GzipFile)
            most = most_unpacked(self._size) if packed else sys.maxsize
            unpacked = 0
            while piece := self._take(file, _up_to_a_line(file, BLOCK)):
                unpacked += len(piece)
                if unpacked > most:
                    raise UnreadableFile(
                        f"The compressed file {self.name} of {self._size:,} bytes unpacks to more "
                        f"than {most >> 20:,} MB, as if made to fill the memory; if it is sound, "
                        "unpack it and give the result."
                    )
                yield piece

    @property
    def _size(self) -> int:
        return self.path.stat().st_size if self._held is None else len(self._held)

    def _take(self, file: "BinaryIO | gzip.GzipFile", size: int) -> bytes:
        try:
            return file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableFile(
                f"The compressed file {self.name} is damaged or cut off ({error}); copy or "
                "compress it again."
            ) from error
        except OSError as error:
            raise UnreadableFile(
                f"{self.name} cannot be read: {error.strerror}."
            ) from error

    def _open(self) -> "BinaryIO | gzip.GzipFile":
        file: BinaryIO
        check_no_device(self.path)
        try:
            file = BytesIO(self._held) if self._held is not None else self.path.open("rb")
        except FileNotFoundError:
            near = _suggest_file(self.path)
            raise UnreadableFile(
                f"There is no file {self.name}; check the path.{near}"
            ) from None
        except IsADirectoryError:
            raise UnreadableFile(f"{self.name} is a folder; name a file in it.") from None
        except OSError as error:
            raise UnreadableFile(
                f"{self.name} cannot be opened: {error.strerror}."
            ) from error
        try:
            packed = file.read(2) == PACKED
            file.seek(0)
        except OSError as error:
            file.close()
            raise UnreadableFile(
                f"{self.name} cannot be read: {error.strerror}."
            ) from error
        if not packed:
            return file
        file.close()
        return gzip.open(self.path if self._held is None else BytesIO(self._held))

    def check_has_content(self) -> None:
        """Refuse an empty file, and one that is neither text nor a known binary format."""
        head = self.head
        if not head.strip():
            what = (
                "is empty"
                if len(head) < HEAD
                else f"begins with {HEAD >> 10} kB of blanks"
            )
            raise UnreadableFile(
                f"The file {self.name} {what}; nothing can be measured from it."
            )
        if b"\x00" in head:
            raise UnreadableFile(
                f"The file {self.name} is binary and in no format Calipers knows; it reads JSON, "
                "JSON lines, CSV, TSV, TREC text, Parquet and Arrow files."
            )


def _suggest_file(path: Path) -> str:
    """A "did you mean" for a missing file: another extension, or a typo."""
    try:
        files = [one.name for one in islice(path.parent.iterdir(), 1000) if one.is_file()]
    except OSError:
        return ""
    from calipers.words import did_you_mean

    stems = {name.partition(".")[0]: name for name in sorted(files, reverse=True)}
    same = stems.get(path.name.partition(".")[0])
    return f" Did you mean {same}?" if same else did_you_mean(path.name, files)


def check_no_device(path: Path) -> None:
    """Refuse devices with endless content, such as /dev/zero, but not /dev/null or a terminal."""
    try:
        kind = path.stat()
    except (OSError, ValueError):
        return  # opening it reports the error
    if stat.S_ISCHR(kind.st_mode) and path.resolve() != Path(os.devnull):
        with path.open("rb", buffering=0) as file:
            if not file.isatty():
                raise UnreadableFile(
                    f"{path} is a device and no file, and may never end; name a file."
                )


def most_unpacked(packed: int) -> int:
    """Most bytes a compressed file may hold: a small file must stay small in memory.

    >>> most_unpacked(60_000) >> 20, most_unpacked(10 << 20) >> 20
    (18, 1818)
    """
    return SMALL + MOST_TIMES * max(0, packed - SMALL_PACKED)


def _up_to_a_line(file: "BinaryIO | gzip.GzipFile", size: int) -> int:
    """A size up to ``size`` that ends with a line, if one is easy to find."""
    if not isinstance(file, BufferedReader) or size <= _LINE:
        return size
    at = file.tell()
    file.seek(at + size - _LINE)
    last = file.read(_LINE)
    file.seek(at)
    return size - _LINE + (last.rfind(b"\n") + 1 or _LINE) if len(last) == _LINE else size


def _newlines(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n") if b"\r" in block else block


def is_standard_input(path: object) -> bool:
    """Whether a path means standard input; a file called - is written as ./-."""
    return isinstance(path, str | Path) and str(path) == STANDARD_INPUT


@cache
def _standard_input() -> bytes:
    """The content of standard input, read once."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UnreadableFile(
            "Standard input is asked for (-), and nothing is piped into it; name a file, or pipe "
            "one in."
        )
    return sys.stdin.buffer.read()


_PIPES: dict[tuple[int, int, str], tuple[int, bytes]] = {}


def _piped(path: Path) -> bytes:
    """The content of a pipe, which can be read only once; whoever writes again changes its time."""
    about = path.stat()
    key = about.st_dev, about.st_ino, str(path)
    if key not in _PIPES or _PIPES[key][0] != about.st_mtime_ns:
        content = path.read_bytes()
        _PIPES[key] = path.stat().st_mtime_ns, content
    return _PIPES[key][1]


def line_and_column(content: bytes, position: int) -> tuple[int, int]:
    """The line and column of a byte, both from 1.

    >>> line_and_column(b"ab\\ncd", 4)
    (2, 2)
    """
    before = content[:position]
    return before.count(b"\n") + 1, position - (before.rfind(b"\n") + 1) + 1


def not_utf8(content: bytes, name: str, line: int | None = None) -> str | None:
    """The error for content, or the one ``line``, that is not UTF-8, with its place; else None."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        at, column = line_and_column(content, error.start)
        byte = content[error.start]
        return (
            f"{name}:{line or at}:{column} is not valid UTF-8 (byte {byte:#04x}); save the file as "
            "UTF-8."
        )
    return None
