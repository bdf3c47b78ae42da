"""Every start on the page is one: its files, its commands and its snippets run as printed."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from calipers.io.load import load
from tests.command import calipers_command
from tests.live.server import running

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "your-own-data.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^```\n\$ (calipers [^\n]+)\n(.*?)\n```$", re.M | re.S)


def section(name):
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for file in (ROOT / "examples" / "first").glob("*.*"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "search", raising=False)
    yield tmp_path
    sys.modules.pop("search", None)


def held(text):
    """Run the commands of a text, and hold what they print against what is shown."""
    found = SHOWN.findall(text)
    assert found
    for command, expected in found:
        printed = calipers_command(*shlex.split(command)[1:], columns=80)
        assert printed.code == 0, printed.err
        assert [line.rstrip() for line in printed.out.rstrip().splitlines()] == (
            expected.splitlines()
        )


def test_a_spreadsheet(folder):
    assert blocks(section("A spreadsheet"), "csv") == [(folder / "questions.csv").read_text()]
    held(section("A spreadsheet"))


def test_the_first_screen_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "search", raising=False)
    first = README.partition("| you want to know")[0]
    assert (
        first.index("calipers init") < first.index("calipers eval") < first.index("your-own-data")
    )
    assert len(first.splitlines()) < 50
    assert first.count("](") == 1
    assert calipers_command("init", "--yes").code == 0
    held(first)
    sys.modules.pop("search", None)


def test_trec_files(folder):
    qrels, run = blocks(section("TREC files"), "text")
    Path("qrels.txt").write_text(qrels)
    Path("run.txt").write_text(run)
    held(section("TREC files"))


def test_an_http_service(folder):
    asking, measuring = blocks(section("An HTTP service"), "console")[0].splitlines()
    with running() as server:
        words = shlex.split(asking.replace("http://127.0.0.1:8000", server.address))
        printed = calipers_command(*words[2:])
        assert printed.code == 0, printed.err
    run = load("run.jsonl", "run").run
    # The server has chunks of its own, so the questions ask for one of those.
    rows = "".join(f"{query},{run.frame['item'][0]}\n" for query in run.frame["query"].unique())
    Path("questions.csv").write_text("question,chunk_id\n" + rows)
    printed = calipers_command(*shlex.split(measuring)[2:])
    assert printed.code == 0, printed.err
    assert printed.out.startswith("Finds ")
