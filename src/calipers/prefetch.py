"""Prefetch results for a consumer on other threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any, Final, TypeVar

S = TypeVar("S")
T = TypeVar("T")

WORKERS: Final = 2
"""Enough to keep the consumer busy; each further worker holds one more item in memory."""
_LOOK: Final = 0.5
"""Seconds after which a waiting thread looks whether the program was told to stop."""
_END: Final[Any] = object()


def ahead(
    work: Callable[[S], T], items: Iterator[S], workers: int = WORKERS
) -> Generator[T, None, None]:
    """Yield ``work(item)`` for each item, in order, computed ahead on threads.

    The next results are computed while the caller uses this one: items are taken one at a
    time, but worked on in parallel. An error is raised in place of its result. A file of
    seven million results takes 1.4 to 1.9 times as long without it, on two cores.

    >>> list(ahead(str.upper, iter("abc")))
    ['A', 'B', 'C']
    """
    pool = ThreadPoolExecutor(workers)
    taking = Lock()
    open_places: deque[Future[Any]] = deque()
    results: deque[Future[Any]] = deque()

    def take() -> None:
        with taking:  # the order of the items is that of the places
            place = open_places.popleft()
            try:
                item = next(items, _END)
            except BaseException as error:  # noqa: BLE001 - raised where the result would have come
                place.set_exception(error)
                return
        try:
            place.set_result(_END if item is _END else work(item))
        except BaseException as error:  # noqa: BLE001 - polars raises Ctrl-C on whichever thread it runs
            place.set_exception(error)

    def start() -> None:
        results.append(Future())
        open_places.append(results[-1])
        pool.submit(take)

    try:
        for _ in range(workers):
            start()
        while (result := _awaited(results.popleft())) is not _END:
            start()
            yield result
    finally:
        # Do not wait: if the caller stops early, the garbage collector runs this line,
        # perhaps while threads are being started or ended, where waiting for a thread can
        # deadlock.
        pool.shutdown(wait=False, cancel_futures=True)


def _awaited(place: Future[Any]) -> Any:
    """The result, once it is there.

    Python runs a signal's handler only between two steps of the main thread. A signal
    that comes while that thread is about to wait would be noticed when the wait ends: so
    no wait is long.
    """
    while not place.done():
        wait((place,), timeout=_LOOK)
    return place.result()
