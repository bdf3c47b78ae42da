"""Fields whose value is made when somebody looks at it."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_NO_DEFAULT: Any = object()


class WhenAsked(Generic[T]):
    """A field of a dataclass that may be given as a function, called at the first look.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Answer:
    ...     value: WhenAsked[int] = WhenAsked(0)
    >>> Answer(), Answer(lambda: 6 * 7)
    (Answer(value=0), Answer(value=42))
    """

    def __init__(self, default: T | Callable[[], T] = _NO_DEFAULT) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> T:
        if instance is None:
            # Here a dataclass asks for the default.
            if self._default is _NO_DEFAULT:
                raise AttributeError(self._name)
            return self._default  # type: ignore[return-value]
        value: T | Callable[[], T] = vars(instance)[self._name]
        if callable(value):
            value = vars(instance)[self._name] = value()
        return value

    # Any, as a type checker would else believe that what was set is what comes back.
    def __set__(self, instance: object, value: Any) -> None:
        vars(instance)[self._name] = value
