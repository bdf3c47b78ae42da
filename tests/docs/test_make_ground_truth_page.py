"""The page on making a ground truth shows what the commands print, and the prompts as they are."""

import re
import shutil
from pathlib import Path

import pytest

from calipers.io.records.label_files import read_labels, write_labels
from calipers.live.chat import JUDGE
from calipers.questions.begin.model import INSTRUCTIONS
from tests.command import typed
from tests.live.chat.model_server import running

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS.parent / "examples" / "lighthouse"
PAGE = (DOCS / "make-ground-truth.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^```\n\$ (calipers (?!\w+ --help)[^\n]+)\n(?!\$|```)(.*?)\n```$", re.M | re.S)
ENDPOINT = "http://127.0.0.1:8000/v1"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of the example; what judges fill in comes after what is drafted."""
    for name in ("questions.jsonl", "chunks.jsonl", "overlap.jsonl", "rare.jsonl", "calipers.toml"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(text):
    """Without the seconds, which differ each time."""
    lines = [line.rstrip() for line in re.sub(r"in \d+\.\d s", "in … s", text).splitlines()]
    return "\n".join(lines).rstrip()


def test_every_output_that_is_shown_is_current_and_what_is_new_is_added(folder):
    shown = SHOWN.findall(PAGE)
    assert [command.split()[2] for command, _ in shown] == ["draft", "export", "judge"]
    with running() as server:
        for command, expected in shown:
            line = command.partition(" ")[2].replace(ENDPOINT, server.endpoint)
            printed = typed(line)
            assert printed.code == 0, printed.err
            assert plain(printed.out) == plain(expected), command
            for name in ("anna.csv", "bo.csv"):
                shutil.copy(EXAMPLE / name, folder)
    # Later: what a new retriever adds is drafted, filled in and added.
    assert typed("labels export anna.csv -o truth.jsonl --overwrite").code == 0
    new = (folder / "rare.jsonl").read_text().replace('"c', '"n')
    (folder / "new.jsonl").write_text(new)
    again = re.search(
        r"^```\n\$ calipers (labels draft new[^\n]+)\n\$ calipers ([^\n]+)", PAGE, re.M
    )
    drafted = typed(again[1])
    assert drafted.code == 0, drafted.err
    rows = [label.judged(None, 1.0) for _, label in read_labels(folder / "more.csv")]
    for name in ("anna", "bo"):
        write_labels(rows, folder / f"more-{name}.csv")
    added = typed(again[2])
    assert added.code == 0, added.err
    before, after = ((folder / name).read_text() for name in ("truth.jsonl", "truth2.jsonl"))
    assert len(after) > len(before)


def test_the_prompts_are_those_of_the_code():
    assert f"```text\n{JUDGE}\n```\n" in PAGE
    page = (DOCS / "begin-with-nothing.md").read_text(encoding="utf-8")
    assert f"```text\n{INSTRUCTIONS}\n```\n" in page
