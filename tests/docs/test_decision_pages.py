"""What the pages on decisions show is what the commands print."""

import json
import re
import shlex
from pathlib import Path

import pytest

from calipers import rules
from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
PAGES = ("compare", "diagnose", "slices", "which-k")
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
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", PAGES)
def test_every_output_that_is_shown_is_current(name, folder):
    shown = SHOWN.findall(page(name))
    assert shown
    for command, expected in shown:
        printed = calipers_command(*shlex.split(command)[1:], columns=80)
        assert printed.code == 0, printed.err
        lines = [line.rstrip() for line in printed.out.rstrip().splitlines()]
        assert lines == expected.splitlines(), command


def test_the_page_names_every_rule_and_threshold():
    text = page("diagnose")
    for rule in rules():
        row = next(line for line in text.splitlines() if line.startswith(f"| {rule['title']} |"))
        for name, value in rule["thresholds"].items():
            assert f"`{name}`" in row
            assert f" {value:g}" in row
