"""What was made for pages and stays in memory, and what is being made in the background."""

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
"""Evaluations, reports and comparisons that stay in memory; the one not used longest goes."""
PATIENCE = 2.0
"""Seconds that a page waits for what is being made before it says so."""

T = TypeVar("T")
_ALONE = threading.Lock()


class StillWorkingError(Exception):
    """What a page shows is being made in the background; it says what and for how long."""


class Held:
    """A few values by name, each made once even if several ask at the same time."""

    def __init__(self, most: int = HELD) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Any, Any] = OrderedDict()
        self._making: dict[Any, threading.Lock] = {}
        self._begun: dict[Any, tuple[float, Future[Any]]] = {}

    def get(self, name: Any, make_it: Callable[[], T]) -> T:
        """The value of a name, made now where it is not held."""
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
        """The same for a page, which waits a moment alone: then it says ``what`` is being made."""
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
            # It stays until somebody was told: a page that asks again would begin it once more.
            made.set_exception(error)
            return
        with self._lock:
            self._begun.pop(name, None)


def alone(work: Callable[[], T]) -> T:
    """What a large piece of work makes, one at a time: two would need the memory of two."""
    with _ALONE:
        try:
            return work()
        finally:
            # What is free again would stay with the allocator, and the next piece come on top.
            _to_allocator("malloc_trim", 0)


def give_memory_back() -> None:
    """Let arrays go back to the machine once they are free, and few threads hold stores of it."""
    for setting, value in ((_MMAP_THRESHOLD, 1 << 17), (_ARENA_MAX, 2)):
        _to_allocator("mallopt", setting, value)


_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""As malloc.h of the GNU C library numbers them."""


def _to_allocator(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # another library of C has none of it
        getattr(ctypes.CDLL(None), name)(*numbers)
