"""A full disk and kill -9: whatever stood there before is unharmed, and nothing is half written."""

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path
from random import Random
from unittest.mock import Mock

import click
import pytest

from calipers.cli import group
from calipers.store.open import open_store
from tests.command import CALIPERS, calipers_command
from tests.store.saved import read_all

resource = pytest.importorskip("resource", reason="limits are those of Unix")

RECORDS = [
    {
        "query": f"question {i}",
        "retrieved": [f"d{(i + j) % 300}" for j in range(50)],
        "ground_truth": [f"d{i % 300}"],
    }
    for i in range(300)
]
WRITERS = (
    ("eval", "evals.jsonl", "--per-query", "out.parquet"),
    ("eval", "evals.jsonl", "--per-query", "out.csv"),
    ("eval", "evals.jsonl", "--per-query", "out.arrow"),
    ("eval", "evals.jsonl", "--html", "out.html"),
    ("convert", "evals.jsonl", "out.jsonl"),
    ("convert", "evals.jsonl", "out.parquet"),
    ("convert", "-r", "evals.jsonl", "out.run"),
    ("gate", "save", "evals.jsonl", "-o", "out.json"),
)
KILLS = 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "".join(json.dumps(one) + "\n" for one in RECORDS)
    (tmp_path / "evals.jsonl").write_text(lines)
    return tmp_path


@pytest.fixture
def small_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(folder)
    # No module may be kept that was cut short.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A file may not grow beyond this: writes fail as they do on a disk that is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_a_full_disk_leaves_what_was_there(
    command: tuple[str, ...], folder: Path, small_disk: None
) -> None:
    output = folder / command[-1]
    output.write_text("what was there before")
    done = calipers_command(*command)
    assert (done.code, "cannot be written" in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
    assert output.read_text() == "what was there before"
    assert sorted(one.name for one in folder.iterdir()) == sorted(["evals.jsonl", output.name])


def test_kill_leaves_a_history_whole_and_files_whole_or_absent(folder: Path) -> None:
    random = Random(3)
    command = "eval evals.jsonl --save nightly --store history.db --per-query out.csv"
    arguments = [*CALIPERS, *command.split()]
    start = time.monotonic()
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True)
    usual, whole = time.monotonic() - start, (folder / "out.csv").read_bytes()
    for _ in range(KILLS):
        (folder / "out.csv").unlink(missing_ok=True)
        process = subprocess.Popen(
            arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(random.uniform(0.3, 1.0) * usual)
        process.kill()
        process.wait()
        if (folder / "out.csv").exists():
            assert (folder / "out.csv").read_bytes() == whole
        read_all(open_store(folder / "history.db"))


PAIR = "-g truth.csv -r run.csv"
READERS = (
    f"eval {PAIR} --per-query out.csv",
    f"eval {PAIR} --html out.html --save nightly --store out.db",
    f"eval {PAIR} --level all",
    f"eval {PAIR} --calls",
    "compare run.csv other.csv -g truth.csv",
    f"sweep {PAIR} --html out.html",
    f"sweep --floor {PAIR}",
    f"grow {PAIR} --times 2 -k 1",
    f"gate {PAIR} --require recall@1>=0.1",
    "fuse run.csv other.csv -g truth.csv",
    f"gate save {PAIR} -o out.json",
    "plan run.csv other.csv -g truth.csv --difference 0.05",
    "confirm run.csv other.csv --sealed held.sealed.jsonl --ledger held.ledger.jsonl",
    f"diagnose {PAIR}",
    f"misses {PAIR} -o out.csv",
    f"convert {PAIR} out.jsonl",
    "compare run.csv other.csv --changes",
    "labels draft run.csv --questions questions.jsonl -o out.csv",
)
"""Every command that brings the rows of a run together."""
WRITERS_OF_RUNS = (
    f"eval {PAIR} --per-query out.csv",
    f"eval {PAIR} --html out.html",
    "compare run.csv other.csv -g truth.csv --per-query out.parquet",
    "compare run.csv other.csv --changes --html out.html",
    f"sweep {PAIR} --html out.html",
    f"gate save {PAIR} -o out.json",
    f"misses {PAIR} -o out.csv",
    f"convert {PAIR} out.jsonl",
    "labels draft run.csv --questions questions.jsonl -o out.csv",
)


class _Ends(io.BytesIO):
    """A file that ends the program, or is on a full disk, at its first byte."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, *_: object) -> int:
        raise self.error


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows that mix queries, so that a temporary file is needed to bring them together."""
    folder = tmp_path_factory.mktemp("runs")
    for name, step in (("run", 3), ("other", 5)):
        rows = "".join(f"q{n % 40},d{n * step % 97},{n % 7}\n" for n in range(400))
        (folder / f"{name}.csv").write_text("query,item,score\n" + rows)
    truth = "".join(f"q{n},d{n},1\n" for n in range(40))
    (folder / "truth.csv").write_text("query,item,grade\n" + truth)
    asked = "".join(f'{{"id": "q{n}", "query": "What is {n}?"}}\n' for n in range(40))
    (folder / "questions.jsonl").write_text(asked)
    assert calipers_command("seal", folder / "truth.csv", "-o", folder / "held").code == 0
    return folder


def test_every_command_that_takes_a_bound_of_memory_is_broken_off() -> None:
    context = click.Context(group)
    taken = {
        name
        for name in group.list_commands(context)
        if (found := group.get_command(context, name)) is not None
        if any(one.name == "memory" for one in found.params)
    }
    # An audit brings no rows of a run together: it looks at the ground truth.
    assert taken - {"audit"} <= {one.split()[0] for one in READERS}


@pytest.mark.parametrize("ends", ["full disk", "Ctrl-C"])
@pytest.mark.parametrize("command", READERS)
def test_a_run_that_cannot_be_read_to_its_end(
    command: str, ends: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = KeyboardInterrupt() if ends == "Ctrl-C" else OSError(ENOSPC, "No space left on device")
    monkeypatch.setattr("calipers.engines.shards.SHARE_TO_HOLD", 1 << 60)
    monkeypatch.setattr("calipers.io.files.spill._open", lambda: _Ends(error))
    monkeypatch.chdir(runs)
    before = sorted(runs.iterdir())
    done = calipers_command(*command.split())
    assert (done.code, done.out) == (130 if ends == "Ctrl-C" else 2, ""), done
    assert ("Stopped." if ends == "Ctrl-C" else "cannot grow: No space left") in done.err
    assert sorted(runs.iterdir()) == before


@pytest.mark.parametrize("ends", ["full disk", "Ctrl-C"])
@pytest.mark.parametrize("command", WRITERS_OF_RUNS)
def test_an_output_that_cannot_be_written_to_its_end(
    command: str, ends: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = KeyboardInterrupt() if ends == "Ctrl-C" else OSError(ENOSPC, "No space left on device")
    monkeypatch.setattr("calipers.io.files.write.os.fsync", Mock(side_effect=error))
    monkeypatch.chdir(runs)
    before = sorted(runs.iterdir())
    done = calipers_command(*command.split())
    assert done.code == (130 if ends == "Ctrl-C" else 2), done
    assert ("Stopped." if ends == "Ctrl-C" else "cannot be written: No space left") in done.err
    assert sorted(runs.iterdir()) == before
