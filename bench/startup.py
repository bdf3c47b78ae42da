"""From nothing to the first answer: import, help, three queries."""

import json
import sys
from pathlib import Path

from bench import peers
from bench.child import Measured, measure
from bench.inputs import CACHE
from bench.rows import Row, compared

TIMES = 7
THREE = [
    {"query": "a", "ground_truth": {"x": 1}, "retrieved": ["x", "y"]},
    {"query": "b", "ground_truth": {"x": 1}, "retrieved": ["z", "y"]},
    {"query": "c", "ground_truth": {"x": 1}, "retrieved": ["y", "x"]},
]


def rows(quick: bool = False) -> list[Row]:
    """Ours beside a bare interpreter, and beside the import of each peer."""
    bare = _python("pass")
    program = str(Path(sys.executable).with_name("calipers"))
    path = CACHE / "three.json"
    CACHE.mkdir(exist_ok=True)
    path.write_text(json.dumps(THREE))
    ours = _python("import calipers")
    help_text = measure([program, "--help"], times=TIMES)
    three = measure([program, "eval", str(path)], times=TIMES)
    found = [
        compared("import calipers", "limit: 60 ms over bare", ours, "bare interpreter", bare),
        compared("calipers --help", "limit: 0.3 s", help_text, "bare interpreter", bare),
        compared("calipers eval", "3 queries; limit: 1.2 s", three, "bare interpreter", bare),
    ]
    for name in peers.present():
        if name in peers.IMPORTED:
            theirs = measure([peers.peers_python(), "-c", f"import {name}"], times=TIMES)
            found.append(compared("import calipers", "", ours, f"import {name}", theirs))
    return found


def _python(code: str) -> Measured:
    return measure([sys.executable, "-c", code], times=TIMES)
