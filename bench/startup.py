"""From nothing to the first answer: import, help, thirty queries."""

import compileall
import json
import sys
from pathlib import Path

import calipers
from bench import peers
from bench.inputs import CACHE, records
from bench.measure import Measured, Row, compared, measure

TIMES = 7
QUERIES = 30
LIBRARIES = "numpy, polars"
"""What every evaluation loads, and what no command can be quicker than."""


def rows(quick: bool = False) -> list[Row]:
    """Ours beside a bare interpreter, and beside the import of each peer."""
    # As pip does when it installs: nobody compiles the source at every start.
    compileall.compile_dir(Path(calipers.__file__).parent, quiet=1)
    bare, libraries = _python("pass"), bare_libraries()
    program = str(Path(sys.executable).with_name("calipers"))
    ours = _python("import calipers")
    help_text = measure([program, "--help"], times=TIMES)
    thirty = thirty_queries()
    found = [
        compared("import calipers", "limit: 60 ms over bare", ours, "bare interpreter", bare),
        compared("calipers --help", "limit: 0.3 s", help_text, "bare interpreter", bare),
        compared(
            "calipers eval",
            f"{QUERIES} queries; limit: 0.40 s",
            thirty,
            f"import {LIBRARIES}",
            libraries,
        ),
    ]
    for name in peers.present():
        if name in peers.IMPORTED:
            theirs = measure([peers.peers_python(), "-c", f"import {name}"], times=TIMES)
            found.append(compared("import calipers", "", ours, f"import {name}", theirs))
    return found


def thirty_queries() -> Measured:
    """The whole command on a file of thirty queries."""
    path = CACHE / "thirty.json"
    CACHE.mkdir(exist_ok=True)
    path.write_text(json.dumps(list(records(QUERIES))))
    return measure(
        [str(Path(sys.executable).with_name("calipers")), "eval", str(path)], times=TIMES
    )


def bare_libraries() -> Measured:
    """The import of what every evaluation loads."""
    return _python(f"import {LIBRARIES}")


def _python(code: str) -> Measured:
    return measure([sys.executable, "-c", code], times=TIMES)
