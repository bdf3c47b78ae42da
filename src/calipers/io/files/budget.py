"""How much memory may be used, as people write it and as the machine has it."""

import os
import re
from pathlib import Path

from calipers.errors import InvalidInput

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
SHARE_TO_HOLD = 16
"""One part in so many of the memory holds rows; sorting, ranking and matching need the rest."""
SMALLEST = 16 << 20
"""With less, the blocks that are read would not fit."""
_WHERE_NOTHING_IS_KNOWN = 2 << 30
_MEMINFO = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def memory_in_bytes(given: str | int | None) -> int:
    """The bytes that a size such as "2GB" stands for; None is half of the memory that is free.

    >>> memory_in_bytes("2GB") == memory_in_bytes("2048 MiB") == 2 << 30
    True
    """
    if given is None:
        return max(free_memory() // 2, SMALLEST)
    found = _SIZE.fullmatch(str(given))
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if isinstance(given, bool) or size < SMALLEST:
        raise InvalidInput(
            f"The memory to use is given as {given!r}; it must be a size of at least "
            f"{SMALLEST >> 20}MB, such as 500MB or 2GB."
        )
    return size


def free_memory() -> int:
    """The bytes that are free on the machine, or in the container where that has less."""
    return min(_free_on_machine(), _free_in_container())


def _free_on_machine() -> int:
    if _MEMINFO.is_file():
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())
        if found:
            return int(found[1]) << 10
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # such as on Windows
        return _WHERE_NOTHING_IS_KNOWN


def _free_in_container() -> int:
    try:
        limit = (_CONTAINER / "memory.max").read_text().strip()
        used = int((_CONTAINER / "memory.current").read_text())
        return max(int(limit) - used, 0)
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return 1 << 62
