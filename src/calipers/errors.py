"""The errors Calipers raises, all of one family.

    CalipersError
    ├── InvalidInput         a value, a file or an option that cannot be used (also a ValueError)
    │   ├── UnreadableFile   a file that is missing, empty, binary or not in a known format
    │   ├── UnknownMetric    a metric name that does not exist, with "did you mean"
    │   ├── UnknownArgument  an argument that an operation does not take (also a TypeError)
    │   ├── NoGroundTruth    results that come without what should be found
    │   ├── Unclear          data that could mean two things, with what would settle it
    │   ├── SumRow           a table whose last row is a total
    │   ├── NoCommonIds      run and ground truth speak of different ids
    │   └── SealedQueries    queries that nothing is tuned on, and only ``confirm`` may ask
    ├── MissingExtra         an optional library is needed; the message holds the install command
    ├── StoreAway            a history that cannot be reached, read or written at the moment
    ├── RetrieverFailed      a live retriever that cannot be asked, or that failed too often
    └── WriteFailed          an output that could not be written; nothing half written is left

Every message is a sentence in one order: what is wrong, where, what was found, what is
allowed, what to do. The command line prints it without a traceback and exits with 2.
"""

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any


class CalipersError(Exception):
    """Anything Calipers refuses to do, said in one sentence."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message, and the user's own line that caused it."""
        import traceback

        ours = __file__.removesuffix("errors.py")
        caller = None
        for frame in traceback.extract_tb(self.__traceback__):
            if frame.filename.startswith(ours):
                break
            caller = frame
        lines = [f"{type(self).__name__}: {self}"]
        if caller is not None and caller.line:
            lines += ["", f"line {caller.lineno}:  {caller.line}"]
        return lines


class InvalidInput(CalipersError, ValueError):
    """A value, a file or an option that cannot be used."""


class UnreadableFile(InvalidInput):
    """A file that is missing, empty, binary, damaged or not in a known format."""


class UnknownMetric(InvalidInput):
    """A metric name that does not exist."""


class Settled(InvalidInput):
    """Data that could mean two things, with the mappings that were tried and can be read."""

    def __init__(self, message: str, *answers: tuple[tuple[str, str], ...]) -> None:
        super().__init__(message)
        self.answers = answers


class UnknownArgument(InvalidInput, TypeError):
    """An argument that the operation does not take."""


class NoGroundTruth(InvalidInput):
    """Results that come without what should be found."""


_COMMANDS: list[None] = []
"""One entry for each command that is being carried out in this process."""


@contextmanager
def command_line() -> Iterator[None]:
    """While a command is carried out: what is proposed are options, elsewhere keywords."""
    _COMMANDS.append(None)
    try:
        yield
    finally:
        _COMMANDS.pop()


@contextmanager
def no_command_line() -> Iterator[None]:
    """While a command serves pages or an agent, who type no options."""
    kept = [*_COMMANDS]
    _COMMANDS.clear()
    try:
        yield
    finally:
        _COMMANDS[:] = kept


def is_command_line() -> bool:
    """Whether what is proposed will be typed into a shell."""
    return bool(_COMMANDS)


LOOK = "\n  "
"""What stands before each further line of a message: what a proposed mapping would
mean."""


class Unclear(InvalidInput):
    """Data that could mean two things, or whose parts nobody named.

    ``options`` are mappings of fields to columns that may settle it. They are tried
    before one of them is shown (``io.tables.propose``). ``otherwise`` says what to do
    where none of them can be read, and stands before a line that only leaves a column out.
    """

    def __init__(
        self,
        why: str,
        *options: tuple[tuple[str, str], ...],
        otherwise: str | None = None,
    ) -> None:
        super().__init__(f"{why}." if otherwise is None else f"{otherwise}: {why}.")
        self.why = why
        self.options = options
        self.otherwise = otherwise


class SumRow(InvalidInput):
    """A table whose last row sums it up and is no question."""

    def __init__(self, name: str, where: str, word: str) -> None:
        super().__init__(
            f"Take out the last row of {name}, {where}: it sums up the table "
            f"({word!r:.20}) and is no question."
        )


