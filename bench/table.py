"""The five figures that speed is held to, each beside its peers and its goal, in one run."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from bench import peers
from bench.files import SIZES, against_peers, evaluated
from bench.inputs import IDS, Files, mappings, trec_files
from bench.measure import NOTHING, Measured, Row, compared
from bench.memory import OURS, beside, quickest_call
from bench.startup import LIBRARIES, QUERIES, bare_libraries, thirty_queries

ALONE = True
"""Runs only when it is named: the other benches measure the same, and more."""
PATIENCE = 120.0
TURNS = 3
"""In memory each tool takes its turn so often; the quickest counts."""
LIMIT = 600.0
"""Seconds after which nothing new is begun: what is left says so in place of a figure."""


class Goal(NamedTuple):
    """What a row is held to."""

    ratio: float | None = None
    """The peer takes at least so many times as long."""
    seconds: float | None = None
    megabytes: float | None = None

    def judged(self, row: Row) -> Row:
        """The row with its goal, and whether it is met, in its note."""
        wanted = []
        met = []
        if self.ratio is not None:
            wanted.append(f"≥ {self.ratio:g}×")
            met.append((row["ratio"] or 0.0) >= self.ratio)
        if self.seconds is not None:
            wanted.append(f"≤ {1000 * self.seconds:,.0f} ms")
            met.append((row["ours_seconds"] or PATIENCE) <= self.seconds)
        if self.megabytes is not None:
            wanted.append(f"≤ {self.megabytes:,.0f} MB")
            met.append((row["ours_memory_mb"] or 1e9) <= self.megabytes)
        if not wanted:
            return row
        said = f"goal {', '.join(wanted)}: {'met' if all(met) else 'not met'}"
        return {**row, "goal_met": all(met), "note": "; ".join(filter(None, (said, row["note"])))}


IN_MEMORY: Mapping[str, Goal] = {"pytrec_eval": Goal(3.0, 0.010)}
IN_FILES: Mapping[str, Goal] = {
    "trec_eval": Goal(6.5, 1.3),
    "pytrec_eval": Goal(8.0, 1.3),
    "ranx": Goal(20.0, 1.3),
}
MANY_QUERIES = Goal(seconds=1.6, megabytes=400)
NOT_GROUPED = Goal(seconds=2.6)
STARTED = Goal(seconds=0.40)


def rows(quick: bool = False, only: str = "") -> list[Row]:
    """Every figure beside its peers, or those with ``only`` in their names.

    With ``quick`` inputs are small, and goals are left out.
    """
    begun = time.perf_counter()
    found: list[Row] = []
    for name, step in _steps(quick):
        if only not in name:
            continue
        if time.perf_counter() - begun > LIMIT:
            note = f"not measured: {LIMIT / 60:.0f} minutes were over"
            found.append(compared(name, "", NOTHING, note=note))
            continue
        # On a busy machine this takes long, and silence looks like a hang.
        print(f"  {time.perf_counter() - begun:4.0f} s: {name} …", file=sys.stderr, flush=True)
        found += step()
    return found if not quick else [{**row, "note": ""} for row in found]


def _steps(quick: bool) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """What is measured, each with its name: the quick ones first, peers that have a goal."""
    yield "calipers eval", lambda: [_started()]
    for ids in IDS:
        yield f"dict of dicts, {ids}", partial(_in_memory, ids, quick)
    (queries, depth), (many, few) = SIZES[quick]
    tools = [name for name in IN_FILES if name in peers.present()] or [peers.BY_HAND]
    usual = trec_files(queries, depth)
    wide = trec_files(many, few)
    size = f"{queries:,} × {depth:,}"
    ours = cache(lambda: evaluated(usual))
    yield "rows not grouped", lambda: [_not_grouped(queries, depth, ours())]
    for peer in tools:
        goal = IN_FILES.get(peer, Goal())
        yield f"TREC files, {peer}", partial(_beside, "TREC files", usual, size, ours, peer, goal)
    ours_wide = cache(lambda: evaluated(wide))
    size = f"{many:,} × {few}"
    for peer in tools[:2]:
        yield (
            f"many queries, {peer}",
            partial(_beside, "many queries", wide, size, ours_wide, peer, MANY_QUERIES),
        )


def _in_memory(ids: str, quick: bool) -> list[Row]:
    """A dict of dicts with intervals beside every peer that has a goal."""
    queries, depth = (200, 100) if quick else (1_000, 100)
    tools = [name for name in IN_MEMORY if name in peers.present()] or [peers.BY_HAND]
    path = mappings(queries, depth, ids=ids)
    best = _best_in_turn((OURS, *tools), path)
    name = f"dict of dicts, {ids}, with intervals"
    size = f"{queries:,} × {depth}"
    return [
        IN_MEMORY.get(peer, Goal()).judged(beside(name, size, best[OURS], peer, best[peer]))
        for peer in tools
    ]


def _best_in_turn(tools: Sequence[str], path: Path) -> dict[str, Measured]:
    """The quickest call of each tool, which take turns."""
    best: dict[str, Measured] = {}
    for _ in range(TURNS):
        for name in tools:
            now = quickest_call(name, path)
            before = best.get(name, now)
            best[name] = min(before, now, key=lambda one: one.seconds or PATIENCE)
    return best


def _beside(
    name: str, files: Files, size: str, ours: Callable[[], Measured], peer: str, goal: Goal
) -> list[Row]:
    """TREC files beside one peer."""
    return [goal.judged(row) for row in against_peers(name, files, size, ours(), PATIENCE, [peer])]


def _not_grouped(queries: int, depth: int, ours: Measured) -> Row:
    """A file whose rows are in no order beside the same rows in order."""
    mixed = evaluated(trec_files(queries, depth, "ungrouped"))
    size = f"{queries:,} × {depth:,}"
    return NOT_GROUPED.judged(
        compared("rows not grouped", size, mixed, "Calipers, rows in order", ours)
    )


def _started() -> Row:
    """The whole command on thirty queries beside the import of its libraries alone."""
    size = f"{QUERIES} queries"
    return STARTED.judged(
        compared("calipers eval", size, thirty_queries(), f"import {LIBRARIES}", bare_libraries())
    )
