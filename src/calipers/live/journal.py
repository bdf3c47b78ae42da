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
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.files.lock import STAYS_WHILE_OPEN, lock, open_binary
from calipers.io.files.write import check_place, is_stream, whole_file
from calipers.live.adapters.base import Question
from calipers.live.entries import AnswerCounts, glance
from calipers.live.questions import Questions
from calipers.live.resume import FORMAT, Meta, Wish, backup_path, fate_of, meta_path
from calipers.model.arrays import Ints
from calipers.version import __version__

SUFFIX = ".jsonl"
ABSENT = -1
"""Where the line of a question begins that is not in the file."""
WINDOW = 1 << 16
"""Bytes to read at a time where lines are put into order: neighbours are mostly near."""


class Journal:
    """An open run file: what is in it already, and the way to add to it.

    It keeps one number per question: the byte at which its line begins.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], questions: Questions) -> None:
        self.path = path
        self.settings = dict(settings)
        self.code: Mapping[str, str] = {}
        self.earlier: str | None = None
        """What became of the file of before, where that is worth a word."""
        self._set_aside = False
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
        code: Mapping[str, str] | None = None,
        wish: Wish | None = None,
    ) -> Self:
        """Begin a run file, or go on with one; what it holds is counted into ``counts``."""
        place, wish = Path(path), wish or Wish()
        decides = {**settings, "questions": questions.fingerprint}
        _check_place(place)
        fate = fate_of(place, decides, code or {}, wish)
        journal = cls(place, decides, questions)
        try:
            journal.code, journal.earlier = dict(code or {}), fate.said
            for left in place.parent.glob(f".{escape(place.name[:100])}.*.part"):
                left.unlink(missing_ok=True)
            if fate.set_aside:
                journal._put_aside()
            if fate.emptied:
                os.ftruncate(journal._file, 0)
            journal._write_meta(complete=False, report=None)
            journal._take_stock(counts, wish.retry_errors)
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
            with whole_file(self.path) as file:
                with self.path.open("rb", WINDOW) as unsorted:
                    for start in self._starts:
                        unsorted.seek(start)
                        file.write(unsorted.readline())
                self._let_go()
        else:
            os.fsync(self._file)
        self._write_meta(complete=True, report=dict(report))

    def discard(self) -> None:
        """Remove a run in which nothing was found; the one of before is in its place again."""
        self._let_go()
        for mine, kept in self._pairs():
            mine.unlink(missing_ok=True)
            if self._set_aside:
                kept.replace(mine)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _let_go(self) -> None:
        """Close the file before it is replaced, where an open one cannot be; the lock goes too."""
        if STAYS_WHILE_OPEN:
            self.close()

    def _pairs(self) -> tuple[tuple[Path, Path], tuple[Path, Path]]:
        """The file and what stands beside it, each with the name under which it is kept."""
        kept = backup_path(self.path)
        return (self.path, kept), (meta_path(self.path), meta_path(kept))

    def _put_aside(self) -> None:
        """Keep the file of before under another name, and begin a new one."""
        self._let_go()
        for mine, kept in self._pairs():
            mine.replace(kept)
        self._set_aside = True
        self.close()
        self._file = _locked(self.path)

    def _write_meta(self, *, complete: bool, report: dict[str, Any] | None) -> None:
        meta = Meta(FORMAT, __version__, self.settings, complete, report, dict(self.code))
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
            self._let_go()
        self.close()
        self._file = _locked(self.path)


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


def _damaged(path: Path, line: int, what: str, otherwise: str = "") -> InvalidInput:
    begin_again = "begin again with --restart (restart=True)"
    return InvalidInput(
        f"The run {path} is damaged at line {line}: {what}; "
        f"{f'{otherwise}, or ' if otherwise else ''}{begin_again}."
    )


def _locked(path: Path) -> int:
    try:
        file = open_binary(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise WriteFailed(f"The output {path} cannot be written: {error.strerror}.") from error
    if lock(file):
        return file
    os.close(file)
    raise InvalidInput(
        f"Another process is writing to {path} right now; wait for it, or name another output."
    )


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
