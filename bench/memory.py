"""Mappings in memory, five metrics, warm: the library call inside a loop or a notebook."""

import json
import math
from dataclasses import replace
from pathlib import Path

from bench import peers
from bench.inputs import IDS, mappings
from bench.measure import Measured, Row, compared, disagreement, means_printed, measure

SIZE = {False: (1_000, 100), True: (200, 100)}
OURS = "calipers intervals"
AS_TABLE = "calipers as table"
TIMES = 15
SAME = 1e-9


def rows(quick: bool = False) -> list[Row]:
    """The values of every query; the same with all means and their intervals; other ids and orders.

    Ids of other kinds, and items in no order, stand beside the quickest peer alone.
    """
    queries, depth = SIZE[quick]
    path = mappings(queries, depth)
    size = f"{queries:,} × {depth}"
    theirs = {name: quickest_call(name, path) for name in (*_installed(), peers.BY_HAND)}
    found = []
    for tool, row in (("calipers", "dict of dicts"), (OURS, "… and intervals")):
        ours = quickest_call(tool, path)
        found += [beside(row, size, ours, peer, measured) for peer, measured in theirs.items()]
    as_table = quickest_call(AS_TABLE, path)
    found.append(beside("… looked up, not joined", size, ours, "Calipers, as a table", as_table))
    quickest = min(theirs, key=lambda name: theirs[name].seconds or math.inf)
    for ids in IDS:
        for mixed in (False, True):
            path = mappings(queries, depth, ids=ids, mixed=mixed)
            row = f"… {ids}, {'in no order' if mixed else 'by score'}"
            found.append(
                beside(
                    row, size, quickest_call(OURS, path), quickest, quickest_call(quickest, path)
                )
            )
    return found


def beside(row: str, size: str, ours: Measured, peer: str, theirs: Measured) -> Row:
    """A row of ours beside a peer, with what it computes differently."""
    note = ""
    if ours.output and theirs.output:
        means = [means_printed(one.output) for one in (ours, theirs)]
        note = disagreement(means[0], means[1], SAME)
    return compared(row, size, ours, peer, theirs, note)


def _installed() -> list[str]:
    return [name for name in peers.present() if name in peers.IMPORTED]


def quickest_call(tool: str, path: Path) -> Measured:
    """The quickest call, as the process itself timed it; imports are not part of it."""
    measured = measure(peers.command_in_memory(tool, path, TIMES), times=1)
    if measured.seconds is None:
        return measured
    took = json.loads(measured.output)
    return replace(measured, seconds=took["seconds"], cpu_seconds=took["cpu_seconds"])
