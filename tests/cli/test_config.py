"""The one settings file that every command reads."""

import json
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import click
import pytest

from calipers.cli import every_command
from calipers.cli.command import Command
from calipers.config import _refuse_stranger
from calipers.errors import InvalidInput
from calipers.operation import PYTHON, arguments, keys_of
from calipers.operations import OPERATIONS
from tests.command import calipers_command, refused

SEARCH = """
def search(query, k):
    return [f"d{i}" for i in range(k)]

def make():
    return search
"""
SETTINGS = """
ground-truth = "questions.csv"
retriever = "settled_search:search"
metrics = ["recall@2", "mrr"]
missing = "exclude"

[gate]
require = "recall@2 >= 0.1"
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    (tmp_path / "settled_search.py").write_text(SEARCH)
    (tmp_path / "questions.csv").write_text("question,chunk_id\nwho is it,d0\nwhat is it,d9\n")
    (tmp_path / "calipers.toml").write_text(SETTINGS)
    return tmp_path


@pytest.mark.parametrize("command", ["eval", "sweep", "diagnose", "misses", "gate", "audit"])
def test_every_command_reads_the_file_also_from_a_folder_below(command, here, monkeypatch):
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    printed = calipers_command(command, "--json")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)


SPELLED = {"search": "retriever"}
OTHERWISE = {
    ("eval --calls", "k"): "with --calls it counts results of each call",
    ("sweep", "k"): "looks at every k",
    ("init", "k"): "begins before there is a file",
    ("sweep", "metrics"): "takes them without a cut-off",
    ("labels judge", "workers"): "asks a language model",
    ("convert --resolve=DOCUMENTS", "ground_truth"): "converts what is named",
    ("seal", "ground_truth"): "seals what is named; the file names the open part",
    ("convert --resolve=DOCUMENTS", "corpus"): "resolves where that is asked for",
    ("history", "metrics"): "shows what was saved",
    ("history trend", "metrics"): "shows what was saved",
    ("history alarm", "metrics"): "shows what was saved",
}
"""Options that only look as if a key of the file were meant, and why it is not."""


def test_whatever_the_file_states_is_read_by_every_command_that_takes_it():
    ignored = set()
    shared = {key for one in OPERATIONS.values() for key in keys_of(one.function).values()}
    for name, command in every_command().items():
        if not isinstance(command, Command):
            continue
        for argument in arguments(command.operation).values():
            key = SPELLED.get(argument.name, argument.name)
            setting = argument.setting
            if setting is None or setting.file or setting.only == PYTHON:
                continue
            if key.replace("_", "-") in shared:
                ignored.add((name, argument.name))
    assert ignored == OTHERWISE.keys()
    with_file = {name for name, one in every_command().items() if "config" in names_of(one)}
    assert with_file >= {"retrieve", "serve", "compare", "plan", "labels draft", "history"}


def names_of(command):
    return {option.name for option in command.params if isinstance(option, click.Option)}


def test_runs_without_a_ground_truth_are_held_to_that_of_the_file(here):
    assert calipers_command("retrieve", "-o", "old.jsonl").code == 0
    (here / "settled_search.py").write_text("def search(query, k):\n    return ['d9', 'd0']\n")
    assert calipers_command("retrieve", "-o", "new.jsonl").code == 0
    compared = json.loads(calipers_command("compare", "old.jsonl", "new.jsonl", "--json").out)
    assert compared["metrics"][0]["name"] == compared["primary"] == "recall@2"
    changed = calipers_command("compare", "old.jsonl", "new.jsonl", "--changes")
    assert "queries changed" in changed.out
    planned = refused("plan", "old.jsonl", "new.jsonl", "--difference", "0.1", "--json")
    assert "recall@2: it has 2 differences" in planned
    both = [{"query": "who is it", "retrieved": ["d3"], "ground_truth": ["d3"]}]
    (here / "own.json").write_text(json.dumps(both))
    (here / "same.json").write_text(json.dumps(both))
    own = json.loads(calipers_command("compare", "own.json", "same.json", "--json").out)
    assert own["queries"] == 1


def test_what_nobody_gives_and_no_file_says_is_named(here):
    (here / "calipers.toml").unlink()
    said = refused("retrieve", "-o", "run.jsonl")
    assert "RETRIEVER is not given" in said
    assert "retriever = … into calipers.toml" in said


@pytest.mark.parametrize("command", [("eval",), ("gate",), ("grid",), ("history",)])
def test_a_stranger_s_file_is_refused_unless_it_is_named(here, monkeypatch, command):
    monkeypatch.setattr("os.getuid", lambda: here.stat().st_uid + 1)
    (here / "settled_search.py").write_text("raise SystemExit('it ran')\n")
    said = refused(*command)
    assert f"{here / 'calipers.toml'} belongs to another user and may run code." in said
    assert said.endswith(f"name it yourself: --config {here / 'calipers.toml'}")
    (here / "settled_search.py").write_text(SEARCH)
    assert calipers_command("eval", "--config", here / "calipers.toml").code == 0


def test_a_file_above_the_repository_is_not_read(here, monkeypatch):
    (here / "repository" / ".git").mkdir(parents=True)
    monkeypatch.chdir(here / "repository")
    assert "Nothing is given to evaluate" in refused("eval")


def test_in_a_container_root_trusts_the_owner_of_the_folder_and_nobody_else(here, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 0)
    monkeypatch.setattr("calipers.config.CONTAINERS", (str(here / "questions.csv"),))
    owner = here.stat().st_uid
    file = here / "calipers.toml"
    with mock.patch.object(Path, "stat", lambda one: SimpleNamespace(st_uid=owner + (one == file))):
        with pytest.raises(InvalidInput, match="belongs to another user"):
            _refuse_stranger(file, here)
        _refuse_stranger(here / "search.toml", here)


@pytest.mark.parametrize("outside", ["../../summary.md", "/tmp/summary.md", "away/summary.md"])
def test_what_a_settings_file_has_written_stays_inside_of_its_folder(here, outside):
    (here / "away").symlink_to(here.parent)
    grid = '[grid.retrievers.one]\nmake = "settled_search:make"\n'
    text = SETTINGS.partition("[gate]")[0]
    (here / "calipers.toml").write_text(f'{text}[grid]\noutput = "{outside}"\n{grid}')
    said = refused("grid")
    assert "The key grid.output of" in said
    assert f"what is written stays inside of {here}" in said
    assert not (here.parent / "summary.md").exists()


def test_code_that_a_settings_file_names_is_announced(here):
    named = f"Running settled_search:search, which {here / 'calipers.toml'} names.\n"
    assert calipers_command("eval", "--json").err == named
    assert calipers_command("retrieve", "-o", "run.jsonl").err.startswith(named)
    assert calipers_command("eval", "--run", "run.jsonl").err == ""
    assert calipers_command("eval", "--retriever", "settled_search:search").err == ""
    text = SETTINGS.replace("settled_search:search", "https://host.invalid/?q={query}")
    (here / "calipers.toml").write_text(text)
    assert "Running" not in calipers_command("eval").err
    one = '[grid.retrievers.{}]\nmake = "settled_search:make"\n'
    (here / "calipers.toml").write_text(f"{SETTINGS}\n{one.format('a')}{one.format('b')}")
    assert "Running the retrievers that [grid] of" in calipers_command("grid").err


def test_the_file_says_what_is_measured_and_options_go_before_it():
    found = json.loads(calipers_command("eval", "--json").out)
    assert [one["metric"] for one in found["summaries"]] == ["recall@2", "mrr"]
    assert found["policy"]["missing"] == "exclude"
    found = json.loads(calipers_command("eval", "-k", "5", "--json").out)
    shown = [(one["metric"], one["mean"]) for one in found["summaries"]]
    assert shown == [("recall@5", 0.5), ("mrr@5", 0.5)]


def test_columns_of_the_file_hold_wherever_questions_are_read(here):
    (here / "questions.csv").write_text("Kysymys,Kohta\nwho is it,d0\nwhat is it,d9\n")
    asked = ("retrieve", "settled_search:search", "questions.csv", "-o", "run.jsonl")
    assert "--column" in refused(*asked)
    named = ("--column", "query=Kysymys", "--column", "item=Kohta")
    printed = calipers_command(*asked, *named)
    assert (printed.code, printed.out.rstrip().endswith(" ".join(named))) == (0, True)
    (here / "calipers.toml").write_text(
        f'{SETTINGS}\n[columns]\nquery = "Kysymys"\nitem = "Kohta"\n'
        '[grid.retrievers.one]\nmake = "settled_search:make"\n'
        '[grid.retrievers.two]\nmake = "settled_search:make"\n'
    )
    for command in (
        asked,
        ("eval",),
        ("audit",),
        ("labels", "draft", "run.jsonl", "--questions", "questions.csv", "-o", "label.csv"),
        ("compare", "run.jsonl.bak", "run.jsonl", "-g", "questions.csv"),
        ("grid",),
    ):
        printed = calipers_command(*command)
        assert printed.code == 0, (command, printed.err)


EVALS = json.dumps({"query": "q", "retrieved": ["a"], "ground_truth": ["a"]})


@pytest.mark.parametrize("table", ["[tool.calipers]", "[tool.calipers.gate]"])
def test_settings_in_pyproject_are_said_not_to_be_read(table, tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n\n{table}\nk = [3]\n')
    below = tmp_path / "below"
    below.mkdir()
    (below / "evals.jsonl").write_text(EVALS)
    for folder in (tmp_path, below):
        monkeypatch.chdir(folder)
        printed = calipers_command("eval", str(below / "evals.jsonl"))
        assert printed.code == 0
        said = f"[tool.calipers] of {tmp_path / 'pyproject.toml'} is not read: move it to calipers"
        assert printed.err.count(said) == 1
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n# [tool.calipers] once\n")
    assert calipers_command("eval", str(below / "evals.jsonl")).err == ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_settings_that_are_no_utf_8_are_refused_in_a_sentence(encoding, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.jsonl").write_text(EVALS)
    (tmp_path / "calipers.toml").write_text("k = [3] # größer", encoding=encoding)
    sentence = refused("eval", "evals.jsonl")
    assert "is not in UTF-8, as TOML must be; save it as UTF-8" in sentence
    assert "codec" not in sentence


def test_settings_with_a_byte_order_mark_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.jsonl").write_text(EVALS)
    (tmp_path / "calipers.toml").write_text('metrics = ["mrr"]', encoding="utf-8-sig")
    assert calipers_command("eval", "evals.jsonl", "--as", "csv").out.count("mrr") == 1
