"""A cache of what pages show, computed in the background if it takes long."""

import ctypes
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

from calipers.words import plural

PATIENCE = 2.0
"""Seconds that a page waits for a value before it says that it is being computed."""

T = TypeVar("T")
_ALONE = threading.Lock()


class StillWorkingError(Exception):
    """A value is still being computed; the message says what, and for how long so far."""


class Held:
    """A thread-safe LRU cache in which each value is computed once, in a thread of its own."""

    def __init__(self, most: int) -> None:
        self._most = most
        """How many values stay in memory; the least recently used goes first."""
        self._lock = threading.Lock()
        self._made: OrderedDict[Any, tuple[float, Future[Any]]] = OrderedDict()

    def start(self, name: Any, make_it: Callable[[], T]) -> "tuple[float, Future[T]]":
        """Begin to compute a value, unless that was begun already."""
        with self._lock:
            if name not in self._made:
                made: Future[T] = Future()
                self._made[name] = time.monotonic(), made
                threading.Thread(target=_compute, args=(made, make_it), daemon=True).start()
            self._made.move_to_end(name)
            return self._made[name]

    def get(self, name: Any, make_it: Callable[[], T], what: str | None = None) -> T:
        """Return a value; given ``what``, raise StillWorkingError with it if that takes long."""
        began, made = begun = self.start(name, make_it)
        if not wait([made], None if what is None else PATIENCE).done:
            seconds = plural(round(time.monotonic() - began), "second")
            raise StillWorkingError(f"{what}: {seconds} so far.")
        with self._lock:
            # An error stays until a page has shown it, or the next request would start over.
            if made.exception() is not None and self._made.get(name) is begun:
                del self._made[name]
            done = [one for one, (_, other) in self._made.items() if other.done()]
            for one in done[: max(len(self._made) - self._most, 0)]:
                del self._made[one]
        return made.result()


def _compute(made: "Future[T]", make_it: Callable[[], T]) -> None:
    try:
        made.set_result(make_it())
    except BaseException as error:  # noqa: BLE001 - whoever asked is told
        made.set_exception(error)


def alone(work: Callable[[], T]) -> T:
    """Run large pieces of work one at a time, to need the memory of one."""
    with _ALONE:
        try:
            return work()
        finally:
            # The allocator would keep freed memory, and the next piece would come on top.
            _to_allocator("malloc_trim", 0)


def give_memory_back() -> None:
    """Make the allocator return freed arrays to the system, and use few arenas."""
    for setting, value in ((_MMAP_THRESHOLD, 1 << 17), (_ARENA_MAX, 2)):
        _to_allocator("mallopt", setting, value)


_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""As malloc.h of the GNU C library numbers them."""


def _to_allocator(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # not with every C library
        getattr(ctypes.CDLL(None), name)(*numbers)
