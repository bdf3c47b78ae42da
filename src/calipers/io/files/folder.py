"""Read a folder or a pattern of tables as one table."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Progress, Source, is_standard_input
from calipers.io.files.parquet import check_parquet
from calipers.io.files.probe import Probe
from calipers.io.files.write import ending, unguarded
from calipers.io.records.gather import MemoryBudget
from calipers.io.registry import read_probe, read_source, recognise
from calipers.io.tables.columns import Columns
from calipers.io.tables.scan import InputTable, explained, in_memory
from calipers.model.matched import Dataset, Role

DATA = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".trec", ".run", ".txt")
"""Extensions of data files; a folder may hold others, such as a README or _SUCCESS."""
_scan_text = partial(pl.scan_csv, infer_schema=False, glob=False)
SCANS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".parquet": partial(pl.scan_parquet, glob=False),
    ".arrow": partial(pl.scan_ipc, glob=False),
    ".csv": _scan_text,
    ".tsv": partial(_scan_text, separator="\t"),
}
"""The tables of which several are one."""


def read_path(
    value: str | os.PathLike[str],
    role: Role,
    progress: Progress | None,
    columns: Columns,
    room: MemoryBudget,
) -> Dataset:
    """Read a file, a folder or a pattern such as ``logs/*.parquet``."""
    path = Path(value)
    files = files_at(path, columns) or [path]
    if len(files) == 1:
        return read_source(Source(files[0], progress), role, columns, room)
    read = read_probe(Probe(Source(path), columns, together(files, str(path))), role)
    found = read if isinstance(read, Dataset) else read.dataset(room)
    run = found.run
    if run is not None and run.order == "listed" and run.queries is None:
        raise InvalidInput(
            f"The files of {path} have neither scores nor ranks that would say how the results of "
            "a query belong together; add one of them, or put all rows into one file."
        )
    return found


def together(files: list[Path], name: str) -> InputTable:
    """Several tables of one kind, with the same columns, as one."""
    kinds = {ending(one) for one in files}
    if len(kinds) > 1 or not kinds <= SCANS.keys():
        raise InvalidInput(
            f"Put the files of {name} into one: several are read together where all of them are "
            f"of one kind, {', '.join(SCANS)}; found {', '.join(sorted(kinds))}."
        )
    kind = kinds.pop()
    with explained(name):
        for one in files if kind == ".parquet" else ():
            check_parquet(one)
        tables = [SCANS[kind](one) for one in files]
        columns = [one.collect_schema().names() for one in tables]
        other = next((i for i, one in enumerate(columns) if {*one} != {*columns[0]}), None)
        if other is not None:
            raise InvalidInput(
                f"The files of {name} are not alike: {files[0]} has {', '.join(columns[0])} and "
                f"{files[other]} has {', '.join(columns[other])}; give files with the same columns."
            )
        table = pl.concat([one.select(columns[0]) for one in tables])
        if kind in (".csv", ".tsv"):
            table = table.with_columns(unguarded(pl.col(pl.String)))
        note = f"{name} is read as one: {len(files):,} files."
        return replace(in_memory(table, name), notes=(note,))


def files_at(path: Path, columns: Columns) -> list[Path] | None:
    """The files of a folder or pattern; None for one file or a folder in a known format."""
    if path.is_dir():
        sight = Probe(Source(path), columns)
        # Raises if a saved dataset is damaged; its part files are not read by themselves.
        _ = sight.table
        try:
            recognise(sight, "both")
        except UnreadableFile:
            inside = sorted(one for one in path.rglob("*") if is_data(one.relative_to(path)))
            inside = [one for one in inside if one.is_file()]
            if inside:
                return inside
        return None
    # An existing file wins, even if its name looks like a pattern.
    if is_standard_input(path) or path.exists() or not has_magic(str(path)):
        return None
    # Path.glob does not accept absolute patterns.
    matching = glob(str(path), recursive=True)  # noqa: PTH207
    found = sorted(one for one in map(Path, matching) if one.is_file() and _is_meant(one, path))
    if not found:
        raise UnreadableFile(f"No file matches {path}; check the pattern.")
    return found


def _is_meant(file: Path, pattern: Path) -> bool:
    """Whether a match is data; a marker such as _SUCCESS only if the pattern asks for it."""
    return not file.name.startswith("_") or pattern.name.startswith("_")


def is_data(path: Path) -> bool:
    """Whether a file in a folder is data: by its extension, and neither hidden nor a marker.

    >>> [is_data(Path(p)) for p in ("part-0.parquet", "a.jsonl.gz", "_SUCCESS", ".x.csv")]
    [True, True, False, False]
    """
    if any(part.startswith((".", "_")) for part in path.parts):
        return False
    return ending(path) in DATA
