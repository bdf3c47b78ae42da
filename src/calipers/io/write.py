"""Files out: whole or not at all."""

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.guard import guarded_frame

PACKED = ".gz"


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that takes its name only when everything is written."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{_short(target.name)}.", suffix=".part", dir=target.parent
        )
    except OSError as error:
        raise WriteFailed(_sentence(target, error)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WriteFailed(_sentence(target, error)) from error
        raise


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to write bytes to; it takes its name when everything is written."""
    with whole_file(path) as file:
        if path.suffix.lower() != PACKED:
            yield file
            return
        # Without a time and a name inside, the same content gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def ending(path: Path) -> str:
    """The ending that names the form, in small letters.

    >>> ending(Path("run.TREC.gz")), ending(Path("a.jsonl"))
    ('.trec', '.jsonl')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_place(path: str | Path) -> None:
    """Complain before any work about a place that cannot be written to."""
    target = Path(path)
    if target.is_dir():
        raise WriteFailed(f"The output {path} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise WriteFailed(
            f"The output {path} cannot be written: there is no folder {target.parent}; create it."
        )
    if not os.access(target.parent, os.W_OK):
        raise WriteFailed(f"The output {path} cannot be written: no permission in {target.parent}.")


def check_writable(path: str | Path) -> None:
    """Complain before any work about a table that cannot be written there."""
    check_place(path)
    target = Path(path)
    if target.suffix.lower() not in WRITERS:
        raise InvalidInput(
            f"The output {path} has the ending {target.suffix or 'nothing'!r}; "
            f"a table can be written to {', '.join(WRITERS)}."
        )


def write_table(
    frame: pl.DataFrame, path: str | Path, about: Mapping[str, str] | None = None
) -> None:
    """A table in the form that the ending of the path names; only Parquet can hold ``about``."""
    check_writable(path)
    suffix = Path(path).suffix.lower()
    with whole_file(path) as file:
        if suffix == PARQUET and about:
            frame.write_parquet(file, metadata=dict(about))
        else:
            WRITERS[suffix](frame, file)


def _write_csv(frame: pl.DataFrame, file: BinaryIO) -> None:
    guarded_frame(frame).write_csv(file)


def _write_tsv(frame: pl.DataFrame, file: BinaryIO) -> None:
    guarded_frame(frame).write_csv(file, separator="\t")


def _write_json(frame: pl.DataFrame, file: BinaryIO) -> None:
    file.write(frame.write_json().encode())


PARQUET = ".parquet"
WRITERS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    PARQUET: pl.DataFrame.write_parquet,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".arrow": pl.DataFrame.write_ipc,
}


def _short(name: str) -> str:
    """The beginning of a name; file systems count bytes, and a suffix is still to come."""
    return name[:100] if len(os.fsencode(name[:100])) <= 200 else name[:40]


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _sentence(target: Path, error: OSError) -> str:
    return (
        f"The output {target} cannot be written: {error.strerror or error}; "
        "nothing was changed there."
    )
