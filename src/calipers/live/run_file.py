"""The run file: one line per finished question, resumed after an interruption.

A question counts as finished once the operating system has its line, so a killed process
loses no answer. ``calipers eval --run`` reads the lines as they are. The settings of the
run are in ``<file>.meta.json``.

An interrupted run is resumed unless a setting changed that decides its answers. A
finished run is asked again, because a retriever is measured again after it was changed;
the previous file is kept as a backup.
"""

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.files.lock import STAYS_WHILE_OPEN, lock, open_binary
from calipers.io.files.write import check_place, is_stream, whole_file
from calipers.io.records.documents import Row
from calipers.live.adapters.base import Question
from calipers.live.answers import Answer
from calipers.live.questions import Questions
from calipers.live.result import RetrievalReport
from calipers.version import __version__

FORMAT = "calipers run 1"
SUFFIX = ".jsonl"
ABSENT = -1
"""Start of the line of a question that is not in the file."""

MARKS = ("cached", "short", "empty", "unsorted")
"""Flags for unusual answers."""

encode = msgspec.json.Encoder().encode


class RunEntry(msgspec.Struct, omit_defaults=True):
    """The line of one question; the last three fields are for the report."""

    query: str
    retrieved: list[Row]
    id: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    stages: Mapping[str, list[Row]] | None = None
    warm_up: bool = False
    cached: bool = False
    unsorted: bool = False

    @property
    def key(self) -> str:
        """The id of the question."""
        return self.query if self.id is None else self.id

    @classmethod
    def answered(
        cls, question: Question, answer: Answer, seconds: float, warm_up: bool
    ) -> Self:
        """The entry of a question that was answered."""
        # Positional: this runs once per question, and keywords would cost as much as the
        # rest.
        return cls(
            question.text,
            answer.retrieved,
            _own_id(question),
            round(seconds * 1000, 3),
            None,
            answer.stages or None,
            warm_up,
            False,
            answer.unsorted,
        )

    @classmethod
    def failed(cls, question: Question, error: str) -> Self:
        """The entry of a question that failed."""
        return cls(question.text, [], _own_id(question), error=error)

    def for_question(self, question: Question) -> Self:
        """This entry as a cached answer to a question, without its old latency."""
        self.id = _own_id(question)
        self.latency_ms = None
        self.warm_up = False
        self.cached = True
        return self


def _own_id(question: Question) -> str | None:
    return None if question.id == question.text else question.id


read_entry = msgspec.json.Decoder(RunEntry).decode


@dataclass(eq=False)
class AnswerCounts:
    """Counts that grow with each entry, new or read back from the file."""

    k: int
    retriever: str = ""
    answered: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    first_error: str | None = None
    marks: Counter[str] = field(default_factory=Counter)
    """How many answers have each of the ``MARKS``."""
    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    """Milliseconds of each call after the warm-up, eight bytes each."""

    @property
    def done(self) -> int:
        """Finished questions, answered or failed."""
        return self.answered + self.errors.total()

    def add(self, entry: RunEntry) -> None:
        """Count an entry."""
        if entry.error is not None:
            self.errors[entry.error.partition(":")[0]] += 1
            self.first_error = self.first_error or entry.error
            return
        self.answered += 1
        if len(entry.retrieved) < self.k:
            self.marks["short" if entry.retrieved else "empty"] += 1
        for name in ("unsorted", "cached"):
            self.marks[name] += getattr(entry, name)
        if entry.latency_ms is not None and not entry.warm_up:
            self.latencies.append(entry.latency_ms)

    def latency_ms(self) -> dict[str, float | int | None]:
        """Count, p50, p95, p99, mean and max after the warm-up."""
        # As an array: a list would be four times as large.
        usual = np.frombuffer(self.latencies, np.float64)
        n = len(usual)
        # Each percentile is the smallest value that at least this share of values does
        # not exceed.
        shares = (0.5, 0.95, 0.99)
        if not n:
            nothing = dict.fromkeys(("p50", "p95", "p99", "mean", "max"))
            return {"count": 0, **nothing}
        p50, p95, p99 = np.quantile(usual, shares, method="inverted_cdf").tolist()
        return {
            "count": n,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "mean": float(usual.mean()),
            "max": float(usual.max()),
        }

    def report(self, **about: Any) -> RetrievalReport:
        """The report of the finished retrieval."""
        about |= {name: self.marks[name] for name in MARKS}
        return RetrievalReport(
            retriever=self.retriever,
            k=self.k,
            answered=self.answered,
            errors=dict(sorted(self.errors.items())),
            first_error=self.first_error,
            latency_ms=self.latency_ms(),
            **about,
        )


