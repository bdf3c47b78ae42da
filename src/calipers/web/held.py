"""A cache of what pages show, computed in the background if it takes long."""

import ctypes
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from calipers.words import plural

HELD = 4
"""How many values stay in memory; the least recently used goes first."""
PATIENCE = 2.0
"""Seconds that a page waits for a value before it says that it is being computed."""

T = TypeVar("T")
_ALONE = threading.Lock()


class StillWorkingError(Exception):
    """A value is still being computed; the message says what, and for how long so far."""


class Held:
    """A thread-safe LRU cache in which each value is computed once."""

    def __init__(self, most: int = HELD) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Any, Any] = OrderedDict()
        self._making: dict[Any, threading.Lock] = {}
        self._begun: dict[Any, tuple[float, Future[Any]]] = {}

    def get(self, name: Any, make_it: Callable[[], T]) -> T:
        """Return a cached value, or compute it now."""
        with self._lock:
            if name in self._values:
                return self._used(name)  # type: ignore[no-any-return]
            own = self._making.setdefault(name, threading.Lock())
        with own:
            with self._lock:
                if name in self._values:
                    return self._values[name]  # type: ignore[no-any-return]
            made = make_it()
            with self._lock:
                self._values[name] = made
                self._making.pop(name, None)
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        return made

    def _used(self, name: Any) -> Any:
        self._values.move_to_end(name)
        return self._values[name]

    def soon(self, name: Any, what: str, make_it: Callable[[], T]) -> T:
        """Like ``get``, but raise StillWorkingError with ``what`` if it takes long."""
        with self._lock:
            if name in self._values:
                return self._used(name)  # type: ignore[no-any-return]
            if name not in self._begun:
                made: Future[T] = Future()
                self._begun[name] = time.monotonic(), made
                work = partial(self._in_background, name, make_it, made)
                threading.Thread(target=work, daemon=True).start()
            began, making = begun = self._begun[name]
        if not wait([making], PATIENCE).done:
            seconds = plural(round(time.monotonic() - began), "second")
            raise StillWorkingError(f"{what}: {seconds} so far.")
        with self._lock:
            if self._begun.get(name) is begun:
                del self._begun[name]
        found: T = making.result()
        return found

    def _in_background(self, name: Any, make_it: Callable[[], T], made: "Future[T]") -> None:
        try:
            made.set_result(self.get(name, make_it))
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            # The error stays until a page has shown it, or the next request would start over.
            made.set_exception(error)
            return
        with self._lock:
            self._begun.pop(name, None)


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
