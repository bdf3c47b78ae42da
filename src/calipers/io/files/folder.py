"""Read a folder or a pattern of files as one dataset."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Progress, Source, is_standard_input
from calipers.io.files.probe import Probe
from calipers.io.files.write import PACKED
from calipers.io.records.entries import with_tags
from calipers.io.records.gather import MemoryBudget
from calipers.io.registry import read_source, recognise
from calipers.io.tables.cells import tag_columns
from calipers.io.tables.columns import Columns
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import Run

DATA = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".trec", ".run", ".txt")
"""Extensions of data files; a folder may hold others, such as a README or _SUCCESS."""


def read_path(
    value: str | os.PathLike[str],
    role: Role,
    progress: Progress | None,
    columns: Columns,
    room: MemoryBudget,
) -> Dataset:
    """Read a file, a folder or a pattern such as ``logs/*.parquet``."""
    path = Path(value)
    files = files_at(path, columns)
    if files is None:
        return read_source(Source(path, progress), role, columns, room)
    callbacks = _progress_of(files, progress)
    parts = {}
    for one in files:
        part = read_source(Source(one, callbacks[one]), role, columns, room)
        parts[str(one)] = part if progress is None else _reporting(part, callbacks[one], one)
    return together(parts, str(path))


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
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == PACKED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in DATA


def _progress_of(files: Sequence[Path], progress: Progress | None) -> Mapping[Any, Any]:
    if progress is None:
        return dict.fromkeys(files)
    sizes = [one.stat().st_size for one in files]

    def of_one(before: int) -> Progress:
        return lambda done, _: progress(before + done, sum(sizes))

    return {one: of_one(sum(sizes[:i])) for i, one in enumerate(files)}


def _reporting(part: Dataset, progress: Progress, file: Path) -> Dataset:
    """The same dataset, which reports the whole file as read at the end."""
    run, size = part.run, file.stat().st_size
    if run is None or run.in_memory or run.stays:
        progress(size, size)
        return part

    def scan() -> Iterator[pl.DataFrame]:
        yield from run.scan()
        progress(size, size)

    return replace(part, run=replace(run, scan=scan))


def together(parts: Mapping[str, Dataset], what: str) -> Dataset:
    """Combine files, given by name, into one dataset; all must have the same format."""
    first, *_ = parts
    for name, part in parts.items():
        if part.kind != parts[first].kind:
            raise InvalidInput(
                f"The files of {what} are not alike: {first} is {parts[first].kind} and {name} is "
                f"{part.kind}; give files of one form."
            )
    truths = {n: part.ground_truth for n, part in parts.items() if part.ground_truth is not None}
    runs = {name: part.run for name, part in parts.items() if part.run is not None}
    return Dataset(
        _one_truth(truths, what) if truths else None,
        _one_run(runs, what) if runs else None,
        parts[first].kind,
        parts[first].no_truth,
        parts[first].proposal,
    )


def _notes(parts: Collection[GroundTruth] | Collection[Run], what: str) -> tuple[str, ...]:
    n = len(parts)
    said = f"{what} is read as one: {n:,} {'file' if n == 1 else 'files'}."
    return (said, *dict.fromkeys(note for one in parts for note in one.notes))


def _one_truth(files: Mapping[str, GroundTruth], what: str) -> GroundTruth:
    truths = files.values()
    queries = pl.concat([one.queries for one in truths])
    # Queries from files without a tag get null.
    tags = tag_columns(pl.concat(map(with_tags, truths), how="diagonal"))
    if tags:
        _refuse_twice({name: one.queries["query"] for name, one in files.items()})
    made = GroundTruth.from_targets(
        pl.concat([one.targets for one in truths]),
        queries=queries.unique("query", keep="first", maintain_order=True),
        tags=tags,
        where=lambda row: f"{what}, row {row + 1}",
    )
    made = made.forbidding(
        [one.forbidden for one in truths if one.forbidden is not None],
        [one.excluded for one in truths if one.excluded is not None],
    )
    repeated = made.repeated + sum(one.repeated for one in truths)
    return replace(made, repeated=repeated, notes=_notes(truths, what))


def _one_run(files: Mapping[str, Run], what: str) -> Run:
    runs = [*files.values()]
    orders = {(one.order, one.ties) for one in runs}
    if len(orders) > 1:
        raise InvalidInput(
            f"The files of {what} are not alike: in some of them scores make the order, in others "
            "ranks or rows; give files of one form."
        )
    asked = {name: one.queries for name, one in files.items() if one.queries is not None}
    if asked:
        # A result list is complete: two for one query cannot be combined.
        _refuse_twice({name: frame["query"] for name, frame in asked.items()})
    stages: dict[str, dict[str, Run]] = {}
    for name, one in files.items():
        for stage, run in one.stages.items():
            stages.setdefault(stage, {})[name] = run
    return Run(
        lambda: _scan(files, what),
        runs[0].order,
        runs[0].ties,
        pl.concat(asked.values(), how="diagonal") if asked else None,
        what,
        {stage: _one_run(of_files, what) for stage, of_files in stages.items()},
        notes=_notes(runs, what),
        stays=all(one.in_memory or one.stays for one in runs),
    )


def _scan(files: Mapping[str, Run], what: str) -> Iterator[pl.DataFrame]:
    columns: list[str] | None = None
    of_file: dict[str, str] = {}
    first: dict[tuple[str, int], str] = {}
    for name, run in files.items():
        for frame in run.scan():
            columns = columns or frame.columns
            if set(frame.columns) != set(columns):
                raise InvalidInput(
                    f"The files of {what} are not alike: {next(iter(files))} has "
                    f"{', '.join(columns)} and {name} has {', '.join(frame.columns)}; give files "
                    "with the same columns."
                )
            if run.order == "listed" and run.queries is None:
                for query in frame["query"].unique():
                    if of_file.setdefault(query, name) != name:
                        raise InvalidInput(_twice(query, of_file[query], name))
            if run.order == "rank" and "call" not in columns:
                # Two different lists for one query both have a first rank.
                for one in frame.filter(pl.col("rank") <= 1).select("query", "rank").iter_rows():
                    if first.setdefault(one, name) != name:
                        raise InvalidInput(
                            f"Two results of the query {one[0]!r:.60} have the rank {one[1]}, one "
                            f"in {first[one]} and one in {name}; give each a rank of its own, or "
                            "scores in place of ranks."
                        )
            yield frame.select(columns)


def _refuse_twice(files: Mapping[str, pl.Series]) -> None:
    whole = pl.concat(files.values())
    if not whole.is_duplicated().any():
        return
    query = whole.filter(whole.is_duplicated())[0]
    both = [name for name, queries in files.items() if query in queries]
    raise InvalidInput(_twice(query, both[0], both[-1]))


def _twice(query: str, one: str, other: str) -> str:
    return (
        f"The query {query!r} is in two files, {one} and {other}, without scores or ranks that "
        "would say how its results belong together; put them into one file."
    )
