"""Notes below an answer: what can change a decision first, nothing twice, the rest on request.

And the names of things where they are read: a command has options, Python has keywords.
"""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from calipers.present.escape import printable
from calipers.words import commands_in, plural

NoteKind = Literal[
    "failed",  # questions on which the retriever failed
    "missing",  # queries that were not asked, not known or not compared
    "unjudged",  # results that nobody judged
    "input",  # what was made of the files: ids that were split, columns that were guessed
    "doubt",  # what could not have been seen, what lies too near to call
    "counted",  # how much there was, and what was counted twice or tied
    "marks",  # what the signs in the table mean
    "method",  # what is always so: how intervals are made, which policies hold
]
"""What a note is about. The order is that of their weight: the first ones can turn a decision."""
WEIGHTS = {kind: weight for weight, kind in enumerate(get_args(NoteKind))}
DECIDING = WEIGHTS["doubt"]
"""The last weight that can turn a decision."""
MOST_DECIDING, MOST_NOTES = 6, 3
"""Notes that are printed unless all are asked for: those that can turn a decision; in all, though
one of the others always is."""


class Note(NamedTuple):
    """A sentence below an answer, and what it is about."""

    kind: NoteKind
    text: str


def in_order(notes: Iterable[Note | str]) -> list[Note]:
    """By weight, each once; a plain sentence was noted where the input was read."""
    every = (one if isinstance(one, Note) else Note("input", one) for one in notes)
    said: dict[str, Note] = {}
    for one in sorted(every, key=_weight):
        said.setdefault(one.text, one)
    return [*said.values()]


def _weight(note: Note) -> int:
    return WEIGHTS[note.kind]


def note_lines(notes: Iterable[Note | str]) -> list[str]:
    """All of them, where there is room: on a page, in a file."""
    return [one.text for one in in_order(notes)]


def print_notes(notes: Iterable[Note | str], console: Console, *, explain: bool = False) -> None:
    """The notes that weigh most, or all of them; how many more could matter is always said."""
    every = in_order(notes)
    if explain:
        shown, kept = every, []
    else:
        deciding = [one for one in every if _weight(one) <= DECIDING][:MOST_DECIDING]
        others = [one for one in every if DECIDING < _weight(one) < WEIGHTS["method"]]
        shown = [*deciding, *others[: max(1, MOST_NOTES - len(deciding))]]
        kept = [one for one in every if one not in shown]
    if shown or kept:
        console.print(Notes([one.text for one in shown], kept))
    for one in shown:
        for command in commands_in(one.text):
            console.print(Text(f"  {printable(command)}"), soft_wrap=True)


@dataclass(frozen=True, eq=False)
class Notes:
    """The notes that are shown, and those that are kept back."""

    shown: list[str]
    kept: list[Note]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A blank line, then one note after the other."""
        # What is always so is no news: nobody is told that it waits.
        rest = sum(one.kind != "method" for one in self.kept)
        if self.shown or rest:
            yield Text()
        for line in self.shown:
            yield Text(where_read(line, console), style="dim")
        if rest:
            yield MoreWith(plural(rest, "more note"))


@dataclass(frozen=True)
class MoreWith:
    """What is left out, and how all of it is had: by the command, and in Python."""

    words: str
    command: str = "--explain"
    python: str = ".explain()"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One line."""
        yield Text(f"{self.words}: {self.python if is_python(console) else self.command}", "dim")


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
