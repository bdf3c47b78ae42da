"""Killed without warning, many times, the run ends as an undisturbed one does."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import interrupted
from tests.live.interrupted import recorded
from tests.live.server import Server

KILLS = 5
WORKERS = 4


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, interrupted.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is of Unix")
def test_killed_many_times(server: Server, tmp_path: Path, forks: subprocess.Popen[str]) -> None:
    questions = [f"{'fail' if i % 20 == 7 else 'slow'} {i}" for i in range(100)]
    whole, output = tmp_path / "whole.jsonl", tmp_path / "run.jsonl"
    interrupted.run(server.search, questions, str(whole))
    server.asked.clear()
    server.answered.clear()
    chance = random.Random(7)
    asked_when_done: dict[str, int] = {}
    for _ in range(KILLS):
        _kill_midway(forks, [server.search, questions, str(output)], chance.uniform(0, 0.1))
        for one in recorded(output):
            asked_when_done.setdefault(one["query"], server.asked[one["query"]])
    assert 0 < len(asked_when_done) < len(questions)
    interrupted.run(server.search, questions, str(output))
    assert recorded(output) == recorded(whole)
    asked_again = {q for q, times in asked_when_done.items() if server.asked[q] != times}
    assert asked_again == set()
    answered_twice = sum(times - 1 for times in server.answered.values())
    assert answered_twice <= KILLS * WORKERS
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("run")) == [
        "run.jsonl",
        "run.jsonl.meta.json",
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is of Unix")
def test_killed_while_many_lines_are_on_their_way(
    tmp_path: Path, forks: subprocess.Popen[str]
) -> None:
    questions = [f"question {i}" for i in range(1_500)]
    output, search = tmp_path / "run.jsonl", f"{interrupted.__file__}:quick"
    chance = random.Random(7)
    for _ in range(3):
        before = len(recorded(output))
        _kill_midway(forks, [search, questions, str(output)], chance.uniform(0, 0.05))
        done = [one["query"] for one in recorded(output)]
        assert len(done) == len(set(done)) > before
    assert len(done) < len(questions)
    interrupted.run(search, questions, str(output))
    assert [one["query"] for one in recorded(output)] == questions
    assert all(len(one["retrieved"]) == 5 for one in recorded(output))


def _kill_midway(forks: subprocess.Popen[str], job: list[Any], after: float) -> None:
    """Start a run, and kill it so many seconds after its first new line."""
    output = Path(job[-1])
    before = len(recorded(output))
    assert forks.stdin is not None
    assert forks.stdout is not None
    forks.stdin.write(json.dumps(job) + "\n")
    forks.stdin.flush()
    number = int(forks.stdout.readline())
    _wait_for_news(output, before)
    time.sleep(after)
    os.kill(number, signal.SIGKILL)
    assert int(forks.stdout.readline()) == -signal.SIGKILL


def _wait_for_news(output: Path, before: int) -> None:
    """Until the process has recorded something, so that each kill hits a run in full swing."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if output.exists() and output.read_bytes().count(b"\n") > before:
            return
        time.sleep(0.002)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent another way on Windows")
def test_control_c_keeps_what_is_done_and_says_how_to_go_on(server: Server, tmp_path: Path) -> None:
    questions, output = tmp_path / "questions.json", tmp_path / "run.jsonl"
    questions.write_text(json.dumps([f"slow {i}" for i in range(2000)]))
    command = [sys.executable, "-c", "from calipers.cli import main; main()", "retrieve"]
    command += [server.search, str(questions), "-o", str(output), "--results", "$.hits[*]"]
    command += ["-k", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    _wait_for_news(output, 5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "is in" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    done = recorded(output)
    assert 5 < len(done) < 2000
    assert {server.asked[one["query"]] for one in done} == {1}
