"""What makes a result show itself, at a prompt and in a notebook."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar


@dataclass(frozen=True)
class Looks:
    """How one kind of result is shown."""

    text: Callable[[Any], str]
    line: Callable[[Any], str]
    html: Callable[[Any], str]


LOOKS: dict[type, Looks] = {}
"""How each kind of result is shown; the module that shows it enters it here when it is loaded."""


class ShowsItself:
    """A result that prints as its command does, and that a notebook shows as tables and charts.

    Results know nothing of how they are shown: what shows them is loaded when somebody looks.
    """

    shown_by: ClassVar[str]
    """The module that shows it."""

    @property
    def _shown(self) -> Any:
        """The module that shows it, loaded when somebody looks."""
        return import_module(self.shown_by)

    @property
    def _looks(self) -> Looks:
        _ = self._shown
        return next(LOOKS[kind] for kind in type(self).__mro__ if kind in LOOKS)

    def _repr_html_(self) -> str:
        return self._looks.html(self)

    def __str__(self) -> str:
        return self._looks.text(self)

    def __repr__(self) -> str:
        """The verdict alone, for a prompt."""
        return f"<{type(self).__name__}: {self._looks.line(self)}>"
