"""TREC files, the whole command from cold start: 22 metrics, against every peer there is."""

import sys
from collections.abc import Sequence
from pathlib import Path

from bench import peers
from bench.inputs import Files, Order, trec_files
from bench.measure import Measured, Row, compared, disagreement, means_printed, measure
from bench.worker import MANY

SIZES = {False: ((6_980, 1_000), (200_000, 20)), True: ((700, 1_000), (20_000, 20))}
PATIENCE = {False: 120.0, True: 30.0}
PRINTED = 0.5e-4
"""trec_eval prints four digits; ties are broken in another way here and there."""
WARMED = ("ranx",)
"""These compile on their first call; they run once before, so that they find it done."""


def rows(quick: bool = False) -> list[Row]:
    """Both shapes of file against the peers, and ours alone on harder files."""
    patience = PATIENCE[quick]
    (queries, depth), (many, few) = SIZES[quick]
    usual, wide = trec_files(queries, depth), trec_files(many, few)
    ours = evaluated(usual)
    return [
        *against_peers("TREC files", usual, f"{queries:,} × {depth:,}", ours, patience),
        *against_peers("many queries", wide, f"{many:,} × {few}", evaluated(wide), patience),
        *_against_ourselves(queries, depth, ours),
        # Memory must not grow with the file, whether ids are short or long.
        *_twice("twice the file", queries, depth, "short ids"),
        *_twice("twice the file", queries, depth, "long ids", "a-chunk-of-the-handbook-"),
        *_twice("twice the queries", many // 2, few),
        *_twice("twice the queries", many, few),
    ]


def against_peers(
    name: str,
    files: Files,
    size: str,
    ours: Measured,
    patience: float,
    tools: Sequence[str] | None = None,
) -> list[Row]:
    """Ours beside each of these tools, or beside every one there is."""
    found = []
    given = f"{size}, {files.megabytes} MB"
    for peer in (*peers.present(), peers.BY_HAND) if tools is None else tools:
        command = peers.command_on_files(peer, files.ground_truth, files.run)
        if peer in WARMED:
            small = trec_files(50, 20)
            measure(peers.command_on_files(peer, small.ground_truth, small.run), times=1)
        theirs = measure(command, patience=patience)
        note = ""
        if theirs.output and ours.output:
            note = disagreement(our_means(ours), means_printed(theirs.output), PRINTED)
        found.append(compared(name, given, ours, peer, theirs, note))
    return found


def _against_ourselves(queries: int, depth: int, ours: Measured) -> list[Row]:
    found = []
    orders: dict[Order, str] = {"unsorted": "sorted by score", "ungrouped": "grouped by query"}
    for order, name in orders.items():
        other = evaluated(trec_files(queries, depth, order))
        note = ""
        if ours.output and other.output:
            note = disagreement(our_means(ours), our_means(other), 1e-12)
        size, same = f"{queries:,} × {depth:,}", "Calipers, rows in order"
        found.append(compared(f"rows not {name}", size, other, same, ours, note))
    return found


def _twice(row: str, queries: int, depth: int, ids: str = "", prefix: str = "") -> list[Row]:
    half, whole = (evaluated(trec_files(n, depth, prefix=prefix)) for n in (queries, 2 * queries))
    size = ", ".join(filter(None, (f"{2 * queries:,} × {depth:,}", ids)))
    return [compared(row, size, whole, "Calipers, half", half)]


def evaluated(files: Files) -> Measured:
    """Our command on a pair of files."""
    program = str(Path(sys.executable).with_name("calipers"))
    inputs = ["-g", str(files.ground_truth), "-r", str(files.run)]
    command = [program, "eval", *inputs, "-m", ",".join(MANY), "--like", "trec_eval", "--as", "csv"]
    return measure(command)


def our_means(ours: Measured) -> dict[str, float]:
    """From the summary as CSV: one line per metric, in the order asked for."""
    lines = ours.output.splitlines()[1:]
    return {name: float(line.split(",")[1]) for name, line in zip(MANY, lines, strict=True)}
