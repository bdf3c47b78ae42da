"""The ledger: it writes and counts every finished question, and decides whether to go on.

Errors that come before any answer are held back: where nothing works at all, the sentence about
it is the result, and no file full of errors is left.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from calipers.errors import RetrieverFailed
from calipers.live.adapters.base import Question
from calipers.live.entries import AnswerCounts, RunEntry
from calipers.live.failures import AskFailed

if TYPE_CHECKING:
    from calipers.live.cache import Cache

SAME_FAILURES = 10
"""So many failures of one kind before the first answer mean that nothing will work."""

GOODBYE_SECONDS = 2.0

Write = Callable[[Sequence[int], Sequence[bytes]], None]
"""Takes the numbers of questions, and the line of each."""


class Finished(NamedTuple):
    """One question that is done with, one way or the other."""

    number: int
    question: Question
    entry: RunEntry
    line: bytes
    failed: AskFailed | None = None


class Ledger:
    """What the workers hand in. One of them at a time writes, for all who come meanwhile.

    A worker that finds another one writing leaves its line there and goes on: waiting for a
    lock would cost more than the line. Where as many lines are waiting as there are workers, it
    waits as well, so that a slow disk is not outrun.
    """

    def __init__(
        self,
        retriever: str,
        counts: AnswerCounts,
        write: Write,
        stop: threading.Event,
        *,
        workers: int = 1,
        max_errors: int | None = None,
        cache: "Cache | None" = None,
    ) -> None:
        self._retriever = retriever
        self._counts = counts
        self._write = write
        self._stop = stop
        self._cache = cache
        self._most_waiting = workers - 1
        self._max_errors = max_errors
        self._waiting: deque[Finished] = deque()
        self._writing = threading.Lock()
        self._closed = False
        self._answered_before = counts.answered > 0
        self._answered = 0
        self._failed = 0
        self._held: list[Finished] = []
        self._held_kinds: set[str] = set()
        self._verdict: str | None = None
        self._gave_up = False

    def add(self, finished: Finished) -> None:
        """Take one more; it counts when its line is with the operating system."""
        waiting, writing = self._waiting, self._writing
        waiting.append(finished)
        # Looked at again after the lock is free: someone may have come in between.
        while waiting and writing.acquire(blocking=len(waiting) > self._most_waiting):
            try:
                self._enter([waiting.popleft() for _ in range(len(waiting))])
            finally:
                writing.release()

    def close(self) -> None:
        """Nothing is written from now on, whoever still comes."""
        self._closed = True
        # A line that is just being written may end; not for ever, as Ctrl-C may have hit there.
        if self._writing.acquire(timeout=GOODBYE_SECONDS):
            self._writing.release()

    def stop_for(self, reason: str) -> None:
        """Ask no more, and say why in the end; the first reason counts."""
        if self._verdict is None:
            self._verdict = reason
        self._stop.set()

    def settle(self) -> None:
        """Say how it ended: raises where there is nothing to go on with."""
        nothing = not self._answered and not self._answered_before and not self._counts.cached
        if self._held and nothing and self._verdict is None:
            n = len(self._held)
            what = f"all {n} questions" if n > 1 else "the only question"
            self._verdict = f"{self._retriever} failed on {what}. {self._held[0].entry.error}"
        elif self._held and not nothing and not self._gave_up:
            self._keep(self._released())
        if self._verdict is not None:
            raise RetrieverFailed(self._verdict)

    def _enter(self, several: list[Finished]) -> None:
        if self._closed:
            return
        ready: list[Finished] = []
        for one in several:
            if one.entry.cached:
                # It says nothing about whether the retriever works today.
                ready.append(one)
                continue
            if one.failed is None:
                self._answered += 1
                if self._held:
                    ready += self._released()
                ready.append(one)
                continue
            self._failed += 1
            if self._answered:
                ready.append(one)
            else:
                self._hold(one, one.failed)
            most = self._max_errors
            if most is not None and self._failed > most:
                self.stop_for(
                    f"Stopped after {self._failed} error{'s' * (self._failed > 1)}, as max_errors "
                    f"is {most}; the last was {one.entry.error}"
                )
        if ready:
            self._keep(ready)

    def _keep(self, ready: Sequence[Finished]) -> None:
        self._write([one.number for one in ready], [one.line for one in ready])
        for one in ready:
            self._counts.add(one.entry)
            if self._cache is not None and one.failed is None and not one.entry.cached:
                self._cache.put(one.question, one.line)

    def _hold(self, one: Finished, failed: AskFailed) -> None:
        """Before the first answer: stop where every question would fail the same way."""
        self._held.append(one)
        self._held_kinds.add(failed.kind)
        alike = len(self._held) >= SAME_FAILURES and len(self._held_kinds) == 1
        if self._verdict is None and (failed.hopeless or alike):
            self._gave_up = True
            self.stop_for(f"{self._retriever} cannot be asked. {one.entry.error}")

    def _released(self) -> list[Finished]:
        held, self._held = self._held, []
        self._held_kinds.clear()
        return held
