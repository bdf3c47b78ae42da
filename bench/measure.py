"""How long work takes and how much memory, in this process or one of its own, and rows of it.

A row is a plain dict: ``row`` (what is measured), ``input``, ``peer``, ``ours_seconds``,
``peer_seconds``, ``ratio`` (how many times longer the peer takes), ``ours_memory_mb``,
``peer_memory_mb``, ``ours_cpu_seconds``, ``peer_cpu_seconds``, ``ours_others``, ``peer_others``
(the share of the machine that other programs used meanwhile), ``note``. What was not measured is
None.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LAUNCHER = str(Path(__file__).with_name("launcher.py"))
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
QUIET = 0.05
"""The share of the processor that others may use."""
_LAUNCHING = 0.05
"""Processor time of the launcher, and what the clock of the system may be off."""


@dataclass(frozen=True)
class Measured:
    """What work took. ``seconds`` is None where it was stopped or failed."""

    seconds: float | None
    memory_mb: float | None = None
    """None for work in this process, whose memory cannot be told apart."""
    output: str = ""
    note: str = ""
    cpu_seconds: float | None = None
    """Time of all its threads; a busy machine disturbs it less."""
    others: float = 0.0
    """The share of the machine that other programs used meanwhile."""


def calipers(*arguments: str) -> list[str]:
    """The command of Calipers, as this Python has it."""
    return [sys.executable, "-c", "from calipers.cli import main; main()", *arguments]


def measure(command: Sequence[str], *, times: int = 3, patience: float = 300.0) -> Measured:
    """The quickest of several runs from cold start; the highest peak of memory among them.

    A command that takes longer than ``patience`` seconds is stopped, and not run again; one
    that takes longer than a tenth of it runs once. Runs that something else disturbed count only
    where there is no other.
    """
    runs: list[Measured] = []
    while len(runs) < times:
        runs.append(_once(command, patience))
        if runs[-1].seconds is None:
            return runs[-1]
        if runs[-1].seconds > patience / 10:
            break
    undisturbed = [run for run in runs if run.others <= QUIET]
    best = min(undisturbed or runs, key=lambda run: run.seconds or 0.0)
    return replace(best, memory_mb=max(run.memory_mb or 0.0 for run in runs))


def _once(command: Sequence[str], patience: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        launcher = [sys.executable, "-S", "-E", LAUNCHER, str(report), str(patience)]
        before = _busy_seconds()
        started = time.perf_counter()
        done = subprocess.run([*launcher, *command], capture_output=True, text=True, check=False)
        took = time.perf_counter() - started
        complaint = (done.stderr.strip().splitlines() or [""])[-1]
        if not report.exists():
            return Measured(None, note=f"could not be started: {complaint}")
        seconds, cpu, peak, code = (float(part) for part in report.read_text().split())
    memory = peak * RSS_UNIT / 1e6
    if seconds >= patience:
        return Measured(None, memory, note=f"stopped after {patience:.0f} s")
    if code:
        return Measured(None, memory, note=f"failed: {complaint or f'exit code {code:.0f}'}")
    others = _used_by_others(before, took, cpu + _LAUNCHING)
    return Measured(seconds, memory, done.stdout, cpu_seconds=cpu, others=others)


def _busy_seconds() -> float | None:
    """The processor time of everything since the machine started, where the system tells it."""
    try:
        user, nice, system, _idle, _waiting, irq, softirq, steal = map(
            int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
        )
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _used_by_others(before: float | None, seconds: float, own: float) -> float:
    """The share of all processors that others used since `before`; 0 where it is not known."""
    after = _busy_seconds()
    if before is None or after is None:
        return 0.0
    return max(0.0, after - before - own) / (seconds * (os.cpu_count() or 1))


def processor_seconds(pid: int) -> float:
    """The processor time that a process took so far, without its children (Linux)."""
    try:
        # Behind the name, which may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


NOTHING = Measured(None)


def compared(
    row: str,
    given: str,
    ours: Measured,
    peer: str = "",
    theirs: Measured = NOTHING,
    note: str = "",
) -> Row:
    """One row of the table."""
    disturbed = ""
    if max(ours.others, theirs.others) > QUIET:
        disturbed = "disturbed"
        if ours.cpu_seconds and theirs.cpu_seconds:
            ratio = theirs.cpu_seconds / ours.cpu_seconds
            disturbed += f"; {ratio:.1f}× in processor time"
    return {
        "row": row,
        "input": given,
        "peer": peer,
        "ours_seconds": ours.seconds,
        "peer_seconds": theirs.seconds,
        "ratio": theirs.seconds / ours.seconds if ours.seconds and theirs.seconds else None,
        "ours_memory_mb": ours.memory_mb,
        "peer_memory_mb": theirs.memory_mb,
        "ours_cpu_seconds": ours.cpu_seconds,
        "peer_cpu_seconds": theirs.cpu_seconds,
        "ours_others": ours.others,
        "peer_others": theirs.others,
        "note": "; ".join(filter(None, (note, ours.note, theirs.note, disturbed))),
    }


def disagreement(ours: dict[str, float], theirs: dict[str, float], within: float) -> str:
    """What a peer computes differently: a quick answer to another question is no peer.

    >>> disagreement({"map": 0.5, "bpref": 0.25}, {"map": 0.5, "bpref": 0.75}, within=0.01)
    'other values for bpref'
    """
    other = [n for n in theirs if not math.isclose(ours[n], theirs[n], abs_tol=within)]
    return f"other values for {', '.join(other)}" if other else ""


def means_printed(output: str) -> dict[str, float]:
    """The means a tool printed: trec_eval in columns, our workers as JSON."""
    if not output.startswith("{"):
        columns = (line.split() for line in output.splitlines())
        return {name: float(value) for name, _, value in columns}
    means: dict[str, float] = json.loads(output)["means"]
    return means
