"""Whole numbers that no table can hold."""

from collections.abc import Iterable, Sequence
from typing import Any

LARGEST = (1 << 63) - 1


def too_large(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The sentence about the first whole number beyond 64 bits.

    >>> too_large(("start", "end"), [(0, 1 << 70)])
    'A number is too large: found the end 1180591620717411303424; a place in a text and a count \
are at most 9223372036854775807.'
    """
    name, value = next(
        (name, value)
        for row in rows
        for name, value in zip(names, row, strict=True)
        if isinstance(value, int) and abs(value) > LARGEST
    )
    return (
        f"A number is too large: found the {name} {value!r:.40}; a place in a text and a count are "
        f"at most {LARGEST}."
    )
