"""Where a result is read in Python: its text is kept, and names are those of Python."""

import io
import re

from rich.console import Console


class PythonConsole(Console):
    """A console that keeps what a command prints, for a result that is read in Python.

    Never that of a notebook: there rich would show each piece at once, whatever the file.
    """

    in_python = True

    def __init__(self, width: int) -> None:
        # Neither colour nor emoji: this text may go to a file, and a name is no picture.
        super().__init__(
            file=io.StringIO(),
            width=width,
            color_system=None,
            highlight=False,
            emoji=False,
            force_jupyter=False,
            legacy_windows=False,
        )


def is_python(console: Console) -> bool:
    """Whether what is printed is read in Python, where there are no options."""
    return getattr(console, "in_python", False)


_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def where_read(text: str, console: Console) -> str:
    """A sentence with the names that hold where it is read: --when-tied is when_tied in Python.

    A command in backticks stays as it is typed.
    """
    if not is_python(console):
        return text
    parts = text.split("`")
    parts[::2] = (_OPTION.sub(lambda found: found[1].replace("-", "_"), one) for one in parts[::2])
    return "`".join(parts)
