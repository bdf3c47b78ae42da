"""The campaign in its short form, and every fault that was ever found."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="the campaign forks its processes, and Windows cannot")

from fuzz import run
from fuzz.case import Case, Finding
from fuzz.commands import leaves

KINDS = "call dash device file live method option seed shadow typed"
ROOT = Path(__file__).parents[2]


def _fuzz(*arguments: str) -> str:
    # In a process of its own: a fork does not take along the threads that the tests have started.
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_cases_of_every_kind_find_nothing() -> None:
    said = _fuzz("--cases", "100", "--seed", "0")
    assert "0 findings." in said
    kinds = re.findall(r"\d+ ([\w ]+)", said.partition(" cases ")[2].partition(")")[0])
    assert kinds == sorted([*KINDS.split(), *run.STREAMS])


def test_past_findings_stay_mended() -> None:
    assert "0 findings." in _fuzz("--past")


def test_a_hang_is_found_and_a_pause_is_none() -> None:
    # With half a second for what has ten in a campaign.
    script = """
from fuzz import run
from fuzz.case import Case
run.SECONDS = 0.5
import calipers, calipers.errors
cases = [Case("call", call=f"__import__('time').sleep({pause})") for pause in (0.01, 0.6, 0.01)]
print([found and found.what for found in run.carry_out(cases)])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[None, 'a hang', None]\n"


def test_every_command_is_attacked() -> None:
    names = {name for name, _ in leaves()}
    assert {"eval", "convert", "gate save", "retrieve"} <= names


def test_a_case_is_kept_as_it_is() -> None:
    case = Case("file", ("eval", "a.csv"), files=(("a.csv", b"\xff\x00"),))
    assert Case.from_dict(case.to_dict()) == case
    assert "base64 -d > a.csv" in Finding("x", case).case.shown()
