"""Whose turn it is to write: the threads of one process, first come, first served.

SQLite has no queue. Who finds the file locked asks again, later each time, while newcomers ask at
once: of twenty who write all the time one may wait until its patience is over.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary


class Turns:
    """A queue of those who write; the first in it has the turn.

    Whoever waited longer than the patience goes ahead without a turn: then the lock of the file
    decides, and says so if somebody holds it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()

    @contextmanager
    def mine(self, patience: float) -> Iterator[None]:
        """Wait for a turn, so many seconds at most, and hand it on at the end of the block."""
        came = threading.Event()
        with self._lock:
            self._queue.append(came)
            self._queue[0].set()
        try:
            came.wait(patience)
            yield
        finally:
            with self._lock:
                self._queue.remove(came)
                if self._queue:
                    self._queue[0].set()


_BY_FILE: "WeakValueDictionary[Path, Turns]" = WeakValueDictionary()
_LOCK = threading.Lock()


def turns_of(path: Path) -> Turns:
    """The turns of a file: the same for everybody in this process who writes to it."""
    with _LOCK:
        key = path.resolve()
        found = _BY_FILE.get(key)
        if found is None:
            found = _BY_FILE[key] = Turns()
        return found
