"""A server that is killed has written down everything that it confirmed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.judged import entries, pool
from tests.web.two_servers import through

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("kind", "times"), [("sqlite", 4), ("postgresql", 4)])
def test_servers_that_are_killed_lose_no_label_that_they_confirmed(tmp_path, request, kind, times):
    store = str(tmp_path / "history.db")
    if kind == "postgresql":
        store = request.getfixturevalue("server").new_database()
    number = pool(store, judges=("me",)).content.number
    command = [sys.executable, "-m", "tests.web.killed", store, str(number), str(times)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    kept = [one.request for one in entries(store, number)]
    assert set(found["confirmed"]) <= set(kept)
    assert len(kept) == len(set(kept)) <= found["sent"]
    # Some were killed in the middle of their work, or nothing was tried.
    assert len(found["confirmed"]) > 0
    assert found["sent"] > len(found["confirmed"])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_judges_of_a_server_that_is_killed_go_on_with_the_other(tmp_path, request, kind):
    store = str(tmp_path / "history.db")
    if kind == "postgresql":
        store = request.getfixturevalue("server").new_database()
    found = through(store, judges=4, labels=10)
    assert (found["lost"], found["doubled"], found["refused"]) == (0, 0, [])
    assert found["judged"] == found["items"] == 40
    assert found["killed_with"] == -signal.SIGKILL