class Meta(msgspec.Struct, omit_defaults=True):
    """The metadata file of a run."""

    format: str
    calipers: str
    settings: dict[str, object]
    complete: bool = False
    report: dict[str, object] | None = None
    code: dict[str, str] = {}
    """The fingerprint of each source file of the retriever."""


def meta_path(path: Path) -> Path:
    """The path of a run's metadata file."""
    return path.with_name(path.name + ".meta.json")


def backup_path(path: Path) -> Path:
    """The path of the previous run file after a new run."""
    return path.with_name(path.name + ".bak")


def read_meta(path: Path) -> Meta | None:
    """Read the metadata of a run file; None if there is none, or none that we wrote."""
    try:
        meta = msgspec.json.decode(meta_path(path).read_bytes(), type=Meta)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError):
        return None
    return meta if meta.format == FORMAT else None


@dataclass(frozen=True)
class ExistingRun:
    """What to do with an existing output."""

    restart: bool = False
    retry_errors: bool = False
    afresh: bool = False
    """Whether to back up and replace a run of other settings instead of refusing it."""


class RunWriter:
    """An open run file: its existing lines, and how to add new ones.

    It keeps one number per question: the byte at which its line begins.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, object],
        questions: Questions,
        counts: AnswerCounts,
        *,
        code: Mapping[str, str] | None = None,
        wish: ExistingRun | None = None,
    ) -> None:
        """Start or resume a run file; its existing lines are added to ``counts``."""
        self.path = Path(path)
        wish = wish or ExistingRun()
        self.questions = questions
        decides = {**settings, "questions": questions.fingerprint}
        self.meta = Meta(FORMAT, __version__, decides, code=dict(code or {}))
        self._starts = array("q", [ABSENT]) * len(questions)
        _check_place(self.path)
        # `earlier` says what happened to the previous file, if worth mentioning.
        self._set_aside, self.earlier = _resolve_existing(self.path, self.meta, wish)
        self._file = _locked(self.path)
        try:
            self._remove_unfinished_copies()
            if self._set_aside:
                self._release()
                for mine, kept in self._pairs():
                    mine.replace(kept)
                self._reopen()
            self._write_meta()
            self._count_existing(counts, wish.retry_errors)
        except BaseException:
            self.close()
            raise

    def _remove_unfinished_copies(self) -> None:
        """Remove what a process that was killed while it rewrote the file has left."""
        name = escape(self.path.name[:100])
        for copy in self.path.parent.glob(f".{name}.*.part"):
            copy.unlink(missing_ok=True)

    def unfinished(self) -> Iterator[tuple[int, Question]]:
        """The questions that are not in the file, in order, each with its number."""
        return (
            numbered
            for numbered in enumerate(self.questions)
            if self._starts[numbered[0]] == ABSENT
        )

    def write(self, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        """Append the lines of these questions; the operating system has them on return."""
        content = b"\n".join((*lines, b""))
        try:
            written = os.write(self._file, content)
            while written < len(content):
                written += os.write(self._file, content[written:])
        except OSError as error:
            # Half a line would corrupt the next one, which another worker may still
            # write.
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise WriteFailed(
                f"The run {self.path} cannot be written: {error.strerror}; what is there "
                "stays, and the same command goes on from it."
            ) from error
        for number, line in zip(numbers, lines, strict=True):
            self._starts[number] = self._size
            self._size += len(line) + 1

    def finish(self, report: Mapping[str, object]) -> None:
        """Sort the lines by question and mark the run as complete."""
        if np.any(np.diff(np.asarray(self._starts)) < 0):
            self._rewrite(self._starts)
        else:
            os.fsync(self._file)
        self.meta.complete = True
        self.meta.report = dict(report)
        self._write_meta()

    def discard(self) -> None:
        """Remove a run without any answer and restore the previous one."""
        self._release()
        for mine, kept in self._pairs():
            mine.unlink(missing_ok=True)
            if self._set_aside:
                kept.replace(mine)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _release(self) -> None:
        """Close and unlock the file before it is replaced, on systems that require it."""
        if STAYS_WHILE_OPEN:
            self.close()

    def _reopen(self) -> None:
        """Open and lock the file that has the name now."""
        self.close()
        self._file = _locked(self.path)

    def _pairs(self) -> tuple[tuple[Path, Path], tuple[Path, Path]]:
        """The run file and its metadata, each with its backup path."""
        kept = backup_path(self.path)
        return (self.path, kept), (meta_path(self.path), meta_path(kept))

    def _write_meta(self) -> None:
        with whole_file(meta_path(self.path)) as file:
            file.write(msgspec.json.format(encode(self.meta), indent=2) + b"\n")

    def _rewrite(self, starts: Iterable[int]) -> None:
        """Keep the lines that start at these bytes, in this order."""
        with whole_file(self.path) as file:
            with self.path.open("rb") as before:
                for start in starts:
                    before.seek(start)
                    file.write(before.readline())
            self._release()
        self._reopen()

    def _count_existing(self, counts: AnswerCounts, retry_errors: bool) -> None:
        """Count the existing lines; drop one cut off by a kill, and errors to be retried."""
        if retry_errors:
            self._rewrite(
                [start for start, entry in self._entries() if entry.error is None]
            )
        numbers = {question.id: number for number, question in enumerate(self.questions)}
        for start, entry in self._entries():
            number = numbers.get(entry.key)
            if number is None or self._starts[number] != ABSENT:
                raise self._damaged(
                    f"the question {entry.key!r:.60} is unknown, or stands twice"
                )
            self._starts[number] = start
            counts.add(entry)
        self._size = os.fstat(self._file).st_size

    def _entries(self) -> Iterator[tuple[int, RunEntry]]:
        """Each entry with the byte at which its line starts."""
        start = 0
        with self.path.open("rb") as file:
            for line in file:
                try:
                    entry = read_entry(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    if line.endswith(b"\n"):
                        raise self._damaged(
                            f"{line[:60].rstrip()!r} is no record"
                        ) from None
                    os.ftruncate(self._file, start)
                    return
                yield start, entry
                if not line.endswith(b"\n"):
                    # The last one: what is added now must not be read as another.
                    os.write(self._file, b"\n")
                    return
                start += len(line)

    def _damaged(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"The run {self.path} is damaged: {what}; repair it, or begin again with "
            "--restart."
        )


def _resolve_existing(
    path: Path, wanted: Meta, wish: ExistingRun
) -> tuple[bool, str | None]:
    """Whether to set an existing output aside, and what the report says about it.

    A file that is not ours to replace is refused, as it may be the questions.
    """
    beside = meta_path(path)
    meta = read_meta(path)
    filled = path.exists() and path.stat().st_size
    if meta is None and (filled or beside.exists()):
        raise InvalidInput(
            f"The output {path} was not written by `calipers retrieve`, or {beside.name} "
            "beside it cannot be read; name another file, or remove it."
        )
    if meta is None or not filled:
        return False, None
    ended = "finished" if meta.complete else "interrupted"
    kept = f"The {ended} run of before is kept in {backup_path(path)}."
    changed = _changed_settings(meta, wanted)
    rewritten = _changed_code(meta, wanted)
    if wish.restart:
        return True, kept
    if wish.afresh and (changed or (rewritten and not wish.retry_errors)):
        return True, kept
    if changed and (wish.retry_errors or not meta.complete):
        raise InvalidInput(
            f"The output {path} belongs to another run: {'; '.join(changed)}. Give the "
            "same settings to go on with it, name another output, or replace it with "
            "--restart."
        )
    # From here on the settings are the same, or the run is finished and may be replaced.
    if wish.retry_errors:
        return False, f"For a part of these answers {rewritten}." if rewritten else None
    if not meta.complete and rewritten:
        raise InvalidInput(
            f"The output {path} holds an interrupted run, and {rewritten}. Begin again "
            "with --restart, or go on and keep the answers it has with "
            "--retry-errors."
        )
    return (True, kept) if meta.complete else (False, None)


def _changed_settings(before: Meta, now: Meta) -> list[str]:
    """What decides the answers and differs from the run that is there, each in words."""
    old = before.settings
    new = msgspec.to_builtins(now.settings)
    return [
        f"{name} was {_display(old.get(name))} and is {_display(new.get(name))}"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


def _changed_code(before: Meta, now: Meta) -> str | None:
    """That the retriever's source files are others now, in words; None where it is not known."""
    if not before.code:
        return None
    names = dict.fromkeys((*before.code, *now.code))
    files = [name for name in names if before.code.get(name) != now.code.get(name)]
    return f"its code was changed ({', '.join(files):.120})" if files else None


def _display(value: object) -> str:
    """A setting for a sentence, cut off where it is long."""
    text = "not set" if value is None else encode(value).decode()
    return text if len(text) <= 80 else text[:79] + "…"


def _check_place(path: Path) -> None:
    """Refuse an output that cannot grow line by line."""
    check_place(path)
    if is_stream(path) or path.suffix.lower() != SUFFIX:
        raise InvalidInput(
            f"The output {path} cannot hold a run, which grows answer by answer and is "
            f"gone on with after an interruption; name a file with the ending {SUFFIX}."
        )


def _locked(path: Path) -> int:
    """The file, open and locked, or an error that says who has it."""
    try:
        file = open_binary(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise WriteFailed(
            f"The output {path} cannot be written: {error.strerror}."
        ) from error
    if lock(file):
        return file
    os.close(file)
    raise InvalidInput(
        f"Another process is writing to {path} right now; wait for it, or name another "
        "output."
    )
