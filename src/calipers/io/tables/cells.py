"""Cells in which people write several ids: a list, or ids with a sign between them.

What divides them is found cell by cell. A comma divides only where no part holds a blank, so
that a text stays whole; and a cell with two kinds of signs is not guessed.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from calipers.errors import InvalidInput

SIGNS: dict[str, str] = {";": "';'", "|": "'|'", "\n": "line ends", ",": "commas"}
LIST = "lists"
ENDS = ".!?…。"
"""How a sentence ends."""
At = Callable[[], str]


class Splitter:
    """Splits the cells of one column, and knows how many it split and by what."""

    def __init__(self, column: str, *, any_order: bool = False) -> None:
        self.column = column
        self._any_order = any_order
        self._split: Counter[str] = Counter()
        self._parts = 0

    def split(self, cell: Any, at: At) -> list[str]:
        """The ids in one cell, in order; ``at`` says where it stands."""
        if cell is None:
            return []
        if isinstance(cell, list | tuple):
            return self._listed(list(cell), at)
        text = str(cell).strip()
        if text.startswith("[") and text.endswith("]"):
            return self._listed(decoded_text(text), at)
        if text.startswith("{") and isinstance(found := decoded_text(text), set):
            ordered = in_order(found, self.column, self._any_order, at)
            return self._listed(ordered, at)
        signs = [sign for sign in (";", "|", "\n") if sign in text.strip(";|")]
        if len(signs) > 1:
            raise InvalidInput(
                f"A cell of {self.column!r} has two kinds of dividers at {at()}: {text!r:.80}; put "
                "one sign between ids, such as ';', or write a list as in JSON."
            )
        if not signs and "," in text:
            parts = _parts(text, ",")
            are_words = all(len(part.split()) == 1 for part in parts)
            signs = [","] if len(parts) > 1 and are_words else []
        if not signs:
            self._check_blanks(text, at)
            single = text.strip(";|, ") if text[-1:] in ";|," else text
            return [single] if single else []
        return self._noted(signs[0], _parts(text, signs[0]))

    def notes(self) -> Iterable[str]:
        """What was split, in a sentence; nothing where nothing was."""
        if self._split:
            cells = sum(self._split.values())
            by = " and ".join(SIGNS.get(sign, sign) for sign in self._split)
            held = "cell holds" if cells == 1 else "cells hold"
            yield (
                f"{cells:,} {held} several ids in {self.column!r}: {self._parts:,} ids, "
                f"divided by {by}."
            )

    def _noted(self, sign: str, parts: list[str]) -> list[str]:
        if len(parts) > 1:
            self._split[sign] += 1
            self._parts += len(parts)
        return parts

    def _listed(self, found: Any, at: At) -> list[str]:
        plain = isinstance(found, list) and all(
            isinstance(one, str | int) and not isinstance(one, bool) for one in found
        )
        if not plain:
            raise InvalidInput(
                f"A cell of {self.column!r} is no list of ids at {at()}: {found!r:.80}; "
                'write it as in JSON, ["a", "b"], or put \';\' between ids.'
            )
        return self._noted(LIST, [str(one).strip() for one in found])

    def _check_blanks(self, text: str, at: At) -> None:
        """Refuse ids of one shape with blanks between them: several, or one with blanks in it?"""
        parts = text.split()
        shapes = {_shape(part) for part in parts}
        if len(parts) > 1 and len(shapes) == 1 and any("9" in shape for shape in shapes):
            raise InvalidInput(
                f"A cell of {self.column!r} holds blanks at {at()}: {text!r:.80} could be "
                f"{len(parts)} ids or one; put ';' between several ids, or add a column grade to "
                "say that every row holds one."
            )


def looks_like_texts(cells: Iterable[Any], *, sure: bool = False) -> bool:
    """Whether most cells are sentences and not ids; ``sure`` asks for whole ones with their end.

    >>> looks_like_texts(["Lists grow by an eighth.", "a#1"]), looks_like_texts(["a#14, a#15"])
    (True, False)
    >>> looks_like_texts(["A lock; one thread holds it."]), looks_like_texts(["a 1.pdf;b c 2.pdf"])
    (True, False)
    """
    filled = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    texts = [one for one in filled if _is_sentence(one)]
    if sure:
        texts = [one for one in texts if one[-1] in ENDS and len(one.split()) > 3]
    return bool(filled) and 2 * len(texts) >= len(filled)


def _is_sentence(cell: str) -> bool:
    """Three words that no sign divides and that name no file, or two and the end of a sentence."""
    parts = [part for part in re.split(r"[;|,\n]\s*", cell) if part]
    longest = max((len(part.split()) for part in parts), default=0)
    if all(re.search(r"\.\w{2,5}$", part.strip()) for part in parts):
        return False
    return longest >= 3 or (longest == 2 and cell[-1] in ENDS)


def _parts(text: str, sign: str) -> list[str]:
    return [part.strip() for part in text.split(sign) if part.strip()]


def _shape(part: str) -> str:
    """An id with its digits and letters made alike.

    >>> _shape("a#14"), _shape("doc-2.md")
    ('a#9', 'a-9.a')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", part))


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
