"""Checksums of rows: a value that the disk or another program changed is never shown as saved.

Contents (scores, queries, results) are kept by their SHA-256 and checked whenever they are read.
The rows that describe an evaluation carry a checksum of their own; those that were saved before
there was one have none, and are taken as they are.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from calipers.errors import CalipersError, UnreadableFile

F = TypeVar("F", bound=Callable[..., Any])
LENGTH = 16
_NOT_LISTED = ("number", "checksum", "facts")
_NOT_IN_SUMMARY = ("evaluation", "checksum")


def of_listed(row: Mapping[str, Any], tags: Mapping[str, str]) -> str:
    """The first part of the checksum of an evaluation: over what a list shows, with the tags."""
    shown = {name: value for name, value in row.items() if name not in _NOT_LISTED}
    return _digest([shown, dict(tags)])


def of_facts(facts: str) -> str:
    """The second part: over what an evaluation says of itself."""
    return _digest(facts)


def of_summary(row: Mapping[str, Any]) -> str:
    """The checksum of one summary."""
    return _digest({name: value for name, value in row.items() if name not in _NOT_IN_SUMMARY})


def check(kept: str | None, found: str, what: str, place: str) -> None:
    """Refuse a row whose checksum is another; ``place`` is the history."""
    if kept is not None and kept != found:
        raise UnreadableFile(
            f"The history {place} is damaged: {what} is not as it was saved; put back a copy of "
            "it, and see with `calipers history check` what else is."
        )


def _digest(value: Any) -> str:
    # As JSON with every digit: a database gives back the very float that it was given.
    content = msgspec.json.encode(value, order="deterministic")
    return hashlib.sha256(content).hexdigest()[:LENGTH]


def sound(function: F) -> F:
    """Let a function of a store answer with a sentence where rows hold what nobody wrote."""

    @wraps(function)
    def checked(store: Any, *args: Any, **given: Any) -> Any:
        try:
            return function(store, *args, **given)
        except CalipersError:
            raise
        except _of_damage() as error:
            raise UnreadableFile(
                f"The history {store.place.shown} is damaged: a row cannot be read "
                f"({type(error).__name__}: {str(error).partition(chr(10))[0]:.80}); put back a "
                "copy of it."
            ) from error

    return checked  # type: ignore[return-value]


def _of_damage() -> tuple[type[Exception], ...]:
    # Only where something failed: a process that saves has no need of polars.
    from polars.exceptions import PolarsError

    return (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        PolarsError,
        SQLAlchemyError,
    )
