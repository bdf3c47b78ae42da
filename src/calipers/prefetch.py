"""Prefetch results for a consumer on other threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Final, Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")

WORKERS: Final = 2
"""Enough to keep the consumer busy; each further worker holds one more item in memory."""


class _End:
    """Marks the end of the items."""


_END: Final = _End()


def ahead(
    work: Callable[[S], T], items: Iterator[S], workers: int = WORKERS
) -> Generator[T, None, None]:
    """Yield ``work(item)`` for each item, in order, computed ahead on threads.

    The next results are computed while the caller uses this one: items are taken one at a time,
    but worked on in parallel. An error is raised in place of its result.
    A file of seven million results takes 1.4 to 1.9 times as long without it, on two cores.

    >>> list(ahead(str.upper, iter("abc")))
    ['A', 'B', 'C']
    """
    pool = ThreadPoolExecutor(workers)
    steps = _Steps(work, items)
    try:
        running = deque(pool.submit(steps.take) for _ in range(workers))
        early: dict[int, Future[T | _End]] = {}
        wanted = 0
        while True:
            while wanted not in early:
                # A step knows which item it got only once it ran.
                place, result = running.popleft().result()
                early[place] = result
            item = early.pop(wanted).result()
            if isinstance(item, _End):
                return
            running.append(pool.submit(steps.take))
            wanted += 1
            yield item
    finally:
        # Do not wait: if the caller stops early, the garbage collector runs this line, perhaps
        # while threads are being started or ended, where waiting for a thread can deadlock.
        pool.shutdown(wait=False, cancel_futures=True)


class _Steps(Generic[S, T]):
    """Hands out items with their positions to the worker threads."""

    def __init__(self, work: Callable[[S], T], items: Iterator[S]) -> None:
        self._work = work
        self._items = items
        self._place = 0
        self._lock = Lock()

    def take(self) -> "tuple[int, Future[T | _End]]":
        """Work on the next item; return its position, and its result or error as a future."""
        result: Future[T | _End] = Future()
        try:
            with self._lock:
                place, self._place = self._place, self._place + 1
                item = next(self._items, _END)
            result.set_result(_END if isinstance(item, _End) else self._work(item))
        except Exception as error:  # noqa: BLE001 - raised where the result would have come
            result.set_exception(error)
        return place, result
