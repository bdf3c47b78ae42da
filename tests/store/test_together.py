"""Many that save at once, and those that die while they do."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calipers.store.listing import count
from calipers.store.open import open_store
from tests.store.saved import read_all, record
from tests.systems import tagged

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "record.pickle"
    path.write_bytes(pickle.dumps(record(tagged({"a": [1, None], "b": [3, 4]}))[1]))
    return path


def run(*arguments) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.store.writers", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_eight_processes_that_save_three_each_leave_all(place, kept):
    assert run("many", place, kept, 8, 3) == {"codes": [0] * 8, "evaluations": 24}
    assert count(open_store(place)) == 24


def test_twelve_that_are_killed_leave_whole_evaluations_or_none(place, kept):
    found = run("killed", place, kept, 12)
    assert (found["halves"], found["broken"]) == (0, 0)
    # Every other one was killed after it had saved, or nothing was tried.
    assert found["grown"] >= 6
    store = open_store(place)
    assert count(store) == found["evaluations"]
    read_all(store)
