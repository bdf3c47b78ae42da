"""Where in an answer the results stand, and where in a result its id, score and text."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from calipers.errors import InvalidInput
from calipers.io.names import RESULT
from calipers.live.adapters.paths import Path, parse

FIELDS = tuple(RESULT)


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
