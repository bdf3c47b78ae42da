"""What `make demo` and `make test` install, told without installing it."""

import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


def planned(target, folder):
    """The commands that make would run in a fresh copy."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        if not (folder / name).exists():
            shutil.copy(ROOT / name, folder)
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", target],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_after_the_tests_are_set_up_the_demo_installs_nothing(tmp_path):
    planned("demo", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "pip").touch()
    for name in (".installed", ".demo"):
        (tmp_path / ".venv" / name).touch()
    assert planned("demo", tmp_path).split() == [".venv/bin/python", "examples/demo/run.py"]


def test_every_test_that_is_named_is_there():
    named = re.findall(r"\btests/[\w/.]+", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_test_whose_worker_died_runs_again_once(request):
    plugins = request.config.pluginmanager
    hook = next(
        one.pytest_handlecrashitem
        for one in plugins.get_plugins()
        if hasattr(one, "DIED") and hasattr(one, "pytest_handlecrashitem")
    )
    again: list[str] = []
    for expected in ("rerun", "failed"):
        report = SimpleNamespace(outcome="failed")
        hook("tests/made_up.py::test", report, SimpleNamespace(mark_test_pending=again.append))
        assert report.outcome == expected
    assert again == ["tests/made_up.py::test"]
