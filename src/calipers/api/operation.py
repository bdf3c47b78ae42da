"""What makes a function an operation: declared once, known to every face."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from calipers.errors import UnknownArgument
from calipers.suggest import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """One operation of the library, and where a reader finds it elsewhere."""

    function: Callable[..., Any]
    command: str | None
    """The command that runs it, as typed after ``calipers``; None: only Python has it."""
    page: str
    """The page of docs/ with a section on it."""


OPERATIONS: dict[str, Operation] = {}
"""Every operation by its public name. ``calipers`` itself, the list in the docs and the test that
walks all of them are made from this table, so a new one is entered nowhere else."""


def operation(*, page: str, command: str | None = None) -> Callable[[F], F]:
    """Declare a public operation; a mistyped argument then gets a sentence with the nearest."""

    def declare(function: F) -> F:
        checked = refuses_unknown(function)
        OPERATIONS[function.__name__] = Operation(checked, command, page)
        return checked

    return declare


def refuses_unknown(function: F) -> F:
    """The same function; a mistyped argument gets a sentence with the nearest one."""
    known = frozenset(_arguments(function))

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        if not known.issuperset(given):
            raise _unknown(function.__name__, sorted(given.keys() - known), sorted(known))
        return function(*args, **given)

    return checked  # type: ignore[return-value]


def _arguments(function: Callable[..., Any]) -> Iterator[str]:
    """The names that may be given as keywords, those of a TypedDict behind ``**`` included."""
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            # Unpack[Keywords], as PEP 692 writes it.
            yield from parameter.annotation.__args__[0].__annotations__
        else:
            yield name


def _unknown(name: str, given: list[str], known: list[str]) -> UnknownArgument:
    which = " and ".join(map(repr, given))
    return UnknownArgument(
        f"{name} takes no argument {which}; it takes {', '.join(known)}."
        f"{did_you_mean(given[0], known)}"
    )
