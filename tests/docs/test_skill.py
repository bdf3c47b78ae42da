"""An agent's path: every command of the skill, in its order, on a small repository."""

import json
import re
import shlex
from pathlib import Path

import yaml

from calipers.cli import COMMANDS
from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills" / "calipers" / "SKILL.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEARCH = """
def search(query, k):
    number = int(query.rstrip("?").split()[-1])
    first = number % 7 + {shift}
    return [f"c{{(number + place) % 80}}" for place in range(first, first + k)]
"""


def steps() -> list[list[str]]:
    text = SKILL.read_text(encoding="utf-8")
    return [shlex.split(line) for block in BLOCK.findall(text) for line in block.splitlines()]


def test_the_path_of_an_agent_leads_to_a_confirmed_gain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"query": f"Where is item {i}?", "ground_truth": [f"c{i}"]} for i in range(80)]
    Path("truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    before = Path("truth.jsonl").read_bytes()
    Path("search.py").write_text(SEARCH.format(shift=76))
    said = {}
    for words in steps():
        if words[-1] == "after.jsonl":
            Path("search.py").write_text(SEARCH.format(shift=74))
        done = calipers_command(*words[1:])
        assert (done.code, done.err.startswith("Error")) == (0, False), (words, done.err)
        said[words[1]] = done.out
    assert set(said) >= {"explain", "audit", "seal", "retrieve", "eval", "misses", "compare"}
    assert said["compare"].startswith("▲")
    assert said["confirm"].startswith("▲ Confirmed")
    assert Path("truth.jsonl").read_bytes() == before


def test_the_skill_is_one_that_tools_find():
    _, head, text = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == SKILL.parent.name
    assert 50 < len(about["description"]) < 1024
    assert len(text.splitlines()) < 120
    for words in re.findall(r"`calipers ([a-z]+)", text):
        assert words in COMMANDS
    assert "skills/calipers/SKILL.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_llms_txt_leads_to_pages_and_names_commands_that_are_there():
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    title, summary = text.splitlines()[0], text.split("\n\n")[1]
    assert title == "# Calipers"
    assert summary.startswith("> ")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert len(links) > 15
    assert [one for one in links if not (ROOT / "docs" / one).is_file()] == []
    assert (ROOT / "skills/calipers/SKILL.md").is_file()
