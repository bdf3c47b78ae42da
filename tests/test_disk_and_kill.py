"""A full disk and kill -9: whatever stood there before is unharmed, and nothing is half written."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from calipers.store.care import problems
from calipers.store.open import open_store
from tests.command import calipers_command

resource = pytest.importorskip("resource", reason="limits are those of Unix")

MAIN = "from calipers.cli import main; main()"
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


def _small_disk() -> None:
    # A file may not grow beyond this: writes fail as they do on a disk that is full.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.fixture
def small_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(folder)
    # No module may be kept that was cut short.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
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
    command = (
        "eval",
        "evals.jsonl",
        "--save",
        "nightly",
        "--store",
        "history.db",
        "--per-query",
        "out.csv",
    )
    arguments = [sys.executable, "-B", "-c", MAIN, *command]
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
        assert list(problems(open_store(folder / "history.db"))) == []


@pytest.mark.parametrize(
    ("question", "ends"), [("sweep", "full disk"), ("diagnose", "full disk"), ("misses", "Ctrl-C")]
)
def test_a_question_whose_temporary_file_cannot_grow_or_that_is_broken_off(
    question: str, ends: str, tmp_path: Path
) -> None:
    rows = [f"q{n % 4_000},document-number-{n},{n % 7}\n" for n in range(40_000)]
    (tmp_path / "run.csv").write_text("query,item,score\n" + "".join(rows))
    (tmp_path / "truth.csv").write_text("query,item,grade\nq0,document-number-0,1\n")
    arguments = [question, "-g", "truth.csv", "-r", "run.csv", "--memory", "16MB", "--temp", "."]
    broken = MAIN
    if ends == "Ctrl-C":
        # At the first row that is put away, as a person may.
        broken = (
            "import os, signal; from calipers.io.files import spill; "
            "spill.ScratchFile.write = lambda *_: os.kill(os.getpid(), signal.SIGINT); " + MAIN
        )
    done = subprocess.run(
        [sys.executable, "-B", "-c", broken, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_small_disk if ends == "full disk" else None,
    )
    assert "Traceback" not in done.stderr
    if ends == "full disk":
        assert done.returncode == 2, done.stderr
        assert "The temporary file in . cannot grow" in done.stderr
    else:
        assert done.returncode not in (0, 70), done.stderr
    assert done.stdout == ""
    assert sorted(one.name for one in tmp_path.iterdir()) == ["run.csv", "truth.csv"]
