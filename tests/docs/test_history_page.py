"""The page on the history shows what the commands print of the example, apart from its ids."""

import re
import runpy
import shlex
from pathlib import Path

from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "history.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^```\n\$ (calipers history[^\n]*)\n(?!\$|```)(.*?)\n```$", re.M | re.S)


def plain(text):
    """Without ids, which differ each time."""
    lines = re.sub(r"(?m)(?<=@)[0-9a-f]{8}|^[0-9a-f]{8}(?=  )", "id", text).splitlines()
    return [line.rstrip() for line in lines]


def test_every_output_that_is_shown_is_current(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    runpy.run_path(str(ROOT / "examples" / "nights.py"), run_name="__main__")
    shown = SHOWN.findall(PAGE)
    assert [" alarm " in command for command, _ in shown] == [True, False]
    for command, expected in shown:
        printed = calipers_command(*shlex.split(command)[1:], columns=80)
        assert printed.code == (1 if " alarm " in command else 0), printed.err
        assert plain(printed.out.rstrip()) == plain(expected), command
