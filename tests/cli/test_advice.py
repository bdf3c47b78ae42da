"""Advice that names a command can be pasted: it has the files that were asked about."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.command import calipers_command
from tests.reports import records, reversed_records

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"
COMMAND = re.compile(r"`(calipers [^`]+)`")
ON_A_LINE = re.compile(r"^\s+(calipers \S.*)$", re.MULTILINE)
ASKED = (
    ("diagnose", "-g", "truth.jsonl", "-r", "bad run.jsonl", "-k", "3", "--column", "query=query"),
    ("compare", "old=my evals.json", "other.json", "--cluster", "type"),
    ("gate", "other.json", "--baseline", "main.json"),
    ("sweep", "example.json", "--floor"),
    ("audit", "my evals.json"),
    ("plan", "my evals.json", "other.json", "--difference", "0.1"),
)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my evals.json").write_text(json.dumps(records()))
    Path("other.json").write_text(json.dumps(reversed_records()))
    Path("example.json").write_text(EXAMPLE.read_text())
    truth = [{k: one[k] for k in ("id", "query", "ground_truth")} for one in records()]
    Path("truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    wrong = [
        {"query": one["query"], "retrieved": [f"x{n}", f"y{n}", f"z{n}"]}
        for n, one in enumerate(truth)
    ]
    wrong[0]["retrieved"] = [truth[0]["ground_truth"][0]]
    Path("bad run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in wrong))
    assert calipers_command("gate", "save", "my evals.json", "-o", "main.json").code == 0


def advised(value, key=""):
    """Every command in what is next, in advice and in notes."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from advised(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from advised(one, key)
    elif isinstance(value, str) and key in ("next", "advice", "notes"):
        yield from COMMAND.findall(value)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_every_command_that_is_advised_works_when_pasted(asked):
    printed = calipers_command(*asked, *(["--explain"] if asked[0] != "plan" else []))
    assert printed.code in (0, 1), printed.err
    whole = set(ON_A_LINE.findall(printed.out))
    whole |= set(advised(json.loads(calipers_command(*asked, "--json").out)))
    for one in sorted(whole):
        done = calipers_command(*shlex.split(one)[1:])
        assert done.code in (0, 1), (one, done.err)


def test_what_is_advised_is_about_the_same_files():
    said = calipers_command(*ASKED[0], "--explain").out
    assert "calipers misses -g truth.jsonl -r 'bad run.jsonl' --column query=query -k 3" in said
    failed = calipers_command("gate", "other.json", "--baseline", "main.json")
    assert failed.code == 1
    assert "calipers gate other.json -b main.json --accept 'why it is meant'\n" in failed.out


def test_a_slice_within_a_slice_keeps_both_tags():
    for name, ranks in (("old", [0] * 10), ("new", [9] * 8 + [0] * 2)):
        rows = [
            {
                "id": f"q{at}",
                "ground_truth": ["t"],
                "retrieved": ["x"] * rank + ["t"] * (rank < 9),
                "tags": {"lang": "de", "type": "table" if at < 10 else "text"},
            }
            for at, rank in enumerate([*ranks, *[0] * 20])
        ]
        Path(f"{name}.json").write_text(json.dumps(rows))
    printed = calipers_command("compare", "old.json", "new.json", "--where", "lang=de")
    line = "compare old.json new.json --where lang=de --where type=table --explain"
    assert f"Which: calipers {line}" in printed.out
    assert calipers_command(*shlex.split(line)).code == 0
