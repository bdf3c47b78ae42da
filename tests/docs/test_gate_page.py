"""The page on the gate: its commands run as printed."""

import re
import shlex
from pathlib import Path

from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def undated(text):
    lines = re.sub(r"saved on \d{4}-\d\d-\d\d", "saved on …", text).splitlines()
    return [line.rstrip() for line in lines]


def test_the_commands_run_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    block = re.search(r"^```\n(\$ calipers gate save.*?)^```$", PAGE, re.M | re.S)[1]
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    shown = block.splitlines()[len(commands) :]
    for command in commands:
        printed = calipers_command(*shlex.split(command)[2:], columns=80)
        assert printed.code == 0, printed.err
    assert undated(printed.out.rstrip()) == undated("\n".join(shown))
    assert (tmp_path / "junit.xml").exists()
    assert (tmp_path / "summary.md").exists()
