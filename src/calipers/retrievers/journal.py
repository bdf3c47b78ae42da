"""The run file while it is being written: one line per finished question, never rewritten.

Each line is handed to the operating system before the next question counts as finished, so
that a killed process loses nothing it was told. Which run the file belongs to stands beside
it, in ``<file>.meta.json``: the lines stay plain records, which every reader takes as they
are, and a reader need not know what a header line would mean.
"""

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.write import check_place, is_stream, whole_file
from calipers.model.arrays import Ints
from calipers.retrievers.base import Question
from calipers.retrievers.counts import AnswerCounts
from calipers.retrievers.entry import glance
from calipers.retrievers.questions import Questions
from calipers.version import __version__

SUFFIX = ".jsonl"
FORMAT = "calipers run 1"
ABSENT = -1
"""Where the line of a question begins that is not in the file."""
WINDOW = 1 << 16
"""Bytes to read at a time where lines are put into order: neighbours are mostly near."""


class Meta(msgspec.Struct, omit_defaults=True):
    """What stands beside a run file."""

    format: str
    calipers: str
    settings: dict[str, Any]
    complete: bool = False
    report: dict[str, Any] | None = None


class Journal:
    """An open run file: what is in it already, and the way to add to it.

    It keeps one number per question: the byte at which its line begins.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], questions: Questions) -> None:
        self.path = path
        self.settings = dict(settings)
        self.questions = questions
        self._starts = array("q", [ABSENT]) * len(questions)
        self._file = _locked(path)
        self._size = 0

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        questions: Questions,
        counts: AnswerCounts,
        *,
        restart: bool = False,
        retry_errors: bool = False,
    ) -> Self:
        """Begin a run file, or go on with one; what it holds is counted into ``counts``."""
        place = Path(path)
        decides = {**settings, "questions": questions.fingerprint}
        _check_place(place)
        _check_owner(place, None if restart else decides)
        journal = cls(place, decides, questions)
        try:
            for left in place.parent.glob(f".{_escaped(place.name[:100])}.*.part"):
                left.unlink(missing_ok=True)
            if restart:
                os.ftruncate(journal._file, 0)
            journal._write_meta(complete=False, report=None)
            journal._take_stock(counts, retry_errors)
        except BaseException:
            journal.close()
            raise
        return journal

    @property
    def left(self) -> int:
        """How many questions are not in the file."""
        return self._starts.count(ABSENT)

    def unfinished(self) -> Iterator[tuple[int, Question]]:
        """The questions that are not in the file, in order, each with its number."""
        starts = self._starts
        return (one for one in enumerate(self.questions) if starts[one[0]] == ABSENT)

    def write(self, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        """Add the lines of these questions; the operating system has them when this returns."""
        content = b"\n".join((*lines, b""))
        try:
            written = os.write(self._file, content)
            while written < len(content):
                written += os.write(self._file, content[written:])
        except OSError as error:
            # Half a line would spoil the next one, which another worker may still bring.
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise WriteFailed(
                f"The run {self.path} cannot be written: {error.strerror}; what is there stays, "
                "and the same command goes on from it."
            ) from error
        for number, line in zip(numbers, lines, strict=True):
            self._starts[number] = self._size
            self._size += len(line) + 1

    def finish(self, report: Mapping[str, Any]) -> None:
        """Put the lines into the order of the questions and mark the run as complete."""
        if np.any(np.diff(np.asarray(self._starts)) < 0):
            with self.path.open("rb", WINDOW) as unsorted, whole_file(self.path) as file:
                for start in self._starts:
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
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write_meta(self, *, complete: bool, report: dict[str, Any] | None) -> None:
        meta = Meta(FORMAT, __version__, self.settings, complete, report)
        with whole_file(meta_path(self.path)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(meta), indent=2) + b"\n")

    def _take_stock(self, counts: AnswerCounts, retry_errors: bool) -> None:
        """Count what is there; repair a last line that was cut off in the middle."""
        if not _repaired(self._file, self.path):
            return
        answered = False
        keys, starts, dropped = array("q"), array("q"), array("q")
        for number, (start, line) in enumerate(_entries(self.path), 1):
            entry = glance(line)
            if entry is None:
                raise _damaged(self.path, number, f"{line[:60]!r} is no record", "repair that line")
            if entry.error is not None and retry_errors:
                dropped.append(start)
                continue
            answered = answered or entry.error is None
            keys.append(self.questions.key(entry.key))
            # Where it begins when the dropped lines are gone.
            starts.append(self._size)
            self._size += len(line) + 1
            counts.add(entry)
        if not answered and not dropped:
            # Errors alone are nothing to go on from.
            counts.errors.clear()
            counts.first_error = None
            os.ftruncate(self._file, 0)
            self._size = 0
            return
        numbers = self.questions.numbers(keys)
        if np.any(numbers < 0) or len(np.unique(numbers)) < len(numbers):
            raise self._damage(numbers, retry_errors)
        np.asarray(self._starts)[numbers] = np.asarray(starts)
        if dropped:
            self._drop(dropped)

    def _damage(self, numbers: Ints, retry_errors: bool) -> InvalidInput:
        """The first line that stands there twice, or belongs to no question."""
        wrong = np.ones(len(numbers), np.bool_)
        wrong[np.unique(numbers, return_index=True)[1]] = False
        at = int(np.argmax(wrong | (numbers < 0)))
        lines = ((place, glance(line)) for place, (_, line) in enumerate(_entries(self.path), 1))
        kept = ((place, one) for place, one in lines if one and not (one.error and retry_errors))
        place, entry = next(islice(kept, at, None))
        why = "is none of those to ask" if numbers[at] < 0 else "stands there twice"
        return _damaged(self.path, place, f"the question {entry.key!r:.60} {why}")

    def _drop(self, starts: "array[int]") -> None:
        """The file without the lines of questions that are to be asked again."""
        gone = iter(starts)
        following = next(gone, None)
        with whole_file(self.path) as after:
            for start, line in _entries(self.path):
                if start == following:
                    following = next(gone, None)
                else:
                    after.write(line + b"\n")
        self.close()
        self._file = _locked(self.path)


def meta_path(path: Path) -> Path:
    """Where the settings of a run file stand."""
    return path.with_name(path.name + ".meta.json")


def _check_place(path: Path) -> None:
    check_place(path)
    if is_stream(path):
        raise InvalidInput(
            f"The output {path} is no regular file; a run grows there answer by answer and is gone "
            f"on with after an interruption, so name a file with the ending {SUFFIX}."
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
    except (msgspec.DecodeError, RecursionError, OSError):
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


def _damaged(path: Path, line: int, what: str, otherwise: str = "") -> InvalidInput:
    begin_again = "begin again with --restart (restart=True)"
    return InvalidInput(
        f"The run {path} is damaged at line {line}: {what}; "
        f"{f'{otherwise}, or ' if otherwise else ''}{begin_again}."
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
