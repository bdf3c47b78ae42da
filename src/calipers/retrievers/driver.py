"""The driver: asks every question once, a few at a time, and survives whatever comes back.

Workers are threads. A thread that hangs cannot be stopped, so its question is recorded as
timed out, the thread is left behind and another takes its place; what it may still say is
ignored. Errors that come before any answer are held back: where nothing works at all, the
sentence about it is the result, and no file full of errors is left.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from calipers.errors import RetrieverFailed
from calipers.retrievers.base import AskFailed, Question, Retriever, Session
from calipers.retrievers.entry import Entry, encode, entry_of, failed_entry
from calipers.retrievers.pace import Pace, Throttle, explain, pause_before
from calipers.retrievers.report import Tally
from calipers.retrievers.shapes import read_answer

if TYPE_CHECKING:
    from calipers.retrievers.cache import Cache

SAME_FAILURES = 10
"""So many failures of one kind before the first answer mean that nothing will work."""
MOST_STUCK = 100
"""Calls that hang and are left behind; more would only fill the memory."""
GRACE_SECONDS = 5.0
"""What a session that keeps the time itself may take beyond the timeout."""
TICK_SECONDS = 0.1
GOODBYE_SECONDS = 2.0
"""How long calls in flight may still deliver after Ctrl-C."""

Progress = Callable[[Tally], None]
Outcome = Entry | AskFailed


class _Worker:
    """One thread, with what it is doing."""

    def __init__(self) -> None:
        self.questions: Sequence[Question] = ()
        self.overdue_at = float("inf")
        self.abandoned = False
        self.warms_up = False


class Driver:
    """Asks the questions that are left; each finished one goes to ``write`` at once."""

    def __init__(
        self,
        retriever: Retriever,
        questions: Sequence[Question],
        k: int,
        pace: Pace,
        tally: Tally,
        write: Callable[[bytes], None],
        *,
        cache: "Cache | None" = None,
    ) -> None:
        self.retriever = retriever
        self.k = k
        self.pace = pace
        self.tally = tally
        self.asked = 0
        self.seconds = 0.0
        self._write = write
        self._cache = cache
        self._todo = iter(questions)
        self._alone: deque[Question] = deque()
        self._left = len(questions)
        self._warm_up = pace.warm_up_of(len(questions))
        self._answered_before = tally.answered > 0
        self._throttle = Throttle(pace.rate)
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._active: set[_Worker] = set()
        self._stuck = 0
        self._closed = False
        self._answered = 0
        self._failed = 0
        self._held: list[tuple[Question, Entry, bytes, AskFailed]] = []
        self._verdict: str | None = None
        self._gave_up = False
        self._crash: BaseException | None = None

    def run(self, progress: Progress | None = None) -> None:
        """Ask everything; returns when every question is finished, or raises why it stopped."""
        begun = time.perf_counter()
        batches = -(-self._left // self.retriever.batch)
        with self._changed:
            for _ in range(min(self.pace.workers, batches)):
                self._start()
        try:
            while self._wait():
                if progress is not None:
                    progress(self.tally)
        except BaseException:
            self._stop.set()
            self._say_goodbye()
            raise
        finally:
            with self._changed:
                self._closed = True
            self.seconds = time.perf_counter() - begun
            self.retriever.close()
        if progress is not None:
            progress(self.tally)
        self._settle()

    def _wait(self) -> bool:
        with self._changed:
            if not self._active:
                return False
            first = min(worker.overdue_at for worker in self._active)
            pause = min(TICK_SECONDS, max(0.001, first - time.monotonic()))
            self._changed.wait(pause)
            self._abandon_overdue()
            return bool(self._active)

    def _say_goodbye(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._active, GOODBYE_SECONDS)

    def _start(self) -> None:
        worker = _Worker()
        self._active.add(worker)
        threading.Thread(
            target=self._work, args=(worker,), name="calipers-worker", daemon=True
        ).start()

    def _work(self, worker: _Worker) -> None:
        session: Session | None = None
        try:
            session = self.retriever.open()
            while questions := self._take(worker):
                outcomes = self._ask(worker, session, questions)
                if not self._finish(worker, questions, outcomes):
                    break
        except BaseException as crash:  # noqa: BLE001 - carried over to the caller's thread
            with self._changed:
                self._crash = self._crash or crash
            self._stop.set()
        finally:
            if session is not None:
                session.close()
            with self._changed:
                self._active.discard(worker)
                self._changed.notify_all()

    def _take(self, worker: _Worker) -> Sequence[Question]:
        with self._changed:
            while not self._stop.is_set() and not worker.abandoned:
                if self._alone:
                    questions = [self._alone.popleft()]
                else:
                    questions = list(islice(self._todo, self.retriever.batch))
                if not questions:
                    return ()
                if self._cache is not None:
                    questions = [one for one in questions if not self._is_cached(one, self._cache)]
                if questions:
                    self.asked += len(questions)
                    worker.questions = questions
                    worker.warms_up = self.asked <= self._warm_up
                    return questions
        return ()

    def _is_cached(self, question: Question, cache: "Cache") -> bool:
        entry = cache.get(question)
        if entry is None:
            return False
        self._write(encode(entry))
        self.tally.add(entry)
        return True

    def _ask(
        self, worker: _Worker, session: Session, questions: Sequence[Question]
    ) -> list[Outcome]:
        """One outcome for each question, or none where each is to be asked alone."""
        timeout, k = self.pace.timeout, self.k
        attempt = 0
        while True:
            self._throttle.wait(self._stop)
            if timeout is not None:
                grace = GRACE_SECONDS if self.retriever.keeps_time else 0.0
                worker.overdue_at = time.monotonic() + timeout + grace
            begun = time.perf_counter()
            try:
                answers = session.ask(questions, k, timeout)
                seconds = time.perf_counter() - begun
                break
            except BaseException as error:  # noqa: BLE001 - a user's function may raise anything
                failed = explain(error)
            finally:
                worker.overdue_at = float("inf")
            if worker.abandoned:
                return [failed] * len(questions)
            if failed.retry and attempt < self.pace.retries and not self._stop.is_set():
                self._stop.wait(pause_before(attempt, failed))
                attempt += 1
            elif len(questions) > 1 and not failed.retry:
                # One bad question must not take the others of its batch with it.
                return []
            else:
                return [failed] * len(questions)
        return [
            self._entry(question, answer, seconds, worker.warms_up)
            for question, answer in zip(questions, answers, strict=True)
        ]

    def _entry(self, question: Question, raw: object, seconds: float, warm_up: bool) -> Outcome:
        try:
            answer = read_answer(raw, self.k, self.retriever.layout)
        except Exception as error:  # noqa: BLE001 - a user's objects may raise while they are read
            return explain(error)
        return entry_of(question, answer, seconds, warm_up=warm_up)

    def _finish(
        self, worker: _Worker, questions: Sequence[Question], outcomes: Sequence[Outcome]
    ) -> bool:
        """Record the outcomes; False where nobody waits for them any more."""
        ready = [self._line(*pair) for pair in zip(questions, outcomes, strict=False)]
        with self._changed:
            if worker.abandoned or self._closed:
                return False
            worker.questions = ()
            if not ready:
                self._alone.extend(questions)
                self.asked -= len(questions)
            for question, (entry, line, failed) in zip(questions, ready, strict=False):
                self._record(question, entry, line, failed)
        return True

    def _line(self, question: Question, outcome: Outcome) -> tuple[Entry, bytes, AskFailed | None]:
        secrets = self.retriever.secrets
        if isinstance(outcome, Entry):
            try:
                return outcome, secrets.redact_line(encode(outcome)), None
            except (UnicodeEncodeError, ValueError) as error:
                outcome = AskFailed("bad answer", f"the answer cannot be written as JSON: {error}")
        said = secrets.redact(str(outcome)).encode(errors="replace").decode()
        entry = failed_entry(question, said)
        return entry, encode(entry), outcome

    def _record(
        self, question: Question, entry: Entry, line: bytes, failed: AskFailed | None
    ) -> None:
        if failed is None:
            self._answered += 1
            if self._held:
                self._release()
            self._write(line)
            self.tally.add(entry)
            if self._cache is not None:
                self._cache.put(question, line)
            return
        self._failed += 1
        if self._answered:
            self._write(line)
            self.tally.add(entry)
        else:
            self._held.append((question, entry, line, failed))
            self._consider_giving_up()
        most = self.pace.max_errors
        if most is not None and self._failed > most and self._verdict is None:
            self._verdict = (
                f"Stopped after {self._failed} error{'s' * (self._failed > 1)}, as max_errors is "
                f"{most}; the last was "
                f"{entry.error}"
            )
            self._stop.set()

    def _consider_giving_up(self) -> None:
        """Before the first answer: stop where every question would fail the same way."""
        if self._verdict is not None:
            return
        kinds = {failed.kind for _, _, _, failed in self._held}
        last = self._held[-1]
        if last[3].hopeless or (len(self._held) >= SAME_FAILURES and len(kinds) == 1):
            self._gave_up = True
            self._verdict = f"{self.retriever.name} cannot be asked. {last[1].error}"
            self._stop.set()

    def _release(self) -> None:
        held, self._held = self._held, []
        for _, entry, line, _ in held:
            self._write(line)
            self.tally.add(entry)

    def _abandon_overdue(self) -> None:
        now = time.monotonic()
        for worker in [one for one in self._active if one.overdue_at <= now]:
            worker.abandoned = True
            self._active.discard(worker)
            self._stuck += 1
            late = AskFailed(
                "timeout",
                f"no answer within {self.pace.timeout:g} s; the call cannot be stopped and was "
                "left behind",
            )
            for question in worker.questions:
                self._record(question, *self._line(question, late))
            if self._stuck >= MOST_STUCK and self._verdict is None:
                self._verdict = (
                    f"Stopped: {self._stuck} calls of {self.retriever.name} hang and cannot be "
                    "stopped; give the function a timeout of its own"
                )
                self._stop.set()
            if not self._stop.is_set():
                self._start()

    def _settle(self) -> None:
        if self._crash is not None:
            raise self._crash
        nothing = not self._answered and not self._answered_before and not self.tally.cached
        if self._held and nothing and self._verdict is None:
            n = len(self._held)
            what = f"all {n} questions" if n > 1 else "the only question"
            self._verdict = f"{self.retriever.name} failed on {what}. {self._held[0][1].error}"
        elif self._held and not nothing and not self._gave_up:
            self._release()
        if self._verdict is not None:
            raise RetrieverFailed(self._verdict)


def unanswered(questions: Iterable[Question], done: set[str]) -> list[Question]:
    """The questions that are not finished yet, in order."""
    return [question for question in questions if question.id not in done]
