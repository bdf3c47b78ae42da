"""Whether something else uses the processor, where the system can tell (Linux)."""

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
QUIET = 0.05
"""The share of the processor that others may use."""
_LOOK, _PAUSE = 0.5, 2.0


def busy_seconds() -> float | None:
    """The processor time that everything together has used since the machine started."""
    try:
        user, nice, system, _idle, _waiting, irq, softirq, steal = map(
            int, STAT.read_text().split(maxsplit=9)[1:9]
        )
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def used_by_others(before: float | None, seconds: float, own: float = 0.0) -> float:
    """The share of all processors that others used since `before`; 0 where it is not known."""
    after = busy_seconds()
    if before is None or after is None:
        return 0.0
    return max(0.0, after - before - own) / (seconds * (os.cpu_count() or 1))


def wait_until_quiet(longest: float) -> None:
    """Come back when the machine has nothing else to do, or after that many seconds."""
    end = time.monotonic() + longest
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(_LOOK)
        if used_by_others(before, _LOOK) <= QUIET:
            return
        time.sleep(_PAUSE)
