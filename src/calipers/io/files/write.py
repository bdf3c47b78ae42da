"""Write files atomically. Devices, pipes and links are kept."""

import errno
import gzip
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from reprlib import repr as short
from typing import BinaryIO, Literal, cast

import polars as pl

from calipers.errors import CalipersError, InvalidInput, WriteFailed
from calipers.io.files.lock import once_closed

PACKED = ".gz"
STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when everything is written.

    A device, a pipe or standard output cannot be replaced by a file: it receives the content once
    it is complete. A link is kept, and its target is written.
    """
    check_place(path)
    try:
        with _in_place(path) if is_stream(path) else _renamed(Path(path)) as file:
            yield file
    except BrokenPipeError as error:
        if is_standard_output(path):
            raise
        raise WriteFailed(
            f"The reader of {path} left before everything was written; read it to the end, or "
            "name a file."
        ) from error
    except CalipersError:
        raise
    except (OSError, pl.exceptions.ComputeError) as error:
        # For lack of space or permission, not because of the content.
        raise WriteFailed(_sentence(path, error)) from error


@contextmanager
def _renamed(path: Path) -> Iterator[BinaryIO]:
    target = path.resolve()
    temporary = target.with_name(f".{_short(target.name)}.{os.urandom(4).hex()}.part")
    # Registered before it exists: Ctrl-C may come between any two steps.
    _UNFINISHED[temporary] = None
    try:
        with temporary.open("xb") as file:
            _UNFINISHED[temporary] = file
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        once_closed(lambda: temporary.replace(target))
    except BaseException:
        with suppress(PermissionError):
            once_closed(lambda: temporary.unlink(missing_ok=True))
        raise
    _UNFINISHED.pop(temporary, None)


_UNFINISHED: dict[Path, BinaryIO | None] = {}
"""Files being written or abandoned; Windows does not remove one that is open."""


def remove_unfinished() -> None:
    """Remove half-written files; for a process that exits without cleanup."""
    for path, file in list(_UNFINISHED.items()):
        with suppress(OSError):
            if file is not None:
                file.close()
            path.unlink(missing_ok=True)


@contextmanager
def _in_place(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write to a temporary file first: a reader of the stream gets everything or nothing."""
    import shutil
    import tempfile

    with tempfile.TemporaryFile() as file:
        yield cast(BinaryIO, file)
        file.seek(0)
        if is_standard_output(path):
            sys.stdout.flush()
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        # Without O_CREAT: a stream that is gone must not become a regular file.
        with os.fdopen(os.open(path, os.O_WRONLY), "wb") as stream:
            shutil.copyfileobj(file, stream)


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path means standard output; a file called - is written as ./-.

    >>> is_standard_output("-"), is_standard_output("/dev/stdout"), is_standard_output("./-")
    (True, True, False)
    """
    return os.fspath(path) in STANDARD_OUTPUT


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device, a pipe or the like, which is never replaced."""
    if is_standard_output(path) or os.fspath(path).startswith(("/dev/fd/", "/proc/")):
        return True
    try:
        kind = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, compressed if it ends in .gz, that gets its name when all is written."""
    with whole_file(path) as file:
        if path.suffix.lower() != PACKED:
            yield file
            return
        # Without a time and a name inside, equal content gives equal bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def ending(path: Path) -> str:
    """The extension that names the format, in lower case.

    >>> ending(Path("run.TREC.gz")), ending(Path("a.jsonl"))
    ('.trec', '.jsonl')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path that cannot be written to."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(
            f"An output is written to a path; found {short(path)}; name a file."
        )
    if is_standard_output(path):
        return
    try:
        target = Path(path).resolve()
        if target.is_symlink():  # from 3.13 on a loop is no error
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        _check_target(path, target)
    except (OSError, RuntimeError, ValueError) as error:
        # A name that is too long or has a NUL, or links in a loop.
        if isinstance(error, CalipersError):
            raise
        raise WriteFailed(_sentence(path, error)) from error


def check_folder(path: str | os.PathLike[str], what: str) -> None:
    """Refuse a path at which there can be no folder: standard output, a device, a file."""
    if is_standard_output(path) or (Path(path).exists() and not Path(path).is_dir()):
        raise WriteFailed(
            f"The output {path} is no folder, and {what} needs one; name a folder."
        )


