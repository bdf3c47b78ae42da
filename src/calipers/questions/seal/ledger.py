"""The ledger of sealed queries: what was sealed, the error budget, and every look at them.

JSON lines: first the seal, then one line per look, so that two branches of a repository merge
as text. A look is on disk before its answer is printed: a line cut short by a crash was never
answered, and does not count.
"""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from calipers.errors import InvalidInput, UnreadableFile, WriteFailed
from calipers.frozen import dataclass
from calipers.io.files.lock import lock, open_binary

ERROR = 0.05
LOOKS = 5
"""The chance of any false confirmation, and the looks that share it."""
SPENT = 0.7
"""The share of the error that looks spend. Where few queries lose much and many gain a little, a
false gain at so small an error is twice as likely as the test says; at 0.7 of it the total error
stays within the budget."""
PATIENCE_SECONDS = 30.0


def per_look(looks: int) -> float:
    """The error that each look spends: always the same, so that timing never matters."""
    return SPENT * ERROR / looks


@dataclass(frozen=True)
class SealedPart:
    """One part of the queries, as it was when sealed."""

    queries: int
    fingerprint: str


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: what was sealed, and its budget of looks."""

    seal: str
    """The name of the seal, which is in every sealed record."""
    made: str
    calipers: str
    looks: int
    cluster: str | None
    sealed: SealedPart
    queries: tuple[str, ...] = ()
    """A fingerprint of each sealed query: the budget belongs to them, not to a file."""


class TakenLook(msgspec.Struct, frozen=True, kw_only=True):
    """A later line: what was asked, when, and the answer."""

    look: int
    time: str
    metric: str
    new: str
    old: str
    asked: str
    """A digest of the question: the metric and its value for every query of both runs."""
    confirmed: bool


@dataclass(frozen=True)
class LookLedger:
    """The content of a ledger."""

    path: Path
    seal: Seal
    looks: tuple[TakenLook, ...]

    @property
    def left(self) -> int:
        """Looks that may still be taken."""
        return max(self.seal.looks - len(self.looks), 0)

    def answered(self, asked: str) -> TakenLook | None:
        """The earlier look that asked the same, or None."""
        return next((look for look in self.looks if look.asked == asked), None)


def ledger_beside(sealed: Path) -> Path:
    """The path of the ledger: NAME.ledger.jsonl beside NAME.sealed.jsonl.

    >>> ledger_beside(Path("data/gt.sealed.jsonl")).as_posix()
    'data/gt.ledger.jsonl'
    """
    stem = (
        sealed.name.removesuffix(".jsonl").removesuffix(".sealed").removesuffix(".open")
    )
    return sealed.parent / f"{stem}.ledger.jsonl"


def read_ledger(path: Path) -> LookLedger:
    """Read a ledger from a file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(
            f"The ledger {path} is missing, and without it nobody knows how many looks are left; "
            "bring it back from version control, or say where it is with --ledger."
        ) from None
    except OSError as error:
        raise UnreadableFile(
            f"The ledger {path} cannot be read: {error.strerror}."
        ) from error
    # A line without its end was never answered.
    first, *rest = content[: content.rfind(b"\n") + 1].splitlines() or [b""]
    seal = _line(first, Seal, f"{path}:1")
    looks = (
        _line(line, TakenLook, f"{path}:{number}") for number, line in enumerate(rest, 2)
    )
    return LookLedger(path, seal, tuple(looks))


_Line = TypeVar("_Line", Seal, TakenLook)


def _line(line: bytes, kind: type[_Line], where: str) -> _Line:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"This is no line of a ledger at {where}: {error}. A ledger is written by `calipers "
            "seal` and `calipers confirm` alone; bring it back from version control."
        ) from None


@contextmanager
def held(path: Path) -> Iterator[Callable[[TakenLook], None]]:
    """Lock the ledger, so that nobody else can take a look; yields what records one."""
    read_ledger(path)
    until = time.monotonic() + PATIENCE_SECONDS
    with _writing(path):
        file = open_binary(path, os.O_RDWR | os.O_APPEND)
    try:
        while not lock(file):
            if time.monotonic() > until:
                raise InvalidInput(
                    f"Another process holds the ledger {path}; wait for it, and ask again."
                )
            time.sleep(0.05)
        yield partial(_record, file, path)
    finally:
        os.close(file)


def _record(file: int, path: Path, look: TakenLook) -> None:
    """Append a look; it is on disk when this returns, or not at all."""
    whole = path.read_bytes().rfind(b"\n") + 1
    line = msgspec.json.encode(look) + b"\n"
    with _writing(path):
        os.ftruncate(file, whole)
        if os.write(file, line) < len(line):
            os.ftruncate(file, whole)
            raise OSError(errno.ENOSPC, "the disk is full")
        os.fsync(file)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteFailed(
            f"The ledger {path} cannot be written: {error.strerror}; a look that is not recorded "
            "is not given."
        ) from error
