"""--quiet: the first line of the answer, and nothing else."""

from typing import Any

import click

_SAID = "calipers.said"
_UNBROKEN = 10_000
"""Characters of a line that is never broken."""


def first_line_console(**looks: Any) -> Any:
    """A console that prints the first line that says anything, whole, and drops the rest."""
    from rich.console import Console

    class FirstLineConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            said = click.get_current_context().meta
            if _SAID in said:
                return
            with self.capture() as printed:
                super().print(*objects, **options)
            for line in printed.get().splitlines():
                if line.strip():
                    said[_SAID] = True
                    self.file.write(line.rstrip() + "\n")
                    self.file.flush()
                    return

    return FirstLineConsole(width=_UNBROKEN, **looks)