def _check_target(path: str | os.PathLike[str], target: Path) -> None:
    if is_stream(path):
        if stat.S_ISBLK(Path(path).stat().st_mode):
            raise WriteFailed(f"The output {path} is a disk; name a file on it.")
        if not os.access(path, os.W_OK):
            raise WriteFailed(f"The output {path} cannot be written: no permission.")
        return
    if target.is_dir():
        raise WriteFailed(f"The output {path} is a folder; name a file in it.")
    if not target.parent.is_dir():
        folder = target.parent if Path(path).is_symlink() else Path(path).parent
        raise WriteFailed(
            f"The output {path} cannot be written: there is no folder {folder}; create it."
        )
    if not os.access(target.parent, os.W_OK):
        raise WriteFailed(
            f"The output {path} cannot be written: no permission in {target.parent}."
        )


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path to which no table can be written."""
    check_place(path)
    if ending_or(path, ".csv") not in WRITERS:
        raise InvalidInput(
            f"The output {path} has the ending {Path(path).suffix or 'nothing'!r}; "
            f"a table can be written to {', '.join(WRITERS)}."
        )


def ending_or(path: str | os.PathLike[str], usual: str) -> str:
    """The extension that names the format; a device or a pipe gets the ``usual`` one.

    >>> ending_or("scores.Parquet", ".csv"), ending_or("-", ".csv"), ending_or("scores", ".csv")
    ('.parquet', '.csv', '')
    """
    suffix = Path(path).suffix.lower()
    return usual if not suffix and is_stream(path) else suffix


def write_table(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table in the format of the path's extension."""
    check_writable(path)
    with whole_file(path) as file:
        WRITERS[ending_or(path, ".csv")](frame, file)


PARQUET = ".parquet"
WRITERS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    PARQUET: pl.DataFrame.write_parquet,
    ".csv": lambda frame, file: write_cells(frame, file),
    ".tsv": lambda frame, file: write_cells(frame, file, "\t"),
    ".json": lambda frame, file: file.write(frame.write_json().encode()),
    ".jsonl": pl.DataFrame.write_ndjson,
    ".arrow": pl.DataFrame.write_ipc,
}


def _short(name: str) -> str:
    """The beginning of a name; file systems count bytes, and a suffix is added later."""
    return name[:100] if len(os.fsencode(name[:100])) <= 200 else name[:40]


def _sentence(target: str | os.PathLike[str], error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return f"The output {target} cannot be written: {why}; nothing was changed there."


ARMED = r"^'*[=+\-@＝＋－＠\t\r\n]"
"""Text that a spreadsheet may run as a formula, after any apostrophes."""
_ARMED = re.compile(ARMED)


def guard(text: str) -> str:
    """Escape a text so that no spreadsheet runs it as a formula.

    >>> guard("=1+1"), guard("'=1"), guard("a")
    ("'=1+1", "''=1", 'a')
    """
    return f"'{text}" if _ARMED.match(text) else text


def unguard(cell: str) -> str:
    """Undo :func:`guard`.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _ARMED.match(cell) else cell


def is_armed(texts: pl.Expr) -> pl.Expr:
    """Whether each text needs an apostrophe."""
    return texts.str.contains(ARMED)


def guarded(texts: pl.Expr) -> pl.Expr:
    """:func:`guard` for columns."""
    return pl.when(is_armed(texts)).then(pl.lit("'") + texts).otherwise(texts).name.keep()


def unguarded(cells: pl.Expr) -> pl.Expr:
    """:func:`unguard` for columns."""
    # Far faster than replacing by pattern, as few cells are guarded.
    has_guard = cells.str.starts_with("'") & is_armed(cells)
    return pl.when(has_guard).then(cells.str.slice(1)).otherwise(cells).name.keep()


def write_cells(
    frame: pl.DataFrame, file: BinaryIO, separator: str = ",", *, header: bool = True
) -> None:
    """Write a table as text, its texts guarded."""
    safe = guarded_frame(frame)
    # Polars does not quote a carriage return, which ends a row for many readers.
    breaks = safe.select(pl.col(pl.String).str.contains("\r", literal=True).any())
    style: Literal["non_numeric", "necessary"] = (
        "non_numeric" if breaks.width and any(breaks.row(0)) else "necessary"
    )
    safe.write_csv(file, separator=separator, include_header=header, quote_style=style)


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with all its texts and column names guarded."""
    safe = frame.with_columns(guarded(pl.col(pl.String)))
    return safe.rename({name: guard(name) for name in frame.columns})
