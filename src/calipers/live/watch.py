"""Who watches the questions being asked, and the callbacks that are called for it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from calipers.errors import InvalidInput

Callbacks = AbstractContextManager[tuple[Any, Any]]
"""For the number of questions, and for the counts as they grow."""
Watch = Callable[[], Callbacks]


@contextmanager
def callbacks(watch: Callable[..., Callbacks] | None, *about: Any) -> Iterator[tuple[Any, Any]]:
    """The two callbacks while questions are asked; none where nobody watches.

    >>> with callbacks(None) as (total, progress):
    ...     print(total, progress)
    None None
    """
    if watch is None:
        yield None, None
        return
    given = _called(watch, *about)
    if not isinstance(given, AbstractContextManager):
        raise _wrong(given)
    with given as pair:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise _wrong(pair)
        yield pair


def _called(watch: Callable[..., Callbacks], *about: Any) -> Any:
    try:
        return watch(*about)
    except Exception as error:
        raise InvalidInput(
            f"The function given as watch failed: {type(error).__name__}: {error!s:.200}"
        ) from error


def _wrong(given: Any) -> InvalidInput:
    return InvalidInput(
        f"The function given as watch returned {given!r:.60}; it returns a context manager that "
        "gives two callbacks, for the number of questions and for the counts as they grow."
    )
