"""How the program ends: with a sentence and an exit code that means what happened."""

import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from calipers.errors import CalipersError, as_sentence

BAD_INPUT = 2
UNEXPECTED = 70
"""EX_SOFTWARE of sysexits.h: a fault of the program, and never a gate that failed (1)."""
VARIABLE = "CALIPERS_TRACEBACK"
"""The environment variable that shows where an unexpected error happened."""
_LONGEST = 1200


def explain(error: BaseException) -> int:
    """Print what ended the program to standard error, and say the exit code."""
    expected = error if isinstance(error, CalipersError) else as_sentence(error)
    if expected is not None:
        _say(str(expected))
        if isinstance(error, OSError):
            _forget_output()
        return BAD_INPUT
    if os.environ.get(VARIABLE):
        traceback.print_exception(error, file=sys.stderr)
    what = str(error).partition("\n")[0]
    _say(f"Calipers met a fault of its own: {type(error).__name__}: {what}")
    click.echo(
        f"Please report it with the command; {VARIABLE}=1 before it shows where it happened.",
        err=True,
    )
    return UNEXPECTED


def _say(sentence: str) -> None:
    from calipers.present.escape import printable

    click.echo(f"Error: {shortened(printable(sentence))}", err=True)


def shortened(sentence: str) -> str:
    """A sentence that quotes a very long value, with the middle of it left out.

    >>> shortened("short"), len(shortened("x" * 100_000))
    ('short', 1200)
    """
    if len(sentence) <= _LONGEST:
        return sentence
    half = (_LONGEST - 3) // 2
    return f"{sentence[: _LONGEST - 3 - half]} … {sentence[-half:]}"


def _forget_output() -> None:
    """What is still unwritten goes nowhere, or the interpreter would complain at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_streams() -> None:
    """Leave at once where there is no standard output; a closed standard error is done without."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        _say("Standard output is closed, so nothing can be printed; let it lead somewhere.")
        sys.exit(BAD_INPUT)
