"""The driver: sends every question once, a few at a time, and survives any answer.

Workers are threads; each handles a question from start to finish. A thread that hangs
cannot be stopped, so its question is recorded as timed out, the thread is abandoned,
another takes its place, and any late answer is ignored.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from calipers.errors import RetrieverFailed, check_number
from calipers.live.adapters.base import Question, Retriever, Session
from calipers.live.answers import read_answer
from calipers.live.failures import (
    AskFailed,
    ProtocolBroken,
    bad_answer,
    explain,
)
from calipers.live.run_file import AnswerCounts, RunEntry, encode
from calipers.words import plural

if TYPE_CHECKING:
    from calipers.live.cache import Cache

TIMEOUT_SECONDS = 30.0
RETRIES = 2
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
MOST_WORKERS = 1024
LEAST = 1e-6
MOST = 1e8
"""Numbers of seconds that every system's clock supports."""
SAME_FAILURES = 10
"""This many failures of one kind before the first answer stop the run."""
GRACE_SECONDS = 5.0
"""Extra time for a session that enforces the timeout itself."""
TICK_SECONDS = 0.1
GOODBYE_SECONDS = 2.0
"""How long to wait after Ctrl-C for calls in flight, and for a line to be written."""
NEVER = float("inf")

Numbered = tuple[int, Question]
"""A question with its position."""
Write = Callable[[Sequence[int], Sequence[bytes]], None]
"""Takes the numbers of the questions and the line of each."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Limits for one retrieval."""

    workers: int
    timeout: float | None = TIMEOUT_SECONDS
    retries: int = RETRIES

    def __post_init__(self) -> None:
        check_number("workers", self.workers, whole=True, least=1, most=MOST_WORKERS)
        check_number("retries", self.retries, whole=True, least=0)
        if self.timeout is not None:
            check_number("timeout", self.timeout, least=LEAST, most=MOST)

    def warm_up_of(self, questions: int) -> int:
        """How many of the first questions are left out of the latencies: at most a tenth."""
        return min(self.workers, questions // 10)


@dataclass(frozen=True)
class Limits:
    """The limits that somebody asked for; the retriever decides the workers unless named."""

    workers: int | None = None
    timeout: float | None = TIMEOUT_SECONDS
    retries: int = RETRIES

    def pace(self, usual_workers: int) -> Pace:
        """The limits of one retrieval, checked."""
        workers = usual_workers if self.workers is None else self.workers
        return Pace(workers=workers, timeout=self.timeout, retries=self.retries)


def pause_before(attempt: int, failed: AskFailed) -> float:
    """Seconds before the next attempt: doubled each time, or as the server asked.

    The pause is random, so that workers that failed together do not retry together.
    """
    pause = FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1)  # noqa: S311 - not for security
    return min(LONGEST_PAUSE, pause if failed.after is None else max(failed.after, 0.0))


class Finished(NamedTuple):
    """A finished question, answered or failed."""

    number: int
    question: Question
    entry: RunEntry
    line: bytes
    failed: AskFailed | None = None


@dataclass(eq=False)
class _Worker:
    """One thread and its current question."""

    taken: Numbered | None = None
    overdue_at: float = NEVER
    abandoned: bool = False
    warms_up: bool = False
    session: Session = field(default_factory=Session)


