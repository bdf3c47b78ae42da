"""What the pages show is what the commands print."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from calipers import rules
from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
PAGES = ("compare", "diagnose", "evaluate", "misses", "plan", "seal", "slices", "which-k")
SHOWN = re.compile(r"^```\n\$ (calipers [^\n]+)\n(?!\$|```)(.*?)\n```$", re.MULTILINE | re.DOTALL)


def page(name):
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the pages speak of."""
    example = ROOT / "examples" / "python_questions.json"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    made = json.loads(example.read_text(encoding="utf-8"))
    (tmp_path / "keyword.json").write_text(json.dumps(made))
    for record in made[::2]:
        grade = record["ground_truth"]
        record["retrieved"].sort(key=lambda one, grade=grade: -grade.get(one["id"], 0))
    (tmp_path / "reranked.json").write_text(json.dumps(made))
    agent = re.search(r"^```json\n(.*?)^```$", page("evaluate"), re.M | re.S)[1]
    (tmp_path / "agent.jsonl").write_text(json.dumps(json.loads(agent)))
    (tmp_path / "evals.jsonl").write_text("".join(json.dumps(one) + "\n" for one in with_floor()))
    for name, fields in SEALED.items():
        lines = [{"id": f"q{i}", "query": f"What is {i}?", **fields(i)} for i in range(200)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


TYPES = ("fact", "how-to", "multi-hop")
SEALED: dict[str, Any] = {
    "gt": lambda i: {
        "ground_truth": ["a"],
        "tags": {"type": TYPES[i % 3], "intent": f"{i // 2}"},
    },
    "old": lambda i: {"retrieved": ["b" if i * 7 % 11 < 3 else "a"]},
    "new": lambda i: {"retrieved": ["b" if i * 5 % 13 < 1 else "a"]},
}
"""Questions in pairs of one intent, and two runs of which the new one is better."""


def with_floor():
    """Thirty questions with an answer, ten without, and scores that tell them apart."""
    for i in range(40):
        found = {"id": "a", "score": 0.8 if i % 4 else 0.3}
        truth = ["a"] if i % 4 else []
        yield {
            "query": f"q{i}",
            "ground_truth": truth,
            "retrieved": [found, {"id": "x", "score": 0.2}],
        }


def assert_shown(expected, printed):
    """The lines are there in this order; a line of three dots stands for any that are left out."""
    parts = [part.strip("\n").splitlines() for part in re.split(r"(?m)^…$", expected)]
    left = [line.rstrip() for line in printed.rstrip().splitlines()]
    if len(parts) == 1:
        assert left == parts[0]
    for part in parts:
        places = range(len(left) - len(part) + 1)
        at = next((i for i in places if left[i : i + len(part)] == part), None)
        assert at is not None, "\n".join([*part, "is not in", *left])
        left = left[at + len(part) :]


@pytest.mark.parametrize("name", PAGES)
def test_every_output_that_is_shown_is_current(name, folder):
    shown = SHOWN.findall(page(name))
    assert shown
    for command, expected in shown:
        printed = calipers_command(*shlex.split(command)[1:], columns=80)
        assert printed.code == 0, printed.err
        assert_shown(expected, printed.out)


def test_the_page_names_every_rule_and_threshold():
    text = page("diagnose")
    for rule in rules():
        row = next(line for line in text.splitlines() if line.startswith(f"| {rule['title']} |"))
        for name, value in rule["thresholds"].items():
            assert f"`{name}`" in row
            assert f" {value:g}" in row
