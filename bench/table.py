"""The five figures that speed is held to, each beside its peers and its goal, in one run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import peers
from bench.files import against_peers, evaluated
from bench.inputs import IDS, mappings, trec_files
from bench.measure import Measured, Row, compared
from bench.memory import OURS, beside, quickest_call
from bench.startup import LIBRARIES, QUERIES, bare_libraries, thirty_queries

ALONE = True
"""Runs only when it is named: the other benches measure the same, and more."""
PATIENCE = 120.0
TURNS = 3
"""In memory each tool takes its turn so often; the quickest counts."""


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


def rows(quick: bool = False) -> list[Row]:
    """Every figure beside its peers; with ``quick`` inputs are small, and goals are left out."""
    found = [*_in_memory(quick), *_in_files(quick), _started()]
    return found if not quick else [{**row, "note": ""} for row in found]


def _in_memory(quick: bool) -> list[Row]:
    """A dict of dicts with intervals: usual ids beside every peer, others beside the quickest."""
    queries, depth = (200, 100) if quick else (1_000, 100)
    tools = [name for name in peers.present() if name in peers.IMPORTED] or [peers.BY_HAND]
    size = f"{queries:,} × {depth}"
    usual = next(iter(IDS))
    found = []
    for ids in IDS:
        path = mappings(queries, depth, ids=ids)
        asked = tools if ids == usual else tools[:1]
        best = _best_in_turn((OURS, *asked), path)
        name = f"dict of dicts, {ids}, with intervals"
        found += [
            IN_MEMORY.get(peer, Goal()).judged(beside(name, size, best[OURS], peer, best[peer]))
            for peer in asked
        ]
    return found


def _best_in_turn(tools: Sequence[str], path: Path) -> dict[str, Measured]:
    """The quickest call of each tool, which take turns."""
    best: dict[str, Measured] = {}
    for _ in range(TURNS):
        for name in tools:
            now = quickest_call(name, path)
            before = best.get(name, now)
            best[name] = min(before, now, key=lambda one: one.seconds or PATIENCE)
    return best


def _in_files(quick: bool) -> list[Row]:
    """TREC files of two shapes beside the peers, and one whose rows are in no order."""
    (queries, depth), (many, few) = (
        ((700, 1_000), (20_000, 20))
        if quick
        else (
            (6_980, 1_000),
            (200_000, 20),
        )
    )
    tools = [name for name in peers.present() if name in IN_FILES] or [peers.BY_HAND]
    usual = trec_files(queries, depth)
    wide = trec_files(many, few)
    ours = evaluated(usual)
    size = f"{queries:,} × {depth:,}"
    found = [
        IN_FILES.get(row["peer"], Goal()).judged(row)
        for row in against_peers("TREC files", usual, size, ours, PATIENCE, tools)
    ]
    found += [
        MANY_QUERIES.judged(row)
        for row in against_peers(
            "many queries", wide, f"{many:,} × {few}", evaluated(wide), PATIENCE, tools[:2]
        )
    ]
    mixed = evaluated(trec_files(queries, depth, "ungrouped"))
    name = "Calipers, rows in order"
    return [*found, NOT_GROUPED.judged(compared("rows not grouped", size, mixed, name, ours))]


def _started() -> Row:
    """The whole command on thirty queries beside the import of its libraries alone."""
    size = f"{QUERIES} queries"
    return STARTED.judged(
        compared("calipers eval", size, thirty_queries(), f"import {LIBRARIES}", bare_libraries())
    )
