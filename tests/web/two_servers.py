"""Judges on two servers of one store, of which one is killed while they work."""

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from typing import Any

import calipers
from tests.store.judged import entries
from tests.store.judged import labels as labels_of
from tests.web.served import Visitor, served, shelf_of

PER_QUESTION = 5


def through(store: str, judges: int, labels: int) -> dict[str, Any]:
    """Everybody judges until nothing is left; the second server is killed half-way."""
    names = tuple(f"judge{n}" for n in range(judges))
    questions = judges * labels // PER_QUESTION
    run = {f"What is {n}?": [f"d{n}-{i}" for i in range(PER_QUESTION)] for n in range(questions)}
    desk = calipers.labels_pool("team", {"one": run}, store=store, judges=names)
    number, half = desk.content.number, len(desk.items) // 2
    confirmed: list[str] = []
    refused: list[int] = []
    lock = threading.Lock()

    def work(name: str, visitors: list[Visitor]) -> None:
        server = visitors[-1]
        body: dict[str, Any] = {}
        path, n = "take", 0
        while True:
            try:
                answer = server.post(f"/api/v1/pools/{number}/{path}", body)
            except (OSError, http.client.HTTPException):
                # The same again, with the server that is left: it may be written already.
                server = visitors[0]
                continue
            if answer.status != 200:
                with lock:
                    refused.append(answer.status)
                if answer.status != 503:
                    return
                continue
            if path == "labels":
                with lock:
                    confirmed.append(body["request"])
                    if len(confirmed) == half:
                        os.kill(other.pid, signal.SIGKILL)
            following = answer.json()["next"]
            if not following:
                return
            n += 1
            path = "labels"
            body = {"request": f"{name}-{n:05}", "item": following[0]["item"], "grade": n % 4}

    command = [sys.executable, "-c", "from calipers.cli import main; main()", "serve"]
    command += ["--store", store, "--judges", ",".join(names), "--port", "0"]
    with (
        served(shelf_of(store, *names)) as one,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as other,
        ExitStack() as stack,
    ):
        stack.callback(other.kill)  # nobody waits for a server after something went wrong
        links: dict[str, tuple[str, str]] = {}
        while not set(names) <= set(links):
            found = re.match(r"(\w+)(?: \(owner\))?: (http://([^/]+)/\S+)", other.stdout.readline())
            links[found[1]] = (found[3], found[2])
        threads = []
        for n, name in enumerate(names):
            visitors = [one.visitor(name)]
            if n % 2:
                host, link = links[name]
                visitors.append(_entered(host, link))
            threads.append(threading.Thread(target=work, args=(name, visitors)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        other.wait(30)
    kept = [entry.request for entry in entries(store, number)]
    judged = {entry.item for entry in labels_of(desk)}
    return {
        "items": len(desk.items),
        "judged": len(judged),
        "confirmed": len(confirmed),
        "lost": len(set(confirmed) - set(kept)),
        "doubled": len(kept) - len(set(kept)),
        "judged_twice": len(kept) - len(judged),
        "refused": sorted(set(refused)),
        "killed_with": other.returncode,
    }


def _entered(host: str, link: str) -> Visitor:
    visitor = Visitor(host)
    while True:
        try:
            assert visitor.enter(link).status == 200
        except ConnectionRefusedError:
            continue
        return visitor
