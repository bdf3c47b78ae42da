"""The driver: asks every question once, a few at a time, and survives whatever comes back.

Workers are threads, each of which does all there is to do about a question. A thread that hangs
cannot be stopped, so its question is recorded as timed out, the thread is left behind and
another takes its place; what it may still say is ignored.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING

from calipers.live.adapters.base import Question, Retriever, Session
from calipers.live.answers import read_answer
from calipers.live.entries import AnswerCounts, encode, entry_of, failed_entry
from calipers.live.failures import AskFailed, explain
from calipers.live.keywords import Progress
from calipers.live.ledger import Finished, Ledger, Write
from calipers.live.pace import Pace, Throttle, pause_before

if TYPE_CHECKING:
    from calipers.live.cache import Cache

MOST_STUCK = 100
"""Calls that hang and are left behind; more would only fill the memory."""
GRACE_SECONDS = 5.0
"""What a session that keeps the time itself may take beyond the timeout."""
TICK_SECONDS = 0.1
AHEAD = 128
"""Questions to read at a time, so that most are taken without waiting for a file."""
GOODBYE_SECONDS = 2.0
"""How long calls in flight may still deliver after Ctrl-C."""
NEVER = float("inf")

Numbered = tuple[int, Question]
"""A question with its place among all of them."""


class _Worker:
    """One thread, with what it is doing."""

    def __init__(self) -> None:
        self.asked = 0
        self.taken: Sequence[Numbered] = ()
        self.overdue_at = NEVER
        self.abandoned = False
        self.warms_up = False
        self.deciding = threading.Lock()
        """Held while it is decided who records the questions: the worker, or who gave it up."""

    def claims(self) -> bool:
        """Whether the outcome is this worker's to record; False where nobody waits for it."""
        with self.deciding:
            self.taken = ()
            return not self.abandoned

    def give_up(self, now: float) -> Sequence[Numbered]:
        """The questions that it will not record any more, where it is still overdue."""
        with self.deciding:
            if self.overdue_at > now:
                return ()
            self.abandoned = True
            return self.taken


