"""The run file while it is being written: one line per finished question, never rewritten.

Each line is handed to the operating system before the next question counts as finished, so
that a killed process loses nothing it was told. Which run the file belongs to stands beside
it, in ``<file>.meta.json``: the lines stay plain records, which every reader takes as they
are, and a reader need not know what a header line would mean.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import msgspec

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.write import whole_file
from calipers.retrievers.entry import glance
from calipers.retrievers.report import Tally
from calipers.version import __version__

SUFFIX = ".jsonl"
FORMAT = "calipers run 1"


class Meta(msgspec.Struct, omit_defaults=True):
    """What stands beside a run file."""

    format: str
    calipers: str
    settings: dict[str, Any]
    complete: bool = False
    report: dict[str, Any] | None = None


class Journal:
    """An open run file: what is in it already, and the way to add to it."""

    def __init__(self, path: Path, settings: Mapping[str, Any], file: int) -> None:
        self.path = path
        self.settings = dict(settings)
        self.done: set[str] = set()
        self._file = file

    @classmethod
    def open(
        cls,
        path: str | Path,
        settings: Mapping[str, Any],
        tally: Tally,
        *,
        restart: bool = False,
        retry_errors: bool = False,
    ) -> Self:
        """Begin a run file, or go on with one; what it holds is counted into ``tally``."""
        place = Path(path)
        _check_place(place)
        _check_owner(place, None if restart else settings)
        file = _locked(place)
        journal = cls(place, settings, file)
        try:
            for left in place.parent.glob(f".{_escaped(place.name[:100])}.*.part"):
                left.unlink(missing_ok=True)
            if restart:
                os.ftruncate(file, 0)
            journal._write_meta(complete=False, report=None)
            journal._take_stock(tally, retry_errors)
        except BaseException:
            journal.close()
            raise
        return journal

    def write(self, line: bytes) -> None:
        """Add one line; it is with the operating system when this returns."""
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise WriteFailed(
                f"The run {self.path} cannot be written: {error.strerror}; what is there stays, "
                "and the same command goes on from it."
            ) from error

    def finish(self, order: Iterable[str], report: Mapping[str, Any]) -> None:
        """Put the lines into the order of the questions and mark the run as complete."""
        # Numbers in an array: a tuple for each line would be most of the memory of a large run.
        number = {key: place for place, key in enumerate(order)}
        starts = array("q", bytes(8 * len(number)))
        for start, line in _entries(self.path):
            entry = glance(line)
            if entry is not None:
                starts[number[entry.key]] = start
        if any(a > b for a, b in pairwise(starts)):
            with self.path.open("rb") as unsorted, whole_file(self.path) as file:
                for start in starts:
                    unsorted.seek(start)
                    file.write(unsorted.readline())
        else:
            os.fsync(self._file)
        self._write_meta(complete=True, report=dict(report))

    def discard(self) -> None:
        """Remove a run in which nothing was answered."""
        self.path.unlink(missing_ok=True)
        meta_path(self.path).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write_meta(self, *, complete: bool, report: dict[str, Any] | None) -> None:
        meta = Meta(FORMAT, __version__, self.settings, complete, report)
        with whole_file(meta_path(self.path)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(meta), indent=2) + b"\n")

    def _take_stock(self, tally: Tally, retry_errors: bool) -> None:
        """Count what is there; repair a last line that was cut off in the middle."""
        size = _repaired(self._file, self.path)
        if not size:
            return
        entries = _entries(self.path)
        answered = False
        failed: list[tuple[int, int]] = []
        for number, (start, line) in enumerate(entries, 1):
            entry = glance(line)
            if entry is None:
                raise InvalidInput(
                    f"The run {self.path} is damaged at line {number}: {line[:60]!r} is no record; "
                    "repair that line, or begin again with --restart (restart=True)."
                )
            if entry.error is not None and retry_errors:
                failed.append((start, len(line) + 1))
                continue
            if entry.key in self.done:
                raise InvalidInput(
                    f"The run {self.path} is damaged at line {number}: the question "
                    f"{entry.key!r:.60} stands there twice; begin again with --restart "
                    "(restart=True)."
                )
            answered = answered or entry.error is None
            self.done.add(entry.key)
            tally.add(entry)
        if failed:
            self._drop(failed)
        elif not answered:
            # Errors alone are nothing to go on from.
            self.done.clear()
            tally.errors.clear()
            tally.first_error = None
            os.ftruncate(self._file, 0)

    def _drop(self, failed: list[tuple[int, int]]) -> None:
        """The file without the lines of questions that are to be asked again."""
        gone = dict(failed)
        with self.path.open("rb") as before, whole_file(self.path) as after:
            start = 0
            for line in before:
                if start not in gone:
                    after.write(line)
                start += len(line)
        self.close()
        self._file = _locked(self.path)


def meta_path(path: Path) -> Path:
    """Where the settings of a run file stand."""
    return path.with_name(path.name + ".meta.json")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise WriteFailed(f"The output {path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise WriteFailed(
            f"The output {path} cannot be written: there is no folder {path.parent}; create it."
        )
    if path.suffix.lower() != SUFFIX:
        raise InvalidInput(
            f"The output {path} has the ending {path.suffix or 'nothing'!r}; a run is written as "
            f"JSON lines, so give it the ending {SUFFIX}."
        )


def _check_owner(path: Path, settings: Mapping[str, Any] | None) -> None:
    """Refuse a file that another run has written; without settings, any run may be replaced.

    A file that is no run at all is never replaced: it may be the questions themselves.
    """
    beside = meta_path(path)
    begun = path.exists() and path.stat().st_size > 0
    if not beside.exists():
        if begun:
            raise InvalidInput(
                f"The output {path} exists and was not written by `calipers retrieve` (there is no "
                f"{beside.name} beside it); name another file, or remove it."
            )
        return
    try:
        meta = msgspec.json.decode(beside.read_bytes(), type=Meta)
    except (msgspec.DecodeError, OSError):
        meta = None
    if meta is None or meta.format != FORMAT:
        raise InvalidInput(
            f"The file {beside} does not say to which run {path.name} belongs; name another "
            "output, or remove both."
        )
    if not begun or settings is None:
        return
    changed = [
        f"{name} was {_said(meta.settings.get(name))} and is {_said(settings.get(name))}"
        for name in dict.fromkeys((*meta.settings, *settings))
        if meta.settings.get(name) != msgspec.to_builtins(settings.get(name))
    ]
    if changed:
        raise InvalidInput(
            f"The output {path} belongs to another run: {'; '.join(changed)}. Give the same "
            "settings to go on with it, name another output, or replace it with --restart "
            "(restart=True)."
        )


def _said(value: Any) -> str:
    text = "not set" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:79] + "…"


def _locked(path: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise WriteFailed(f"The output {path} cannot be written: {error.strerror}.") from error
    try:
        import fcntl
    except ImportError:  # no such locks on Windows; there the second process is not noticed
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise InvalidInput(
            f"Another process is writing to {path} right now; wait for it, or name another output."
        ) from None
    return file


def _repaired(file: int, path: Path) -> int:
    """The size of the file after its last line is whole or gone."""
    size = os.fstat(file).st_size
    if not size:
        return 0
    with path.open("rb") as content:
        last = b""
        position = size
        while position and b"\n" not in last:
            step = min(position, 1 << 16)
            position -= step
            content.seek(position)
            last = content.read(step) + last
    tail = last[last.rfind(b"\n") + 1 :]
    if not tail:
        return size
    if glance(tail) is not None:
        os.write(file, b"\n")
        return size + 1
    os.ftruncate(file, size - len(tail))
    return size - len(tail)


def _entries(path: Path) -> Iterator[tuple[int, bytes]]:
    start = 0
    with path.open("rb") as file:
        for line in file:
            yield start, line[:-1]
            start += len(line)


def _escaped(name: str) -> str:
    return "".join(f"[{one}]" if one in "*?[" else one for one in name)
