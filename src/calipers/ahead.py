"""Working one step ahead of the consumer, on another thread."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")


class _End:
    """Stands behind the last item."""


_END: Final = _End()


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items; the next one is made while the caller works on this one.

    An error in making an item is raised where the item would have come.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    worker = ThreadPoolExecutor(1)
    try:
        upcoming = worker.submit(_next, items)
        while not isinstance(item := upcoming.result(), _End):
            upcoming = worker.submit(_next, items)
            yield item
    finally:
        # Never waited for: a caller who breaks off leaves this line to the garbage collector,
        # which may run it in the middle of anything, also while threads are started and ended.
        # Waiting there for a thread can wait forever.
        worker.shutdown(wait=False, cancel_futures=True)


def _next(items: Iterator[T]) -> T | _End:
    return next(items, _END)
