"""What the pages show is what the commands print."""

import json
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from calipers.io.load import load
from calipers.questions.grid.rule import GridTable, RetrieverTable
from tests.command import calipers_command, typed
from tests.live.server import running

ROOT = Path(__file__).parents[2]
PAGES = ("compare", "diagnose", "evaluate", "grow", "misses", "plan", "seal", "slices", "which-k")
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


def held(text):
    """Run the commands of a text, and hold what they print against what is shown."""
    shown = SHOWN.findall(text)
    assert shown
    for command, expected in shown:
        printed = typed(command.partition(" ")[2])
        assert printed.code == 0, printed.err
        assert_shown(expected, printed.out)


@pytest.mark.parametrize("name", PAGES)
def test_every_output_that_is_shown_is_current(name, folder):
    held(page(name))


def lines_of(text, *varies):
    """The lines of an output, without what differs each time."""
    for pattern, instead in varies:
        text = re.sub(pattern, instead, text)
    return [line.rstrip() for line in text.rstrip().splitlines()]


def test_the_gate_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    block = re.search(r"^```\n(\$ calipers gate save.*?)^```$", page("gate"), re.M | re.S)[1]
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    for command in commands:
        printed = calipers_command(*shlex.split(command)[2:], columns=80)
        assert printed.code == 0, printed.err
    date = (r"saved on \d{4}-\d\d-\d\d", "saved on …")
    assert lines_of(printed.out, date) == lines_of(block, date)[len(commands) :]
    assert (tmp_path / "summary.md").exists()


def test_the_history_of_the_example_is_shown_apart_from_its_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    runpy.run_path(str(ROOT / "examples" / "nights.py"), run_name="__main__")
    shown = [(one, text) for one, text in SHOWN.findall(page("history")) if " history" in one]
    assert [" alarm " in command for command, _ in shown] == [True, False]
    ids = (r"(?<=[@ ])[0-9a-f]{8}", "id")
    for command, expected in shown:
        printed = calipers_command(*shlex.split(command)[1:], columns=80)
        assert printed.code == (1 if " alarm " in command else 0), printed.err
        assert lines_of(printed.out, ids) == lines_of(expected, ids), command


@pytest.fixture
def first(tmp_path, monkeypatch):
    """The files that somebody begins with."""
    for file in (ROOT / "examples" / "first").glob("*.*"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "search", raising=False)
    yield tmp_path
    sys.modules.pop("search", None)


def start(name, kind):
    """A start of the page on one's own data, and its blocks of a kind."""
    text = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page("your-own-data"), re.M | re.S)[1]
    return text, re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


def test_a_spreadsheet_and_trec_files(first):
    text, (table,) = start("A spreadsheet", "csv")
    assert table == (first / "questions.csv").read_text()
    held(text)
    text, (qrels, run) = start("TREC files", "text")
    (first / "qrels.txt").write_text(qrels)
    (first / "run.txt").write_text(run)
    held(text)


def test_the_first_screen_of_the_readme(first):
    for file in first.iterdir():
        file.unlink()
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("| you want to know")[0]
    assert text.index("calipers init") < text.index("calipers eval") < text.index("your-own-data")
    assert len(text.splitlines()) < 50
    assert text.count("](") == 1
    assert typed("init").code == 0
    held(text)


def test_an_http_service(first):
    asking, measuring = start("An HTTP service", "console")[1][0].splitlines()
    with running() as server:
        asking = asking.replace("http://127.0.0.1:8000", server.address)
        printed = typed(asking.removeprefix("$ calipers "))
        assert printed.code == 0, printed.err
    run = load("run.jsonl", "run").run
    # The server has chunks of its own, so the questions ask for one of those.
    rows = "".join(f"{query},{run.frame['item'][0]}\n" for query in run.frame["query"].unique())
    (first / "questions.csv").write_text("question,chunk_id\n" + rows)
    printed = typed(measuring.removeprefix("$ calipers "))
    assert printed.code == 0, printed.err
    assert printed.out.startswith("Finds ")


def test_the_message_of_a_failed_test_is_the_one_shown(calipers_eval):
    shown = [line.strip() for line in re.findall(r"(?m)^E\b(.*)$", page("pytest"))]
    with pytest.raises(AssertionError) as failed:
        calipers_eval(ROOT / "examples" / "python_questions.json").require("recall@10 >= 0.85")
    said = [line.strip() for line in str(failed.value).splitlines()]
    assert [f"AssertionError: {said[0]}", *said[1:]] == shown


def test_the_grid_of_the_example_runs_and_is_shown_apart_from_latencies(tmp_path, monkeypatch):
    text, example = page("grid"), ROOT / "examples" / "lighthouse"
    for name, kind in GRID.items():
        shutil.copy(example / name, tmp_path)
        block = re.search(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)[1]
        assert block in (example / name).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "search", raising=False)
    printed = calipers_command("grid", "calipers.toml", columns=80)
    sys.modules.pop("search", None)
    assert printed.code == 0, printed.err
    shown = re.search(r"^```\n\$ calipers grid calipers.toml\n(.*?)\n```", text, re.M | re.S)[1]
    # Their width moves what stands beside them.
    latency = (r" *\d+(\.\d+)?(e-\d+)? ms", " ms"), (r"  +", "  ")
    assert lines_of(printed.out, *latency) == lines_of(shown, *latency)


GRID = {"calipers.toml": "toml", "questions.jsonl": "json", "search.py": "python"}
"""The files of the example, and how the page marks them."""


def test_the_page_names_every_key_of_a_grid():
    table = page("grid").partition("| key in `[grid]`")[2].partition("\n\n")[0]
    for key in GridTable.__struct_encode_fields__:
        assert key == "retrievers" or f"`{key}`" in table
    for key in RetrieverTable.__struct_encode_fields__:
        assert f"`retrievers.NAME.{key}`" in table
