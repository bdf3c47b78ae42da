"""Notes below an answer, for answers that print themselves."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from calipers.model.document import Document, Note, NoteKind, in_order
from calipers.present.on_terminal import PythonConsole, in_python, is_python, print_notes_of

__all__ = ["MoreWith", "Note", "NoteKind", "PythonConsole", "is_python"]


def note_lines(notes: Iterable[Note | str]) -> list[str]:
    """All of them, where there is room: on a page, in a file."""
    return [one.text for one in in_order(notes)]


def print_notes(notes: Iterable[Note | str], console: Console, *, explain: bool = False) -> None:
    """The notes that weigh most, or all of them."""
    print_notes_of(Document("", notes=[*notes]), console, explain=explain)


@dataclass(frozen=True)
class MoreWith:
    """What is left out, and how all of it is had: by the command, and in Python."""

    words: str
    command: str = "--explain"
    python: str = ".explain()"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One line."""
        yield Text(f"{self.words}: {self.python if is_python(console) else self.command}", "dim")


def where_read(text: str, console: Console) -> str:
    """A sentence with the names that hold where it is read."""
    return in_python(text) if is_python(console) else text
