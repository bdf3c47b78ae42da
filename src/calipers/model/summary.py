"""One number for many queries, with how far it can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calipers.model.interval import Interval


class _WhenAsked:
    """A field that may be given as a function, which is called when somebody looks at it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = f"_{name}"

    def __get__(self, instance: object | None, owner: type | None = None) -> Interval | None:
        if instance is None:
            raise AttributeError(self._place)  # So the field has no default.
        value: Interval | Callable[[], Interval | None] | None = vars(instance)[self._place]
        if callable(value):
            value = vars(instance)[self._place] = value()
        return value

    def __set__(
        self, instance: object, value: Interval | Callable[[], Interval | None] | None
    ) -> None:
        vars(instance)[self._place] = value


@dataclass(frozen=True)
class Summary:
    """One metric over all queries for which it is defined."""

    metric: str
    mean: float | None
    median: float | None
    interval: _WhenAsked = _WhenAsked()
    # The checker takes the descriptor for a default, which it is not.
    n: int  # type: ignore[misc]
    undefined: int  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        # What is kept or sent elsewhere is the interval, not how to make it.
        known = (self.metric, self.mean, self.median, self.interval, self.n, self.undefined)
        return type(self), known
