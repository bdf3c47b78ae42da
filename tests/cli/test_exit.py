"""How the program ends: the exit code says whose fault it was."""

import subprocess
import sys
from pathlib import Path

import pytest

import calipers.cli as leaving
from tests.command import calipers_command

RECORD = '{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n'


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    path = tmp_path / "evals.jsonl"
    path.write_text(RECORD)
    return path


def _fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("a fault")


def test_a_fault_of_our_own_is_70_and_two_lines(
    evals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.questions.inputs.match_pair", _fail)
    monkeypatch.delenv(leaving.VARIABLE, raising=False)
    printed = calipers_command("eval", evals)
    assert (printed.code, printed.out) == (70, "")
    assert len(printed.err.splitlines()) == 2
    assert "ZeroDivisionError: a fault" in printed.err
    assert "CALIPERS_TRACEBACK=1" in printed.err
    monkeypatch.setenv(leaving.VARIABLE, "1")
    assert "Traceback" in calipers_command("eval", evals).err


PROGRAM = f"{sys.executable} -c 'from calipers.cli import program; program()'"


@pytest.mark.parametrize(
    ("said", "redirected", "code", "sentence"),
    [
        ("eval evals.jsonl", "> /dev/full", 2, "No space left on device"),
        ("eval evals.jsonl --json", "> /dev/full", 2, "No space left on device"),
        ("eval evals.jsonl --as csv", ">&-", 2, "Standard output is closed"),
        # A standard error that takes nothing changes no exit code.
        ("gate nosuch.jsonl --require 'mrr >= 0'", "2> /dev/full", 2, ""),
        ("gate evals.jsonl --require 'mrr < 1'", "2>&-", 1, ""),
        ("eval evals.jsonl --per-query scores.csv", "2> /dev/full", 0, ""),
    ],
)
def test_an_output_that_takes_nothing(
    evals: Path, said: str, redirected: str, code: int, sentence: str
) -> None:
    line = ["sh", "-c", f"{PROGRAM} {said} {redirected}"]
    done = subprocess.run(line, cwd=evals.parent, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_sentence_does_not_quote_a_value_whole(tmp_path: Path) -> None:
    path = tmp_path / "evals.jsonl"
    path.write_text(RECORD.replace('["a"]', '"' + "x" * 100_000 + '"'))
    assert len(calipers_command("eval", path).err) < 1500
    named = calipers_command("eval", "y" * 100_000)
    assert named.code == 2
    assert len(named.err) < 1500


ENDING = """
import atexit, sys, threading, time
from calipers.cli import program

def late():
    time.sleep(0.05)
    print("a thread")

def work():
    atexit.register(print, "a file is closed")
    threading.Thread(target=late).start()
    sys.exit(CODE)

from calipers import cli
cli.main = work
program()
"""


@pytest.mark.parametrize(("code", "left"), [("None", 0), ("70", 70), ("'a text'", 1)])
def test_the_quick_end_waits_for_all_and_keeps_the_code(code: str, left: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING.replace("CODE", code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == left
    assert done.stdout.splitlines() == ["a thread", "a file is closed"]


def _interrupted_in_a_class(*_: object, **__: object) -> None:
    """What Python 3.11 makes of Ctrl-C while an attribute of a class is named."""
    raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()


def test_ctrl_c_within_a_class_is_no_fault_of_our_own(
    evals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.questions.inputs.match_pair", _interrupted_in_a_class)
    printed = calipers_command("eval", evals)
    assert (printed.code, printed.out, printed.err) == (130, "", "Stopped.\n")


def test_nothing_is_imported_before_the_command_takes_ctrl_c() -> None:
    """What runs Python code before that would answer Ctrl-C with a traceback."""
    code = (
        "import sys; before = set(sys.modules); import calipers.start; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['calipers', 'calipers.start']\n"
