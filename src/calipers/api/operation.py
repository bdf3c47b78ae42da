"""What makes a function an operation: declared once, known to every face."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import chain
from typing import Any, TypeVar

from calipers.api.door import arguments, check
from calipers.errors import CalipersError, UnknownArgument, as_sentence
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
    """Declare a public operation; its arguments are then checked before it runs."""

    def declare(function: F) -> F:
        checked = refuses_unknown(function)
        OPERATIONS[function.__name__] = Operation(checked, command, page)
        return checked

    return declare


def refuses_unknown(function: F) -> F:
    """The same function; what it is given is checked before it runs.

    A mistyped argument gets a sentence with the nearest one, a value of another type one that
    says what is allowed, and what the machine refuses is one of our errors.
    """
    kinds = dict(arguments(function))
    known = frozenset(kinds)

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        if not known.issuperset(given):
            raise _unknown(function.__name__, sorted(given.keys() - known), sorted(known))
        for name, value in chain(zip(kinds, args, strict=False), given.items()):
            check(function.__name__, name, value, kinds[name])
        try:
            return function(*args, **given)
        except CalipersError:
            raise
        except Exception as error:
            sentence = as_sentence(error)
            if sentence is None:
                raise
            raise sentence from error

    return checked  # type: ignore[return-value]


def _unknown(name: str, given: list[str], known: list[str]) -> UnknownArgument:
    which = " and ".join(map(repr, given))
    return UnknownArgument(
        f"{name} takes no argument {which}; it takes {', '.join(known)}."
        f"{did_you_mean(given[0], known)}"
    )