class NoCommonIds(InvalidInput):
    """Run and ground truth have no id in common, so every score would be 0 for no reason.

    ``why`` is what was found, without the ``advice``; ``of`` is the column of the results
    that was compared.
    """

    def __init__(self, why: str, advice: str = "", of: str = "item") -> None:
        super().__init__(f"{why}. {advice}" if advice else why)
        self.why = why
        self.of = of


class SealedQueries(InvalidInput):
    """Queries were set aside by ``calipers seal``; they confirm, and nothing is tuned on them."""


class MissingExtra(CalipersError, ImportError):
    """An optional library is needed for this and is not installed."""


class StoreAway(CalipersError):
    """A history is unavailable; the same request may succeed later."""


class RetrieverFailed(CalipersError):
    """A live retriever cannot be called, or failed more often than allowed."""


class WriteFailed(CalipersError, OSError):
    """An output file could not be written; an earlier file there is unharmed."""


def check_number(
    what: str,
    value: Any,
    *,
    whole: bool = False,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    such_as: float | None = None,
) -> None:
    """Refuse anything but a finite number within the given bounds.

    >>> check_number("The share to seal", 2, above=0, below=1, such_as=0.4)
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The share to seal is 2; it must be a number above 0 and below 1, \
such as 0.4.
    """
    is_one = isinstance(value, Integral if whole else Real) and not isinstance(
        value, bool
    )
    if (
        is_one
        and math.isfinite(value)
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    ):
        return
    ends = {"of at least": least, "above": above, "at most": most, "below": below}
    parts = [f"{words} {end:g}" for words, end in ends.items() if end is not None]
    allowed = f" {' and '.join(parts)}" if parts else ""
    example = "" if such_as is None else f", such as {such_as:g}"
    kind = "a whole number" if whole else "a number"
    raise InvalidInput(f"{what} is {value!r:.60}; it must be {kind}{allowed}{example}.")


def said_by(error: BaseException) -> str:
    """The message of an error from other code, whose ``__str__`` may itself raise.

    >>> said_by(KeyError("a"))
    "'a'"
    """
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - any code may stand behind __str__
        return f"its text cannot be had ({type(another).__name__})"


NO_MEMORY = ("can't start new thread", "failed to map segment", "cannot allocate memory")
"""What Python and the loader of libraries say where there is no address space left."""


def _tells_of_memory(error: BaseException) -> bool:
    """Whether an error of another kind says that memory ran out."""
    if getattr(error, "errno", None) == errno.ENOMEM:
        return True
    text = str(error).lower() if isinstance(error, RuntimeError | ImportError) else ""
    return any(words in text for words in NO_MEMORY)


def as_sentence(error: BaseException) -> CalipersError | None:
    """Translate an error of the system or the interpreter; None if it is a bug of ours.

    Every operation and the command line use it, so that a name that is too long, a full
    disk or a value that is nested too deeply gets a clear message everywhere.

    >>> str(as_sentence(RecursionError()))[:43]
    'A value in the input is nested too deeply: '
    """
    if isinstance(error, RecursionError):
        return InvalidInput(
            "A value in the input is nested too deeply: found lists or mappings inside "
            "each other by the hundreds; no format has more than a dozen levels, so "
            "write the input again."
        )
    if isinstance(error, MemoryError) or _tells_of_memory(error):
        return InvalidInput(
            "There is not enough memory for this input; give a smaller one, or take a "
            "larger machine."
        )
    if type(error).__name__ == "PanicException":
        return UnreadableFile(
            "A table of the input cannot be read: the table library gave up on it "
            f"({str(error).partition(chr(10))[0][:200]}); write it again with another "
            "program."
        )
    if isinstance(error, OSError):
        where = os.fsdecode(error.filename) if error.filename else "Standard output"
        return UnreadableFile(
            f"{where[:300]} cannot be used: {error.strerror or error}; check the name "
            "and the disk."
        )
    if isinstance(error, ValueError) and "null byte" in str(error):
        return InvalidInput(
            "The name of a file holds a NUL character, which no file has; name another."
        )
    if isinstance(error, UnicodeDecodeError):
        wrong_byte = f" (byte {error.object[error.start]:#04x})"
        return UnreadableFile(
            f"A text in the input is not valid UTF-8{wrong_byte}; save the file as UTF-8."
        )
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(
            f"A text holds an unpaired surrogate, which is no character: found "
            f"{error.object[:60]!r}; texts must be valid Unicode."
        )
    return None
