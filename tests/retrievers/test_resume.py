"""Killed without warning, twenty times, the run ends as an undisturbed one does."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.retrievers import interrupted
from tests.retrievers.server import Server

KILLS = 20
WORKERS = 4


def recorded(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a run file, without the times."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        one = json.loads(line)
        found.append({n: v for n, v in one.items() if n not in ("latency_ms", "warm_up")})
    return found


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kill -9 is of Unix")
def test_killed_twenty_times(server: Server, tmp_path: Path) -> None:
    # The fork server has everything loaded, so that a process is running within milliseconds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["calipers.api.retrieve", "calipers.retrievers.http"])
    questions = [f"{'fail' if i % 20 == 7 else 'slow'} {i}" for i in range(320)]
    whole, output = tmp_path / "whole.jsonl", tmp_path / "run.jsonl"
    interrupted.run(server.search, questions, str(whole))
    server.asked.clear()
    chance = random.Random(7)
    asked_when_done: dict[str, int] = {}
    kills = 0
    while kills < KILLS:
        process = context.Process(
            target=interrupted.run, args=(server.search, questions, str(output))
        )
        process.start()
        _wait_for_news(output, len(recorded(output)), process)
        time.sleep(chance.uniform(0, 0.15))
        if not process.is_alive():
            break
        process.kill()
        process.join(10)
        kills += process.exitcode == -signal.SIGKILL
        for one in recorded(output):
            asked_when_done.setdefault(one["query"], server.asked[one["query"]])
    assert kills == KILLS
    assert 0 < len(asked_when_done) < len(questions)
    interrupted.run(server.search, questions, str(output))
    assert recorded(output) == recorded(whole)
    asked_again = {q for q, times in asked_when_done.items() if server.asked[q] != times}
    assert asked_again == set()
    answered_twice = sum(times - 1 for times in server.answered.values() if times > 1) - len(
        [q for q in questions if q.startswith("slow")]
    )
    assert answered_twice <= KILLS * WORKERS
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("run")) == [
        "run.jsonl",
        "run.jsonl.meta.json",
    ]


def _wait_for_news(output: Path, before: int, process: Any) -> None:
    """Until the process has recorded something, so that each kill hits a run in full swing."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.is_alive():
        if output.exists() and output.read_bytes().count(b"\n") > before:
            return
        time.sleep(0.002)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent another way on Windows")
def test_control_c_keeps_what_is_done_and_says_how_to_go_on(server: Server, tmp_path: Path) -> None:
    questions, output = tmp_path / "questions.json", tmp_path / "run.jsonl"
    questions.write_text(json.dumps([f"slow {i}" for i in range(2000)]))
    command = [
        sys.executable, "-c", "from calipers.cli import main; main()", "retrieve", server.search,
        str(questions), "-o", str(output), "--results", "$.hits[*]", "-k", "2",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    _wait_for_news(output, 5, _Alive(process))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "is in" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    done = recorded(output)
    assert 5 < len(done) < 2000
    assert {server.asked[one["query"]] for one in done} == {1}


class _Alive:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def is_alive(self) -> bool:
        return self.process.poll() is None
