"""Where in an answer the results stand, and where in a result its id, score and text.

A path is a small part of JSONPath, and all that retrieval answers need: ``$`` is the answer itself,
``.name`` or ``['name']`` a field, ``[0]`` an element (``[-1]`` the last), ``[*]`` every element.
Filters, slices and ``..`` are not understood, and say so. A field may also be an attribute, so that
a path works on objects as on JSON.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from calipers.errors import InvalidInput
from calipers.names import RESULT

_STEP = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*)
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \['(?P<single>[^']*)'\]
      | \["(?P<double>[^"]*)"\]""",
    re.VERBOSE,
)
FIELDS = tuple(RESULT)
"""What a result says of itself."""


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


@dataclass(frozen=True)
class Layout:
    """Paths the caller named; where none is named, the usual names are looked for."""

    results: Path | None = None
    id: Path | None = None
    score: Path | None = None
    text: Path | None = None
    document: Path | None = None
    start: Path | None = None
    end: Path | None = None
    tokens: Path | None = None
    page: Path | None = None
    version: Path | None = None
    stages: Mapping[str, Path] = field(default_factory=dict)
    named: tuple[tuple[str, Path], ...] = field(init=False)
    """The fields of a result for which there is a path."""

    def __post_init__(self) -> None:
        found = [(name, getattr(self, name)) for name in FIELDS]
        object.__setattr__(self, "named", tuple((n, p) for n, p in found if p is not None))

    @classmethod
    def from_texts(cls, texts: Mapping[str, Any]) -> Self:
        """A layout from paths as texts; ``stages`` is a mapping of name to path.

        >>> Layout.from_texts({"results": "$.hits[*]", "id": "$.key"}).id.steps
        ('key',)
        """
        paths: dict[str, Any] = {}
        for name, text in texts.items():
            if text is None:
                continue
            if name == "stages":
                if not isinstance(text, Mapping):
                    raise InvalidInput(
                        f"The stages are {text!r}; give a mapping of name to path, such as "
                        "{'candidates': '$.candidates[*]'}."
                    )
                paths[name] = {str(stage): _path(stage, path) for stage, path in text.items()}
            else:
                paths[name] = _path(name, text)
        return cls(**paths)

    def to_dict(self) -> dict[str, Any]:
        """The paths that are named, as texts."""
        said: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Path):
                said[one.name] = str(value)
        if self.stages:
            said["stages"] = {name: str(path) for name, path in self.stages.items()}
        return said


def _path(name: Any, text: Any) -> Path:
    if not isinstance(text, str):
        raise InvalidInput(f"The path of {name} is {text!r}; it is a text such as $.hits[*].")
    return parse(text)
