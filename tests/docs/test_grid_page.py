"""The page on grids is a grid that runs, and shows what it prints."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.command import calipers_command

PAGE = (Path(__file__).parents[2] / "docs" / "grid.md").read_text(encoding="utf-8")
EXAMPLE = Path(__file__).parents[2] / "examples" / "lighthouse"
LATENCY = re.compile(r" *\d+(\.\d+)?(e-\d+)? ms")


def block(kind):
    return re.search(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]


def shown(command):
    found = re.search(rf"^```\n\$ {re.escape(command)}\n(.*?)\n```", PAGE, re.M | re.S)
    return plain(found[1])


def plain(text):
    """Without latencies, which differ each time, and what their width moves."""
    lines = (re.sub(r"  +", "  ", LATENCY.sub(" ms", line)).rstrip() for line in text.splitlines())
    return "\n".join(lines).rstrip()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("calipers.toml", "questions.jsonl", "search.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "search", raising=False)
    yield tmp_path
    sys.modules.pop("search", None)


def test_the_page_shows_the_files_of_the_example():
    kinds = {"calipers.toml": "toml", "questions.jsonl": "json", "search.py": "python"}
    for name, kind in kinds.items():
        assert block(kind) in (EXAMPLE / name).read_text(encoding="utf-8")


def test_what_is_shown_is_what_is_printed(folder):
    printed = calipers_command("grid", "calipers.toml", columns=80)
    assert printed.code == 0, printed.err
    assert plain(printed.out) == shown("calipers grid calipers.toml")


def test_the_page_names_every_key():
    from calipers.questions.grid.plan import KEYS, RETRIEVER_KEYS

    table = PAGE.partition("| key in `[grid]`")[2].partition("\n\n")[0]
    for key in KEYS:
        assert key == "retrievers" or f"`{key}`" in table
    for key in RETRIEVER_KEYS:
        assert f"`retrievers.NAME.{key}`" in table
