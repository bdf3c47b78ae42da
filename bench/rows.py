"""The form of a row, and how ours is set beside a peer's.

A row is a plain dict: ``row`` (what is measured), ``input``, ``peer``, ``ours_seconds``,
``peer_seconds``, ``ratio`` (how many times longer the peer takes), ``ours_memory_mb``,
``peer_memory_mb``, ``ours_cpu_seconds``, ``peer_cpu_seconds``, ``ours_others``, ``peer_others``
(the share of the machine that other programs used meanwhile), ``note``. What was not measured is
None.
"""

import json
import math
from typing import Any

from bench.child import Measured
from bench.quiet import QUIET

Row = dict[str, Any]


def compared(
    row: str, given: str, ours: Measured, peer: str, theirs: Measured, note: str = ""
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
