"""Mappings in memory, five metrics, warm: the library call inside a loop or a notebook."""

import json
from dataclasses import replace
from pathlib import Path

from bench import peers
from bench.child import Measured, measure
from bench.inputs import mappings
from bench.rows import Row, compared, disagreement, means_printed

SIZE = {False: (1_000, 100), True: (200, 100)}
TIMES = 15
SAME = 1e-9


def rows(quick: bool = False) -> list[Row]:
    """The values of every query; then the same with all means and their intervals."""
    queries, depth = SIZE[quick]
    path = mappings(queries, depth)
    size = f"{queries:,} × {depth}"
    found = []
    theirs = {name: _measured(name, path) for name in (*_installed(), peers.BY_HAND)}
    for tool, row in (
        ("calipers", "dict of dicts"),
        ("calipers intervals", "… and intervals"),
    ):
        ours = _measured(tool, path)
        for peer, measured in theirs.items():
            note = ""
            if ours.output and measured.output:
                means = [means_printed(one.output) for one in (ours, measured)]
                note = disagreement(means[0], means[1], SAME)
            found.append(compared(row, size, ours, peer, measured, note))
    return found


def _installed() -> list[str]:
    return [name for name in peers.present() if name in peers.IMPORTED]


def _measured(tool: str, path: Path) -> Measured:
    """The quickest call, as the process itself timed it; imports are not part of it."""
    measured = measure(peers.command_in_memory(tool, path, TIMES), times=1)
    if measured.seconds is None:
        return measured
    return replace(measured, seconds=json.loads(measured.output)["seconds"], cpu_seconds=None)
