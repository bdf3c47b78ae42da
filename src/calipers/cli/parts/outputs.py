"""The files that a command is asked to write: checked before any work, each written by itself."""

from collections.abc import Callable
from typing import TypeVar

import click

from calipers.errors import CalipersError, WriteFailed
from calipers.present.plain import printable

T = TypeVar("T")


class Outputs:
    """Several files to write, of which one that fails takes none of the others with it."""

    def __init__(self) -> None:
        self._asked = 0
        self._hopeless: dict[str, WriteFailed] = {}
        self.failed = False

    def check(self, path: str | None, check: Callable[[str], None]) -> None:
        """Look at a place before any work; a name that means nothing is refused at once."""
        if not path:
            return
        self._asked += 1
        try:
            check(path)
        except WriteFailed as error:
            self._hopeless[path] = error

    def begin(self, *, others: bool = False) -> None:
        """Say now what cannot be written; there is no work to do where nothing can be.

        ``others``: something else is kept too, that needs none of these places.
        """
        if self._hopeless and len(self._hopeless) == self._asked and not others:
            raise next(iter(self._hopeless.values()))
        for error in self._hopeless.values():
            self._say(error)

    def write(self, path: str | None, make: Callable[[], T]) -> T | None:
        """Make one of the files; a failure is said, and the others are still written."""
        if not path or path in self._hopeless:
            return None
        return self.attempt(make)

    def attempt(self, make: Callable[[], T]) -> T | None:
        """Something that an output needs, or None and a sentence where it cannot be made."""
        try:
            return make()
        except CalipersError as error:
            self._say(error)
            return None

    def finish(self) -> None:
        """Leave with 2 where anything that was asked for is missing."""
        if self.failed:
            raise click.exceptions.Exit(2)

    def _say(self, error: CalipersError) -> None:
        self.failed = True
        click.echo(f"Error: {printable(str(error))}", err=True)
