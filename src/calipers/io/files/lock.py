"""Files that one process alone writes to, on every system."""

import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)
STAYS_WHILE_OPEN = bool(_BINARY)
"""Whether an open file can be neither replaced nor removed: so on Windows, which has the flag."""
PATIENCE_SECONDS = 2.0
_FAR = 1 << 42
"""The byte that stands for the file: Windows lets nobody else read what is locked."""


def open_binary(path: Path, flags: int) -> int:
    """Open a file whose line ends nobody turns around."""
    return os.open(path, flags | _BINARY, 0o666)


def lock(file: int) -> bool:
    """Hold an open file until it is closed; False where another process holds it."""
    system: Any = import_module("msvcrt" if STAYS_WHILE_OPEN else "fcntl")
    try:
        if STAYS_WHILE_OPEN:
            os.lseek(file, _FAR, os.SEEK_SET)
            system.locking(file, system.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_END)
        else:
            system.flock(file, system.LOCK_EX | system.LOCK_NB)
    except OSError:
        return False
    return True


def once_closed(step: Callable[[], object]) -> None:
    """Replace or remove a file; on Windows a thread or a virus scanner may still have it open."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            step()
        except PermissionError:
            if not STAYS_WHILE_OPEN or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return
