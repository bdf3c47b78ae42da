"""Paths into an answer: a small part of JSONPath, and all that retrieval answers need.

``$`` is the answer itself, ``.name`` or ``['name']`` a field, ``[0]`` an element (``[-1]`` the
last), ``[*]`` every element. Filters, slices and ``..`` are not understood, and say so.
A field may also be an attribute, so that a path works on objects as on JSON.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.errors import InvalidInput

_STEP = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*)
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \['(?P<single>[^']*)'\]
      | \["(?P<double>[^"]*)"\]""",
    re.VERBOSE,
)


class NoMatch(Exception):
    """A path that leads nowhere in an answer; the message says how far it got."""


@dataclass(frozen=True)
class Path:
    """A path that was understood."""

    text: str
    steps: tuple[str | int | None, ...]
    """A field's name, an element's number, or None for every element."""

    def __str__(self) -> str:
        return self.text

    @property
    def spreads(self) -> bool:
        """Whether it may lead to several values."""
        return None in self.steps

    def all(self, value: Any) -> list[Any]:
        """Every value it leads to.

        >>> parse("$.hits[*].id").all({"hits": [{"id": "a"}, {"id": "b"}]})
        ['a', 'b']
        """
        values = [value]
        walked = "$"
        for step in self.steps:
            if step is None:
                values = [one for value in values for one in _elements(value, walked)]
                walked += "[*]"
            else:
                values = [_step(value, step, walked) for value in values]
                walked += f"[{step}]" if isinstance(step, int) else f".{step}"
        return values

    def one(self, value: Any) -> Any:
        """The value it leads to."""
        return self.all(value)[0]


def parse(text: str) -> Path:
    """A path from its text.

    >>> parse("$.a['b c'][0]").steps
    ('a', 'b c', 0)
    """
    steps: list[str | int | None] = []
    position = 1
    while text[:1] == "$" and position < len(text):
        found = _STEP.match(text, position)
        if not found:
            break
        position = found.end()
        if found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["all"]:
            steps.append(None)
        else:
            steps.append(found["name"] or found["single"] or found["double"] or "")
    if text[:1] != "$" or position < len(text):
        raise InvalidInput(
            f"The path {text!r} cannot be read at {text[position if text[:1] == '$' else 0 :]!r}; "
            "a path begins with $ and goes on with .name, ['name'], [0] or [*], "
            "such as $.hits[*] or $.metadata.id."
        )
    return Path(text, tuple(steps))


def _elements(value: Any, walked: str) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    raise NoMatch(f"{walked} is {_kind(value)}, not a list")


def _step(value: Any, step: str | int, walked: str) -> Any:
    if isinstance(step, int):
        if not isinstance(value, list | tuple):
            raise NoMatch(f"{walked} is {_kind(value)}, not a list")
        if not -len(value) <= step < len(value):
            raise NoMatch(f"{walked} has {len(value)} elements, so there is no [{step}]")
        return value[step]
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        raise NoMatch(f"{walked} has no {step!r}; it has {_names(value)}")
    if value is not None and not isinstance(value, str | int | float | list | tuple):
        found = getattr(value, step, None)
        if found is not None:
            return found
    raise NoMatch(f"{walked} is {_kind(value)}, which has no {step!r}")


def _names(value: Mapping[Any, Any]) -> str:
    names = [repr(name) for name in list(value)[:6]]
    return ", ".join(names) + (" …" if len(value) > 6 else "") if names else "no fields"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    for kind, words in kinds.items():
        if isinstance(value, kind):
            return words
    return "a number" if isinstance(value, int | float) else f"a {type(value).__name__}"