class Driver:
    """Asks the questions that are left; each finished one goes to ``write`` at once."""

    def __init__(
        self,
        retriever: Retriever,
        questions: Iterable[Numbered],
        left: int,
        k: int,
        pace: Pace,
        counts: AnswerCounts,
        write: Write,
        *,
        cache: "Cache | None" = None,
    ) -> None:
        self.retriever = retriever
        self.k = k
        self.pace = pace
        self.counts = counts
        self.seconds = 0.0
        self._cache = cache
        self._todo = iter(questions)
        self._reading = threading.Lock()
        self._ready: deque[Sequence[Numbered]] = deque()
        self._turns = count(1)
        self._workers = min(pace.workers, -(-left // retriever.batch))
        self._warm_up = pace.warm_up_of(left)
        self._throttle = None if pace.rate is None else Throttle(pace.rate)
        self._patience = NEVER
        if pace.timeout is not None:
            self._patience = pace.timeout + (GRACE_SECONDS if retriever.keeps_time else 0.0)
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._active: set[_Worker] = set()
        self._ever: list[_Worker] = []
        self._stuck = 0
        self._crash: BaseException | None = None
        self._ledger = Ledger(
            retriever.name,
            counts,
            write,
            self._stop,
            workers=self._workers,
            max_errors=pace.max_errors,
            cache=cache,
        )

    @property
    def asked(self) -> int:
        """Questions asked so far, not those that were found in the cache."""
        return sum(worker.asked for worker in self._ever)

    def run(self, progress: Progress | None = None) -> None:
        """Ask everything; returns when every question is finished, or raises why it stopped."""
        begun = time.perf_counter()
        with self._changed:
            for _ in range(self._workers):
                self._start()
        try:
            while self._wait():
                if progress is not None:
                    progress(self.counts)
        except BaseException:
            self._stop.set()
            with self._changed:
                self._changed.wait_for(lambda: not self._active, GOODBYE_SECONDS)
            raise
        finally:
            self._ledger.close()
            self.seconds = time.perf_counter() - begun
            self.retriever.close()
        if progress is not None:
            progress(self.counts)
        if self._crash is not None:
            raise self._crash
        self._ledger.settle()

    def _wait(self) -> bool:
        with self._changed:
            if not self._active:
                return False
            first = min(worker.overdue_at for worker in self._active)
            pause = min(TICK_SECONDS, max(0.001, first - time.perf_counter()))
            self._changed.wait(pause)
            self._give_up_overdue()
            return bool(self._active)

    def _start(self) -> None:
        worker = _Worker()
        self._ever.append(worker)
        self._active.add(worker)
        threading.Thread(
            target=self._work, args=(worker,), name="calipers-worker", daemon=True
        ).start()

    def _work(self, worker: _Worker) -> None:
        session: Session | None = None
        try:
            session = self.retriever.open()
            while taken := self._take(worker):
                finished = self._ask(worker, session, taken)
                if not worker.claims():
                    break
                for one in finished:
                    self._ledger.add(one)
                if not finished:
                    worker.asked -= len(taken)
                    self._ready.extendleft([one] for one in reversed(taken))
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

    def _take(self, worker: _Worker) -> Sequence[Numbered]:
        """The next questions. No lock for each: whoever waits for one makes all others wait."""
        while not self._stop.is_set() and not worker.abandoned:
            try:
                taken = self._ready.popleft()
            except IndexError:
                if self._read_ahead():
                    continue
                break
            if self._cache is not None:
                taken = [one for one in taken if not self._is_cached(one, self._cache)]
            if taken:
                worker.asked += len(taken)
                worker.warms_up = next(self._turns) * self.retriever.batch <= self._warm_up
                worker.taken = taken
                return taken
        return ()

    def _read_ahead(self) -> bool:
        """Have some questions ready; False where none are left."""
        batch = self.retriever.batch
        with self._reading:
            while len(self._ready) * batch < AHEAD:
                some = list(islice(self._todo, batch))
                if not some:
                    break
                self._ready.append(some)
            return bool(self._ready)

    def _is_cached(self, one: Numbered, cache: "Cache") -> bool:
        entry = cache.get(one[1])
        if entry is None:
            return False
        self._ledger.add(Finished(*one, entry, encode(entry)))
        return True

    def _ask(
        self, worker: _Worker, session: Session, taken: Sequence[Numbered]
    ) -> Sequence[Finished]:
        """Each question with its outcome, or none where each is to be asked alone."""
        questions = [one[1] for one in taken]
        attempt = 0
        while True:
            if self._throttle is not None:
                self._throttle.wait(self._stop)
            begun = time.perf_counter()
            worker.overdue_at = begun + self._patience
            try:
                answers = session.ask(questions, self.k, self.pace.timeout)
                seconds = time.perf_counter() - begun
                break
            except BaseException as error:  # noqa: BLE001 - a user's function may raise anything
                failed = explain(error)
            finally:
                worker.overdue_at = NEVER
            if worker.abandoned:
                return ()
            if failed.retry and attempt < self.pace.retries and not self._stop.is_set():
                self._stop.wait(pause_before(attempt, failed))
                attempt += 1
            elif len(taken) > 1 and not failed.retry:
                # One bad question must not take the others of its batch with it.
                return ()
            else:
                return [self._failed(one, failed) for one in taken]
        return [
            self._answered(one, answer, seconds, worker.warms_up)
            for one, answer in zip(taken, answers, strict=True)
        ]

    def _answered(self, one: Numbered, raw: object, seconds: float, warm_up: bool) -> Finished:
        try:
            answer = read_answer(raw, self.k, self.retriever.layout)
        except Exception as error:  # noqa: BLE001 - a user's objects may raise while they are read
            return self._failed(one, explain(error))
        number, question = one
        entry = entry_of(question, answer, seconds, warm_up)
        try:
            line = self.retriever.secrets.redact_line(encode(entry))
        except (UnicodeEncodeError, ValueError) as error:
            said = f"the answer cannot be written as JSON: {error}"
            return self._failed(one, AskFailed("bad answer", said))
        return Finished(number, question, entry, line)

    def _failed(self, one: Numbered, failed: AskFailed) -> Finished:
        number, question = one
        said = self.retriever.secrets.redact(str(failed)).encode(errors="replace").decode()
        entry = failed_entry(question, said)
        return Finished(number, question, entry, encode(entry), failed)

    def _give_up_overdue(self) -> None:
        now = time.perf_counter()
        for worker in [one for one in self._active if one.overdue_at <= now]:
            taken = worker.give_up(now)
            if not taken:
                continue
            self._active.discard(worker)
            self._stuck += 1
            late = AskFailed(
                "timeout",
                f"no answer within {self.pace.timeout:g} s; the call cannot be stopped and was "
                "left behind",
            )
            for one in taken:
                self._ledger.add(self._failed(one, late))
            if self._stuck >= MOST_STUCK:
                self._ledger.stop_for(
                    f"Stopped: {self._stuck} calls of {self.retriever.name} hang and cannot be "
                    "stopped; give the function a timeout of its own"
                )
            if not self._stop.is_set():
                self._start()
