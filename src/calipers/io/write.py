"""Files out: whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import polars as pl

from calipers.errors import InvalidInput, WriteFailed


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


def write_table(frame: pl.DataFrame, path: str | Path) -> None:
    """A table in the form that the ending of the path names."""
    check_writable(path)
    with whole_file(path) as file:
        WRITERS[Path(path).suffix.lower()](frame, file)


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that a spreadsheet would run as a formula, made harmless by an apostrophe."""
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(r"^[=+\-@\t\r]"))
        .then(pl.concat_str(pl.lit("'"), pl.col(name)))
        .otherwise(pl.col(name))
        .alias(name)
        for name, dtype in frame.schema.items()
        if dtype == pl.String
    )


WRITERS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".csv": lambda frame, file: without_formulas(frame).write_csv(file),
    ".tsv": lambda frame, file: without_formulas(frame).write_csv(file, separator="\t"),
    ".json": lambda frame, file: file.write(frame.write_json().encode()),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
    ".arrow": lambda frame, file: frame.write_ipc(file),
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
