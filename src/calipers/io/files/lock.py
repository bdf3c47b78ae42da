"""Locks for files that only one process may write to, on every system."""

import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)
STAYS_WHILE_OPEN = bool(_BINARY)
"""Whether an open file can be neither replaced nor removed, as on Windows."""
PATIENCE_SECONDS = 2.0
_FAR = 1 << 42
"""The byte to lock, beyond the content: on Windows nobody else can read locked bytes."""


def open_binary(path: Path, flags: int) -> int:
    """Open a file without translating line ends."""
    return os.open(path, flags | _BINARY, 0o666)


def lock(file: int) -> bool:
    """Lock an open file until it is closed; False if another process has the lock."""
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
    """Replace or remove a file; on Windows, retry while another thread or a scanner has it open."""
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
