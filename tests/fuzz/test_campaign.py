"""The campaign in its short form, and every fault that was ever found."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from fuzz.case import Case, Finding
from fuzz.commands import leaves
from fuzz.mutate import MUTATORS, mutated

ROOT = Path(__file__).parents[2]
CASES = 3_000
PARTS = 4
"""So that several processes can share them."""


def _fuzz(*arguments: str) -> str:
    # In a process of its own: a fork does not take along the threads that the tests have started.
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("seed", range(PARTS))
def test_three_thousand_cases_find_nothing(seed: int) -> None:
    assert "0 findings." in _fuzz("--cases", str(CASES // PARTS), "--seed", str(seed))


def test_past_findings_stay_mended() -> None:
    assert "0 findings." in _fuzz("--past")


@pytest.mark.parametrize("mutator", MUTATORS)
def test_a_mutator_takes_any_bytes(mutator: object) -> None:
    assert callable(mutator)
    for content in (b"", b"\n", b"{", b'{"a": [1, "b"]}\n' * 3, bytes(range(256))):
        assert all(isinstance(mutator(content, Random(i)), bytes) for i in range(20))


def test_the_same_seed_gives_the_same_bytes() -> None:
    content = b'{"query": "q", "retrieved": ["a"]}\n'
    made = [[mutated(content, Random(i)) for i in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 30


def test_every_command_is_attacked() -> None:
    from calipers.cli import group

    names = {name for name, _ in leaves(group)}
    assert {"eval", "convert", "store check", "baseline save", "retrieve"} <= names


def test_a_case_is_kept_as_it_is() -> None:
    case = Case("file", ("eval", "a.csv"), files=(("a.csv", b"\xff\x00"),))
    assert Case.from_dict(case.to_dict()) == case
    assert "base64 -d > a.csv" in Finding("x", case).case.shown()
