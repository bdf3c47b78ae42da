"""A value that stands as text in the cell of a table."""

import ast
from typing import Any

import msgspec


def decoded_text(text: str) -> Any:
    """What a table cell holds as JSON, or as Python prints it; else the text as it is.

    >>> decoded_text('["a"]'), decoded_text("['a']"), decoded_text("[a]")
    (['a'], ['a'], '[a]')
    """
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        pass
    try:
        # Lists written to CSV by Python's own str().
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
