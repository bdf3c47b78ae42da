"""``python -m bench [--quick] [NAME …]``: measure, print the table, write the JSON."""

import argparse
import importlib
import inspect
import json
import os
import pkgutil
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import bench
from bench import peers

RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Measure what was asked for, or everything."""
    # Nobody's second start compiles anything: the commands that are measured keep their bytecode.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    known = _modules()
    parser = argparse.ArgumentParser(prog="python -m bench", description=bench.__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs: minutes become seconds")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(known)}")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name has this")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        parser.error(f"there is no bench {unknown[0]!r}; there are {', '.join(known)}")
    there = ", ".join(f"{name} {version}" for name, version in peers.present().items())
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(f"Peers: {there or 'none'}. Not there: {', '.join(peers.missing()) or 'none'}.")
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for name in asked.names or [one for one in known if not _alone(one)]:
        console.print(f"measuring {name} …", style="dim")
        try:
            found = [
                {"bench": name, **row} for row in _rows(name, quick=asked.quick, only=asked.only)
            ]
            rows += found
            failed += [f"{name}: {row['row']}" for row in found if row.get("failed")]
        except Exception as error:  # noqa: BLE001 - one broken bench must not cost the others
            console.print(f"{name} failed: {type(error).__name__}: {error}", markup=False)
            failed.append(name)
    console.print(_table(rows))
    facts = {
        "quick": asked.quick,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "python": platform.python_version(),
        "peers": peers.present(),
        "missing": peers.missing(),
        "failed": failed,
        "rows": rows,
    }
    console.print(f"{facts['machine']}.")
    console.print(f"Written to {_written(facts)}")
    sys.exit(1 if failed else 0)


def _modules() -> list[str]:
    """Every module of this folder that has a function ``rows``."""
    names = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return [
        name
        for name in names
        if name != "__main__" and hasattr(importlib.import_module(f"bench.{name}"), "rows")
    ]


def _alone(name: str) -> bool:
    """Whether a bench runs only when it is named."""
    return bool(getattr(importlib.import_module(f"bench.{name}"), "ALONE", False))


def _rows(name: str, **asked: Any) -> list[dict[str, Any]]:
    rows = importlib.import_module(f"bench.{name}").rows
    known = inspect.signature(rows).parameters
    found: list[dict[str, Any]] = rows(**{key: asked[key] for key in asked if key in known})
    return found


COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "ours_seconds": ("ours", lambda s: f"{s:.2f} s" if s >= 1 else f"{s * 1000:.0f} ms"),
    "ours_memory_mb": ("memory", lambda mb: f"{mb:,.0f} MB"),
    "peer": ("peer", str),
    "peer_seconds": ("theirs", lambda s: f"{s:.2f} s" if s >= 1 else f"{s * 1000:.0f} ms"),
    "peer_memory_mb": ("memory", lambda mb: f"{mb:,.0f} MB"),
    "ratio": ("ratio", lambda times: f"{times:.1f}×" if times >= 1 else f"{times:.2f}×"),
}


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table("", "input", box=None, pad_edge=False)
    for key, (heading, _) in COLUMNS.items():
        numeric = key != "peer"
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=numeric)
    table.add_column("note")
    for row in rows:
        cells = (
            "–" if row.get(key) is None else say(row[key]) for key, (_, say) in COLUMNS.items()
        )
        table.add_row(row["row"], row["input"], *cells, row["note"])
    return table


def _written(facts: dict[str, Any]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(facts, indent=1))
    return unfinished.rename(path)


if __name__ == "__main__":
    main()
