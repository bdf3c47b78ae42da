"""The other tools, where they are: on the PATH, or importable by a Python of their own."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

IMPORTED = ("pytrec_eval", "ir_measures", "ranx")
NAMES = ("trec_eval", *IMPORTED)
BY_HAND = "loops by hand"
WORKER = str(Path(__file__).with_name("worker.py"))


def peers_python() -> str:
    """The Python that may have other tools: CALIPERS_BENCH_PYTHON, else the one running."""
    return os.environ.get("CALIPERS_BENCH_PYTHON", sys.executable)


@cache
def present() -> dict[str, str]:
    """The tools that are there, with their versions."""
    found = {}
    if (program := shutil.which("trec_eval")) is not None:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        found["trec_eval"] = (said.stdout or said.stderr).strip().split()[-1].rstrip(".")
    for name in IMPORTED:
        code = (
            f"import {name}, importlib.metadata as metadata\n"
            f"print(metadata.version(metadata.packages_distributions()[{name!r}][0]))"
        )
        said = subprocess.run(
            [peers_python(), "-c", code], capture_output=True, text=True, check=False
        )
        if said.returncode == 0:
            found[name] = said.stdout.strip()
    return found


def missing() -> list[str]:
    """The tools that are not there."""
    return [name for name in NAMES if name not in present()]


def command_on_files(name: str, ground_truth: Path, run: Path) -> list[str]:
    """The command with which a tool scores two TREC files."""
    files = [str(ground_truth), str(run)]
    if name == "trec_eval":
        return ["trec_eval", *_measures(), *files]
    return [*_worker(name), name, "files", *files]


def command_in_memory(name: str, path: Path, times: int) -> list[str]:
    """The command that scores two mappings several times and prints the quickest in seconds."""
    return [*_worker(name), name, "memory", str(path), str(times)]


def _worker(name: str) -> list[str]:
    if name in IMPORTED:
        # Isolated: no module of this folder may stand in for one that the peer imports.
        return [peers_python(), "-I", WORKER]
    return [sys.executable, "-m", "bench.worker"]


def _measures() -> list[str]:
    from bench.worker import TREC_MEASURES

    return [part for measure in TREC_MEASURES for part in ("-m", measure)]
