"""A value that stands as text in the cell of a table."""

import ast
from collections.abc import Callable
from typing import Any

import msgspec

from calipers.errors import InvalidInput


def decoded_text(text: str) -> Any:
    """What a table cell holds as JSON, or as Python prints it; else the text as it is.

    >>> decoded_text('["a"]'), decoded_text("['a']"), decoded_text("[a]")
    (['a'], ['a'], '[a]')
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        # Lists written to CSV by Python's own str().
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def cell_value(value: Any, is_json: bool) -> Any:
    """A table cell as a form has it: JSON text decoded, absent struct fields left out."""
    if isinstance(value, str) and is_json:
        return decoded_text(value)
    return _unnested(value)


def _unnested(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unnested(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and set(one) == {"key", "value"} for one in value):
            return {one["key"]: _unnested(one["value"]) for one in value}
        return [_unnested(one) for one in value]
    return value


def in_order(value: Any, key: str, any_order: bool, at: Callable[[], str]) -> Any:
    """The value of a field; a set has another order in every process, so it can be no ranking."""
    if isinstance(value, set | frozenset):
        if not any_order:
            raise InvalidInput(
                f"The field {key!r} is a set at {at()}, which has no order; a ranking is a list."
            )
        return sorted(value, key=str)
    if isinstance(value, dict) and any(isinstance(one, set | frozenset) for one in value.values()):
        return {name: in_order(one, f"{key}.{name}", any_order, at) for name, one in value.items()}
    return value
