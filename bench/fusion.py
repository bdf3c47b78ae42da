"""The best fusion of two recorded lanes, beside ranx's optimize_fusion on the same input.

Ours tries every way to fuse and measures the winner on queries that did not choose it; ranx tries
the weights of one way, and reports the best on all queries. As a program, ``fusion.py TOOL INPUT
TIMES`` runs one of them in a process of its own, which imports nothing of ours for ranx.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

SIZES = {False: ((300, 2), (10_000, 3)), True: ((60, 2),)}
DEPTH, TARGETS = 100, 2
BESIDE = 1_000
"""With more queries ranx takes too long."""


def rows(quick: bool = False) -> list[dict[str, Any]]:
    """Ours beside ranx where it is there, and ours alone for many queries."""
    from bench import peers
    from bench.inputs import CACHE
    from bench.measure import NOTHING, compared

    CACHE.mkdir(exist_ok=True)
    found = []
    for queries, lanes in SIZES[quick]:
        path = CACHE / f"fusion-{queries}x{lanes}.json"
        if not path.exists():
            path.write_text(json.dumps(made(queries, lanes)))
        times = 3 if queries <= BESIDE else 1
        ours = _measured([sys.executable, __file__, "calipers", str(path), str(times)])
        theirs, note = NOTHING, ""
        if queries <= BESIDE and "ranx" in peers.present():
            command = [peers.peers_python(), "-I", __file__, "ranx", str(path), str(times)]
            theirs, note = _measured(command), "theirs: 11 weights of one way, no cross-fitting"
        size = f"{queries:,} × {lanes} × {DEPTH}"
        found.append(compared("fuse", size, ours, "ranx" if note else "", theirs, note))
    return found


def _measured(command: list[str]) -> Any:
    from bench.measure import measure

    measured = measure(command, times=1)
    if measured.seconds is None:
        return measured
    took = json.loads(measured.output)
    return replace(measured, seconds=took["seconds"], cpu_seconds=took["cpu_seconds"])


def made(queries: int, lanes: int) -> dict[str, Any]:
    """Random lanes that share a third of their results, and two targets for each query."""
    draw = random.Random(1)
    items = [f"d{i}" for i in range(3 * DEPTH)]
    names = [f"q{i}" for i in range(queries)]
    return {
        "ground_truth": {one: dict.fromkeys(draw.sample(items, TARGETS), 1) for one in names},
        "lanes": [
            {one: {item: draw.random() for item in draw.sample(items, DEPTH)} for one in names}
            for _ in range(lanes)
        ],
    }


def calipers(content: dict[str, Any]) -> Callable[[], object]:
    """What is timed: mappings in, the whole answer out."""
    import calipers

    lanes = {f"lane{i}": one for i, one in enumerate(content["lanes"])}
    return lambda: calipers.fuse(lanes, content["ground_truth"], metrics="ndcg@10")


def ranx(content: dict[str, Any]) -> Callable[[], object]:
    """The same input; its weighted sum of min-max scores, in steps of a tenth."""
    import ranx

    def optimised() -> object:
        qrels = ranx.Qrels(content["ground_truth"])
        runs = [ranx.Run(one) for one in content["lanes"]]
        return ranx.optimize_fusion(
            qrels, runs, norm="min-max", method="wsum", metric="ndcg@10", show_progress=False
        )

    return optimised


def main(tool: str, path: str, times: str) -> None:
    """Print the quickest of several calls; the first one, which compiles, counts only if alone."""
    call = {"calipers": calipers, "ranx": ranx}[tool](json.loads(Path(path).read_text()))
    if int(times) > 1:
        call()
    took = []
    for _ in range(int(times)):
        begun = time.perf_counter(), time.process_time()
        call()
        took.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    seconds, cpu_seconds = map(min, zip(*took, strict=True))
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds}))


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules may not stand in for those of others
    main(*sys.argv[1:])
