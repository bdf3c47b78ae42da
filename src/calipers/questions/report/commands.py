"""The commands that a page shows: made from its evaluation, never from what was typed to serve it.

A page is read by somebody else, elsewhere: the files and options of the server's own command
mean nothing there, and a path must not be told.
"""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from calipers.words import COMPLETING

OF_ONE = frozenset({"audit", "diagnose", "eval", "explain", "misses", "sweep"})
"""Commands that take a saved evaluation in place of a file."""


@contextmanager
def commands_about(evaluation: str | None) -> Iterator[None]:
    """Complete commands with a saved evaluation by its short id; None: with nothing."""
    token = COMPLETING.set(partial(completed, evaluation))
    try:
        yield
    finally:
        COMPLETING.reset(token)


@contextmanager
def no_commands() -> Iterator[None]:
    """Leave out every offer of a command: who reads a static page has no files and no store."""
    token = COMPLETING.set(lambda _: "")
    try:
        yield
    finally:
        COMPLETING.reset(token)


def completed(evaluation: str | None, words: str) -> str | None:
    """The whole command; empty if it lacks an evaluation, None if it needs none.

    >>> completed("a2169758", "misses --where lang=de")
    'calipers misses @a2169758 --where lang=de'
    >>> completed(None, "misses"), completed(None, "compare @a2169758 @nightly")
    ('', None)
    >>> completed("a2169758", "compare --where lang=de")
    ''
    """
    name, *rest = shlex.split(words)
    if name == "compare" and rest[0].startswith("-"):
        return ""
    if name not in OF_ONE or (rest and not rest[0].startswith("-")):
        return None
    if evaluation is None:
        return ""
    return shlex.join(["calipers", name, f"@{evaluation}", *rest])
