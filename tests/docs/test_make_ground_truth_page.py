"""The page on making a ground truth shows what the commands print, and the prompts as they are."""

import json
import re
import shlex

from calipers.live.chat import JUDGE
from calipers.questions.begin.model import INSTRUCTIONS
from tests.command import calipers_command, typed
from tests.docs.lighthouse import DOCS, EXAMPLE, RUNS, copy_files, fill_in, write_files
from tests.live.chat.model_server import running

PAGE = (DOCS / "make-ground-truth.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^```\n\$ (calipers (?!\w+ --help)[^\n]+)\n(?!\$|```)(.*?)\n```$", re.M | re.S)
ENDPOINT = "http://127.0.0.1:8000/v1"


def plain(text):
    """Without the seconds, which differ each time."""
    lines = [line.rstrip() for line in re.sub(r"in \d+\.\d s", "in … s", text).splitlines()]
    return "\n".join(lines).rstrip()


def test_every_output_that_is_shown_is_current(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy_files(tmp_path, *RUNS, "calipers.toml")
    shown = SHOWN.findall(PAGE)
    asked = [command.split()[2] for command, _ in shown]
    assert asked == ["draft", "export", "judge"]
    with running() as server:
        for command, expected in shown:
            words = shlex.split(command.replace(ENDPOINT, server.endpoint))
            printed = calipers_command(*words[1:], columns=80)
            assert printed.code == 0, printed.err
            assert plain(printed.out) == plain(expected), command
            if words[2] == "draft":
                copy_files(tmp_path, "anna.csv", "bo.csv")


def without_times(path):
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [{k: v for k, v in one.items() if k not in ("latency_ms", "warm_up")} for one in records]


def test_the_files_of_the_example_are_what_its_retrievers_and_judges_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    for name in RUNS:
        assert without_times(tmp_path / name) == without_times(EXAMPLE / name)
    draft = re.search(r"^\$ (calipers labels draft [^\n]+)$", PAGE, re.M)[1]
    assert calipers_command(*shlex.split(draft)[1:]).code == 0
    fill_in(tmp_path)
    for name in ("anna.csv", "bo.csv"):
        assert (tmp_path / name).read_text() == (EXAMPLE / name).read_text()


def test_the_prompts_are_those_of_the_code():
    assert f"```text\n{JUDGE}\n```\n" in PAGE
    page = (DOCS / "begin-with-nothing.md").read_text(encoding="utf-8")
    assert f"```text\n{INSTRUCTIONS}\n```\n" in page


def test_judging_again_adds_to_what_is_there(tmp_path, monkeypatch):
    """The two commands under "Again", with files of their names."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    start = typed("labels draft overlap.jsonl --questions questions.jsonl -k 1 -o label.csv")
    assert start.code == 0
    fill_in(tmp_path)
    calipers_command("labels", "export", "anna.csv", "-o", "truth.jsonl")
    (tmp_path / "rare.jsonl").replace("new.jsonl")
    again = re.search(r"^```\n\$ (calipers labels draft new[^\n]+)\n\$ ([^\n]+)\n```$", PAGE, re.M)
    assert calipers_command(*shlex.split(again[1])[1:]).code == 0
    (tmp_path / "more.csv").replace("label.csv")
    fill_in(tmp_path)
    for name in ("anna", "bo"):
        (tmp_path / f"{name}.csv").replace(f"more-{name}.csv")
    printed = calipers_command(*shlex.split(again[2])[1:])
    assert printed.code == 0, printed.err
    before, after = (tmp_path / name for name in ("truth.jsonl", "truth2.jsonl"))
    assert len(after.read_text()) > len(before.read_text())
