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
    with ThreadPoolExecutor(1) as worker:
        upcoming = worker.submit(_next, items)
        while not isinstance(item := upcoming.result(), _End):
            upcoming = worker.submit(_next, items)
            yield item


def _next(items: Iterator[T]) -> T | _End:
    return next(items, _END)