class Driver:
    """Asks the remaining questions; passes each finished one to ``write`` at once.

    Errors before the first answer are not written yet: if nothing works at all, the
    result is one message and not a file full of errors.
    """

    def __init__(
        self,
        retriever: Retriever,
        questions: Iterable[Numbered],
        k: int,
        pace: Pace,
        counts: AnswerCounts,
        write: Write,
        cache: "Cache | None" = None,
    ) -> None:
        self.retriever = retriever
        self.k = k
        self.pace = pace
        self.seconds = 0.0
        self.asked = 0
        """Questions finished in this run, without those found in the cache."""
        self._counts = counts
        self._write = write
        self._cache = cache
        self._todo = deque(questions)
        self._turns = count(1)
        self._warm_up = pace.warm_up_of(len(self._todo))
        self._patience = NEVER
        if pace.timeout is not None:
            self._patience = pace.timeout + (
                GRACE_SECONDS if retriever.keeps_time else 0.0
            )
        self._one_at_a_time = threading.Condition()
        """Held by who records a question, or changes who is active."""
        self._stop = threading.Event()
        self._active: set[_Worker] = set()
        self._crash: BaseException | None = None
        """What ended a worker; it is raised in the thread that called ``run``."""
        self._closed = False
        """Whether nothing is recorded any more, even if an answer still arrives."""
        self._resumed = counts.answered > 0
        """Whether an earlier run, which is gone on with, had an answer."""
        self._answered = False
        """Whether the retriever has answered a question in this run."""
        self._deferred: list[Finished] = []
        """Failures before the first answer, which are written with it or not at all."""
        self._verdict: str | None = None
        """Why asking was given up, if it was."""

    def run(self, tick: Callable[[], None] | None = None) -> None:
        """Ask every question; return when all are finished, or raise the reason for stopping."""
        begun = time.perf_counter()
        for _ in range(min(self.pace.workers, len(self._todo))):
            self._start()
        try:
            while self._wait():
                if tick is not None:
                    tick()
        except BaseException:
            self._interrupt()
            raise
        finally:
            self._close()
            self.seconds = time.perf_counter() - begun
        if tick is not None:
            tick()
        self._raise_crash()
        self._settle()

    def _interrupt(self) -> None:
        """After Ctrl-C: wait a little for calls in flight, and end those that hang."""
        self._stop.set()
        with self._one_at_a_time:
            self._one_at_a_time.wait_for(lambda: not self._active, GOODBYE_SECONDS)
        self._closed = True
        # A server or a command that hangs must not be left running.
        for worker in list(self._active):
            with suppress(Exception):
                worker.session.close()

    def _close(self) -> None:
        """Record nothing from now on; a line in progress may finish, but not take forever."""
        self._closed = True
        if self._one_at_a_time.acquire(timeout=GOODBYE_SECONDS):
            self._one_at_a_time.release()

    def _raise_crash(self) -> None:
        """Raise what ended a worker, if something did."""
        if isinstance(self._crash, ProtocolBroken):
            reason = self.retriever.secrets.redact(self._crash.sentence)
            raise RetrieverFailed(
                f"{self.retriever.name} stopped after {plural(self.asked, 'answer')}. "
                f"{reason}"
            )
        if self._crash is not None:
            raise self._crash

    def _wait(self) -> bool:
        """Wait until something happens, at most a tick; whether anybody still works."""
        with self._one_at_a_time:
            if not self._active:
                return False
            first = min(worker.overdue_at for worker in self._active)
            pause = min(TICK_SECONDS, max(0.001, first - time.perf_counter()))
            self._one_at_a_time.wait(pause)
            self._give_up_overdue()
            return bool(self._active)

    def _start(self) -> None:
        """Start one worker in a thread of its own."""
        worker = _Worker()
        with self._one_at_a_time:
            self._active.add(worker)
        threading.Thread(target=self._work, args=(worker,), daemon=True).start()

    def _work(self, worker: _Worker) -> None:
        """Ask one question after the other, until none is left: the life of one thread."""
        try:
            worker.session = self.retriever.open()
            while (numbered := self._take(worker)) is not None:
                finished = self._ask(worker, numbered)
                if finished is not None:
                    self._record(finished, worker)
            if not self._stop.is_set() and not worker.abandoned:
                worker.session.finish()
        except BaseException as crash:  # noqa: BLE001 - carried over to the caller's thread
            self._crash = self._crash or crash
            self._stop.set()
        finally:
            worker.session.close()
            with self._one_at_a_time:
                self._active.discard(worker)
                self._one_at_a_time.notify_all()

    def _take(self, worker: _Worker) -> Numbered | None:
        """Take the next question, without a lock, which would make all workers wait."""
        while not self._stop.is_set() and not worker.abandoned:
            try:
                number, question = self._todo.popleft()
            except IndexError:
                break
            entry = None if self._cache is None else self._cache.get(question)
            if entry is None:
                worker.warms_up = next(self._turns) <= self._warm_up
                worker.taken = number, question
                return worker.taken
            self._record(Finished(number, question, entry, encode(entry)), worker)
        return None

    def _ask(self, worker: _Worker, numbered: Numbered) -> Finished | None:
        """Return the outcome of a question, asked again where that may help.

        None if it was given up meanwhile: then its failure is recorded already.
        """
        attempt = 0
        while True:
            try:
                worker.session.prepare()
                begun = time.perf_counter()
                worker.overdue_at = begun + self._patience
                raw = worker.session.ask(numbered[1], self.k, self.pace.timeout)
                seconds = time.perf_counter() - begun - worker.session.waited
                break
            except ProtocolBroken:
                # No other answer can be trusted either, so it is no error of this
                # question.
                raise
            except BaseException as error:  # noqa: BLE001 - a user's function may raise anything
                failed = explain(error)
            finally:
                worker.overdue_at = NEVER
            if worker.abandoned:
                return None
            if not failed.retry or attempt >= self.pace.retries or self._stop.is_set():
                return self._error(numbered, failed)
            self._stop.wait(pause_before(attempt, failed))
            attempt += 1
        return self._read(worker, numbered, raw, seconds)

    def _read(
        self, worker: _Worker, numbered: Numbered, raw: object, seconds: float
    ) -> Finished:
        """A raw answer as an entry of the run and its line; one that cannot be read has failed."""
        try:
            answer = read_answer(raw, self.k, self.retriever.layout)
        except Exception as error:  # noqa: BLE001 - a user's objects may raise while they are read
            return self._error(numbered, explain(error))
        entry = RunEntry.answered(numbered[1], answer, seconds, worker.warms_up)
        try:
            line = self.retriever.secrets.redact_line(encode(entry))
        except (UnicodeEncodeError, ValueError) as error:
            return self._error(
                numbered, bad_answer(f"the answer cannot be written as JSON: {error}")
            )
        return Finished(*numbered, entry, line)

    def _error(self, numbered: Numbered, failed: AskFailed) -> Finished:
        """A question that failed, with the reason as it is written: without secrets."""
        reason = self.retriever.secrets.redact(str(failed))
        # Half a surrogate pair cannot be written as JSON.
        entry = RunEntry.failed(numbered[1], reason.encode(errors="replace").decode())
        return Finished(*numbered, entry, encode(entry), failed)

    def _give_up_overdue(self) -> None:
        """Record calls that take too long as failed; another worker takes the place of each."""
        now = time.perf_counter()
        for worker in [late for late in self._active if late.overdue_at <= now]:
            self._active.discard(worker)
            if worker.taken is not None:
                why = (
                    f"no answer within {self.pace.timeout:g} s; the call was left behind"
                )
                self._record(self._error(worker.taken, AskFailed("timeout", why)), worker)
            worker.abandoned = True
            if not self._stop.is_set():
                self._start()

    def _record(self, finished: Finished, worker: _Worker) -> None:
        """Record a finished question; it counts once the operating system has its line."""
        with self._one_at_a_time:
            # Who gave up on a call has recorded its question.
            if self._closed or worker.abandoned:
                return
            # A cached answer does not show that the retriever works today.
            self.asked += not finished.entry.cached
            self._answered |= finished.failed is None and not finished.entry.cached
            if finished.failed is not None:
                self._fail(finished, finished.failed)
            elif finished.entry.cached:
                self._keep([finished])
            else:
                deferred = self._deferred
                self._deferred = []
                self._keep([*deferred, finished])

    def _keep(self, ready: Sequence[Finished]) -> None:
        """Write, count and cache questions that are finished."""
        self._write(
            [finished.number for finished in ready], [finished.line for finished in ready]
        )
        for done in ready:
            self._counts.add(done.entry)
            if self._cache is not None and done.failed is None and not done.entry.cached:
                self._cache.put(done.question, done.line)

    def _fail(self, finished: Finished, failed: AskFailed) -> None:
        """Keep a failure, or hold it back while the retriever has not answered anything."""
        if self._answered:
            self._keep([finished])
            return
        # Before the first answer: stop if every question would fail the same way.
        self._deferred.append(finished)
        kinds = {past.failed.kind for past in self._deferred if past.failed}
        alike = len(self._deferred) >= SAME_FAILURES and len(kinds) == 1
        if self._verdict is None and (failed.hopeless or alike):
            self._verdict = (
                f"{self.retriever.name} cannot be asked. {finished.entry.error}"
            )
            self._stop.set()

    def _settle(self) -> None:
        """Write the deferred errors, or raise the reason why the run failed."""
        works = self._answered or self._resumed or self._counts.marks["cached"]
        if self._deferred and works and self._verdict is None:
            self._keep(self._deferred)
        elif self._deferred and self._verdict is None:
            n = len(self._deferred)
            what = f"all {n} questions" if n > 1 else "the only question"
            error = self._deferred[0].entry.error
            self._verdict = f"{self.retriever.name} failed on {what}. {error}"
        if self._verdict is not None:
            raise RetrieverFailed(self._verdict)
