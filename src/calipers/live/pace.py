"""How fast and how patiently a retriever is asked."""

import random
import threading
import time
from dataclasses import dataclass

from calipers.errors import check_number
from calipers.live.failures import AskFailed

TIMEOUT_SECONDS = 30.0
RETRIES = 2
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
MOST_WORKERS = 1024
LEAST, MOST = 1e-6, 1e8
"""Seconds, or questions a second: what the clocks of all systems can wait for."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Limits for one retrieval."""

    workers: int
    timeout: float | None = TIMEOUT_SECONDS
    retries: int = RETRIES
    rate: float | None = None
    """Questions per second at most, repeated ones included."""
    max_errors: int | None = None
    warm_up: int | None = None
    """How many of the first questions are kept out of the latencies; None: as many as workers,
    but at most a tenth of all."""

    def __post_init__(self) -> None:
        check_number("workers", self.workers, whole=True, least=1, most=MOST_WORKERS)
        check_number("retries", self.retries, whole=True, least=0)
        for name in ("max_errors", "warm_up"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), whole=True, least=0)
        for name in ("timeout", "rate"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=LEAST, most=MOST)

    def warm_up_of(self, questions: int) -> int:
        """How many of so many questions are warm-up."""
        if self.warm_up is not None:
            return self.warm_up
        return min(self.workers, questions // 10)


class Throttle:
    """Hands out moments to ask, evenly, so many per second."""

    def __init__(self, rate: float) -> None:
        self._gap = 1 / rate
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self, stop: threading.Event) -> None:
        """Return when it is this caller's turn, or when all is stopped."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        if turn > now:
            stop.wait(turn - now)


def pause_before(attempt: int, failed: AskFailed) -> float:
    """Seconds before the next attempt: twice as long each time, or as the server asked.

    The length varies at random, so that workers that failed together do not return together.
    """
    pause = FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1)  # noqa: S311 - not for security
    return min(LONGEST_PAUSE, pause if failed.after is None else max(failed.after, 0.0))
