"""How a keyword of an operation is written elsewhere: as an option, and in the settings file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """What the faces need to know beside the type: ``k: Annotated[int, Setting("…", "-k")]``.

    An operation declares each keyword once. Its name, type and default serve Python; with this
    beside them, commands take it as an option, the settings file may hold it, and help and docs
    explain it. A keyword without one is for Python alone.
    """

    help: str
    flags: str = ""
    """How the option is written, such as "-m" (beside --metrics) or "--against" (in its place)."""
    metavar: str | None = None
    argument: str = ""
    """The word that stands for it where it is given by its place: FILE, or [FILE] or FILE..."""
    several: bool = False
    """Whether it may be given several times."""
    choices: tuple[str, ...] = ()
    """What it can be, where the type alone does not say."""
    read: Callable[[Any], Any] | None = None
    """Makes the value of the text (or the texts) that was given."""
    file: str = ""
    """The key of the settings file that holds where it is not given."""
    only: str = ""
    """The one command that offers it, where others take the keyword in Python alone."""

    needs: tuple[str, ...] = ()
    """What it needs of the data, where a question can be asked of several kinds; see ``Source``."""

    def names(self, keyword: str) -> list[str]:
        """How the option of a keyword is written: long, then short.

        >>> Setting("").names("max_age"), Setting("", "-m").names("metrics")
        (['--max-age'], ['--metrics', '-m'])
        >>> Setting("", "--against").names("baseline"), Setting("", "-k").names("k")
        (['--against'], ['-k'])
        """
        given = self.flags.split()
        is_named = len(keyword) == 1 or any(one.startswith("--") for one in given)
        return given if given and is_named else [f"--{keyword.replace('_', '-')}", *given]
