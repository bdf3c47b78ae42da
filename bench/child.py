"""One command in a process of its own: how long it took and how much memory it had."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.quiet import QUIET, busy_seconds, used_by_others, wait_until_quiet

LAUNCHER = str(Path(__file__).with_name("launcher.py"))
BYTES_PER_MB = 1e6
_LAUNCHING = 0.05
"""Processor time of the launcher, and what the clock of the system may be off."""
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
    others: float = 0.0
    """The share of the machine that other programs used meanwhile."""


def measure(command: Sequence[str], *, times: int = 3, patience: float = 300.0) -> Measured:
    """The quickest of several runs from cold start; the highest peak of memory among them.

    A command that takes longer than ``patience`` seconds is stopped, and not run again; one
    that takes longer than a tenth of it runs once. Runs that something else disturbed count only
    where there is no other; with CALIPERS_BENCH_WAIT=SECONDS the bench waits that long, for each
    command, until the machine is quiet.
    """
    runs: list[Measured] = []
    end = time.monotonic() + float(os.environ.get("CALIPERS_BENCH_WAIT", "0"))
    while True:
        wait_until_quiet(end - time.monotonic())
        runs.append(_once(command, patience))
        last = runs[-1]
        if last.seconds is None:
            return last
        undisturbed = [run for run in runs if run.others <= QUIET]
        needed = 1 if last.seconds > patience / 10 else times
        if len(undisturbed) >= needed or (len(runs) >= needed and time.monotonic() > end):
            break
    best = min(undisturbed or runs, key=lambda run: run.seconds or 0.0)
    return replace(best, memory_mb=max(run.memory_mb for run in runs))


def _once(command: Sequence[str], patience: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        launcher = [sys.executable, "-S", "-E", LAUNCHER, str(report), str(patience)]
        before = busy_seconds()
        started = time.perf_counter()
        done = subprocess.run([*launcher, *command], capture_output=True, text=True, check=False)
        took = time.perf_counter() - started
        if not report.exists():
            return Measured(None, 0.0, "", f"could not be started: {_last(done.stderr)}")
        seconds, cpu, peak, code = (float(part) for part in report.read_text().split())
    memory = peak * RSS_UNIT / BYTES_PER_MB
    if seconds >= patience:
        return Measured(None, memory, "", f"stopped after {patience:.0f} s")
    if code:
        reason = _last(done.stderr) or f"exit code {code:.0f}"
        return Measured(None, memory, "", f"failed: {reason}")
    others = used_by_others(before, took, cpu + _LAUNCHING)
    return Measured(seconds, memory, done.stdout, cpu_seconds=cpu, others=others)


def _last(complaint: str) -> str:
    return complaint.strip().splitlines()[-1] if complaint.strip() else ""
