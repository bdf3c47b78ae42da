"""A server that is killed has written down everything that it confirmed."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

import calipers
from tests.store.judged import entries, pool
from tests.store.judged import labels as labels_of
from tests.web.served import Visitor, served, shelf_of

ROOT = Path(__file__).parents[2]


def test_servers_that_are_killed_lose_no_label_that_they_confirmed(tmp_path, request):
    stores = [str(tmp_path / "history.db")]
    with suppress(pytest.skip.Exception):  # where there is no PostgreSQL
        stores.append(request.getfixturevalue("server").new_database())
    for store in stores:
        assert pool(store, judges=("me",)).content.number == 1
    command = [sys.executable, "-m", "tests.web.killed", "4", *stores]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    for store, found in zip(stores, json.loads(done.stdout), strict=True):
        kept = [one.request for one in entries(store, 1)]
        assert set(found["confirmed"]) <= set(kept)
        assert len(kept) == len(set(kept)) <= found["sent"]
        # Some were killed in the middle of their work, or nothing was tried.
        assert found["sent"] > len(found["confirmed"]) > 0


def entered(host: str, link: str) -> Visitor:
    visitor = Visitor(host)
    while True:
        try:
            assert visitor.enter(link).status == 200
        except ConnectionRefusedError:
            continue
        return visitor


def test_judges_of_a_server_that_is_killed_go_on_with_the_other(tmp_path):
    """Four judge until nothing is left; the second server is killed half-way."""
    store = str(tmp_path / "history.db")
    names = tuple(f"judge{n}" for n in range(4))
    run = {f"What is {n}?": [f"d{n}-{i}" for i in range(5)] for n in range(8)}
    desk = calipers.labels_pool("team", {"one": run}, store=store, judges=names)
    number, half = desk.content.number, len(desk.items) // 2
    confirmed: list[str] = []
    refused: list[int] = []
    lock = threading.Lock()

    def work(name: str, visitors: list[Visitor]) -> None:
        server, path, n = visitors[-1], "take", 0
        body: dict[str, Any] = {}
        while True:
            try:
                answer = server.post(f"/api/v1/pools/{number}/{path}", body)
            except (OSError, http.client.HTTPException):
                # The same again, with the server that is left: it may be written already.
                server = visitors[0]
                continue
            if answer.status != 200:
                refused.append(answer.status)
                return
            if path == "labels":
                with lock:
                    confirmed.append(body["request"])
                    if len(confirmed) == half:
                        os.kill(other.pid, signal.SIGKILL)
            if not (following := answer.json()["next"]):
                return
            n, path = n + 1, "labels"
            body = {"request": f"{name}-{n:05}", "item": following[0]["item"], "grade": n % 4}

    command = [sys.executable, "-c", "from calipers.cli import main; main()", "serve"]
    command += ["--store", store, "--judges", ",".join(names), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    out: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with (
        served(shelf_of(store, *names)) as one,
        subprocess.Popen(command, env=environment, **out) as other,
        ExitStack() as stack,
    ):
        stack.callback(other.kill)  # nobody waits for a server after something went wrong
        links: dict[str, tuple[str, str]] = {}
        while not set(names) <= set(links):
            found = re.match(r"(\w+)(?: \(owner\))?: (http://([^/]+)/\S+)", other.stdout.readline())
            links[found[1]] = (found[3], found[2])
        threads = []
        for n, name in enumerate(names):
            visitors = [one.visitor(name), *([entered(*links[name])] if n % 2 else [])]
            threads.append(threading.Thread(target=work, args=(name, visitors)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert other.wait(30) == -signal.SIGKILL
    kept = [entry.request for entry in entries(store, number)]
    assert set(confirmed) <= set(kept)
    assert len(kept) == len(set(kept))
    assert refused == []
    assert len({entry.item for entry in labels_of(desk)}) == len(desk.items) == 40
