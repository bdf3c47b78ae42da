"""One command in a process of its own: how long it took and how much memory it had."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LAUNCHER = str(Path(__file__).with_name("launcher.py"))
BYTES_PER_MB = 1e6
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Measured:
    """What one command took. ``seconds`` is None where it was stopped or failed."""

    seconds: float | None
    memory_mb: float
    output: str
    note: str = ""
    cpu_seconds: float | None = None
    """Time of all its threads; a busy machine disturbs it less."""


def measure(command: Sequence[str], *, times: int = 3, patience: float = 300.0) -> Measured:
    """The quickest of several runs from cold start; the highest peak of memory among them.

    A command that takes longer than ``patience`` seconds is stopped, and not run again; one
    that takes longer than a tenth of it runs once.
    """
    best = _once(command, patience)
    for _ in range(times - 1):
        if best.seconds is None or best.seconds > patience / 10:
            break
        other = _once(command, patience)
        if other.seconds is None:
            return other
        quicker = min(best, other, key=lambda one: one.seconds or 0.0)
        memory = max(best.memory_mb, other.memory_mb)
        best = replace(quicker, memory_mb=memory)
    return best


def _once(command: Sequence[str], patience: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        launcher = [sys.executable, "-S", "-E", LAUNCHER, str(report), str(patience)]
        done = subprocess.run([*launcher, *command], capture_output=True, text=True, check=False)
        if not report.exists():
            return Measured(None, 0.0, "", f"could not be started: {_last(done.stderr)}")
        seconds, cpu, peak, code = (float(part) for part in report.read_text().split())
    memory = peak * RSS_UNIT / BYTES_PER_MB
    if seconds >= patience:
        return Measured(None, memory, "", f"stopped after {patience:.0f} s")
    if code:
        return Measured(
            None, memory, "", f"failed: {_last(done.stderr) or f'exit code {code:.0f}'}"
        )
    return Measured(seconds, memory, done.stdout, cpu_seconds=cpu)


def _last(complaint: str) -> str:
    return complaint.strip().splitlines()[-1] if complaint.strip() else ""
