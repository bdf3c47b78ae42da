"""TREC files, the whole command from cold start: 22 metrics, against every peer there is."""

import sys
from pathlib import Path

from bench import peers
from bench.inputs import Files, trec_files
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
    ours = _ours(usual)
    return [
        *_against_peers("TREC files", usual, f"{queries:,} × {depth:,}", ours, patience),
        *_against_peers("many queries", wide, f"{many:,} × {few}", _ours(wide), patience),
        *_against_ourselves(queries, depth, ours),
        *_twice_the_file(queries, depth),
        *_twice_as_many(many, few),
    ]


def _against_peers(
    name: str, files: Files, size: str, ours: Measured, patience: float
) -> list[Row]:
    found = []
    given = f"{size}, {files.megabytes} MB"
    for peer in (*peers.present(), peers.BY_HAND):
        command = peers.command_on_files(peer, files.ground_truth, files.run)
        if peer in WARMED:
            small = trec_files(50, 20)
            measure(peers.command_on_files(peer, small.ground_truth, small.run), times=1)
        theirs = measure(command, patience=patience)
        note = ""
        if theirs.output and ours.output:
            note = disagreement(_our_means(ours), means_printed(theirs.output), PRINTED)
        found.append(compared(name, given, ours, peer, theirs, note))
    return found


def _against_ourselves(queries: int, depth: int, ours: Measured) -> list[Row]:
    size = f"{queries:,} × {depth:,}"
    same = "Calipers, rows in order"
    unsorted = _ours(trec_files(queries, depth, "unsorted"))
    ungrouped = _ours(trec_files(queries, depth, "ungrouped"))
    wrong = [_differs(ours, other) for other in (unsorted, ungrouped)]
    return [
        compared("rows not sorted by score", size, unsorted, same, ours, wrong[0]),
        compared("rows not grouped by query", size, ungrouped, same, ours, wrong[1]),
    ]


def _twice_the_file(queries: int, depth: int) -> list[Row]:
    """Memory must not grow with the file, whether ids are short or long."""
    found = []
    for name, prefix in (("short", ""), ("long", "a-chunk-of-the-handbook-")):
        half, whole = (_ours(trec_files(n, depth, prefix=prefix)) for n in (queries, 2 * queries))
        size = f"{2 * queries:,} × {depth:,}, {name} ids"
        found.append(compared("twice the file", size, whole, "Calipers, half", half))
    return found


def _twice_as_many(queries: int, depth: int) -> list[Row]:
    sizes = [queries // 2, queries, 2 * queries]
    measured = [_ours(trec_files(size, depth)) for size in sizes]
    return [
        compared(
            "twice the queries",
            f"{sizes[i]:,} × {depth}",
            measured[i],
            "Calipers, half",
            measured[i - 1],
        )
        for i in (1, 2)
    ]


def _ours(files: Files) -> Measured:
    program = str(Path(sys.executable).with_name("calipers"))
    inputs = ["-g", str(files.ground_truth), "-r", str(files.run)]
    command = [program, "eval", *inputs, "-m", ",".join(MANY), "--like", "trec_eval", "--csv"]
    return measure(command)


def _our_means(ours: Measured) -> dict[str, float]:
    """From the summary as CSV: one line per metric, in the order asked for."""
    lines = ours.output.splitlines()[1:]
    return {name: float(line.split(",")[1]) for name, line in zip(MANY, lines, strict=True)}


def _differs(ours: Measured, other: Measured) -> str:
    if not (ours.output and other.output):
        return ""
    return disagreement(_our_means(ours), _our_means(other), 1e-12)
