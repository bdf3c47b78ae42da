"""What a project starts with: never over something that exists, and all of it usable."""

import json
import tomllib
from types import SimpleNamespace

import pytest
import yaml

from calipers.cli import starter
from calipers.cli.starter import start_project
from calipers.config import find_config
from calipers.version import pip_install
from tests.command import calipers_command

ALL = ("questions.csv", "search.py", "calipers.toml", ".github/workflows/retrieval.yml")


def test_all_files_are_written_once(tmp_path):
    assert start_project(tmp_path, retriever=None, k=5).written == ALL
    before = {name: (tmp_path / name).read_bytes() for name in ALL}
    again = start_project(tmp_path, retriever=None, k=7)
    assert again.written == ()
    assert sorted(again.left) == sorted(ALL)
    assert {name: (tmp_path / name).read_bytes() for name in ALL} == before


@pytest.mark.parametrize("name", ALL)
def test_nothing_that_exists_is_touched(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "k = 3\n" if name.endswith(".toml") else "mine"
    path.write_text(text)
    started = start_project(tmp_path, retriever=None, k=5)
    assert path.read_text() == text
    assert name not in started.written
    if name == "search.py":
        assert started.retriever == "calipers_search:search"
    else:
        assert name in started.left


@pytest.mark.parametrize(
    ("settings", "written", "printed"),
    [
        ('retriever = "mine.py:find"\nground-truth = "mine.csv"\n', [], "calipers eval"),
        ('run = "mine.csv"\nground-truth = "mine.csv"\n', [], "calipers eval"),
        ("k = 3\n", ["questions.csv", "search.py"], "eval -g questions.csv --retriever search"),
        ('ground-truth = "mine.csv"\n', ["search.py"], "eval -g mine.csv --retriever search"),
        (
            'ground-truth = "questions.csv"\nretriever = "search:search"\n',
            ["questions.csv", "search.py"],
            "calipers eval",
        ),
    ],
)
def test_a_second_init_writes_only_what_something_names(
    settings, written, printed, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calipers.toml").write_text(settings)
    (tmp_path / "mine.csv").write_text(
        "question,chunk_id,retrieved\nHow can I get my money back?,refunds#1,refunds#1\n"
    )
    code = (starter.TEXTS / "search.txt").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(code.replace("def search(", "def find("))
    before = {path.name for path in tmp_path.iterdir()}
    done = calipers_command("init")
    now = {path.name for path in tmp_path.iterdir()} - before - {".github"}
    assert sorted(now) == written
    assert "Left as it is: calipers.toml\n" in done.out
    last = done.out.splitlines()[-1]
    assert printed in last
    assert calipers_command(*last.split()[1:]).code == 0
    assert "Write your questions" not in done.out
    if "mine.csv" in settings:
        (tmp_path / "mine.csv").unlink()
        again = calipers_command("init").out
        assert "Write your questions into mine.csv, which calipers.toml names, then:" in again


@pytest.mark.parametrize("retriever", ["mine.search:find", 'http://h/?q={query}&"x"', "cmd:a \\b"])
def test_the_settings_are_valid_whatever_the_retriever(tmp_path, retriever):
    started = start_project(tmp_path, retriever=retriever, k=4)
    assert "search.py" not in started.written
    table = tomllib.loads((tmp_path / "calipers.toml").read_text())
    assert table["retriever"] == retriever
    assert table["metrics"] == ["recall@4", "precision@4", "mrr"]
    find_config(tmp_path)


@pytest.mark.parametrize(
    ("recorded", "installs"),
    [
        (None, "calipers==0.1.0"),
        (
            {
                "url": "https://me:secret@host/c.git",
                "vcs_info": {"vcs": "git", "commit_id": "ab12"},
            },
            "calipers @ git+https://host/c.git@ab12",
        ),
        ({"url": "https://host/calipers-0.1.0.whl"}, "calipers @ https://host/calipers-0.1.0.whl"),
        ({"url": "{elsewhere}", "dir_info": {"editable": True}}, "${{ vars.CALIPERS }}"),
    ],
)
def test_the_workflow_installs_what_is_installed_here(recorded, installs, tmp_path, monkeypatch):
    project, elsewhere = tmp_path / "project", tmp_path / "else where"
    for folder in (project, elsewhere):
        folder.mkdir()
    text = None
    if recorded is not None:
        places = {"project": project, "elsewhere": elsewhere}
        url = recorded["url"].format_map({name: one.as_uri() for name, one in places.items()})
        text = json.dumps({**recorded, "url": url})
    # Not a method of the class: where a library loaded importlib_metadata, another class answers.
    distribution = SimpleNamespace(read_text=lambda _: text)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: distribution)
    start_project(project, retriever=None, k=4)
    written = (project / starter.WORKFLOW).read_text(encoding="utf-8")
    steps = {one.get("name"): one for one in yaml.safe_load(written)["jobs"]["gate"]["steps"]}
    assert steps["Install"]["run"] == f'python -m pip install "{installs}"'
    assert "secret" not in written
    hint = pip_install("web")
    assert hint.startswith("pip install ")
    assert "[web]" in hint
    assert "'.[" not in hint


def test_the_workflow_moves_its_baseline_on_main(tmp_path):
    start_project(tmp_path, retriever=None, k=4)
    found = yaml.safe_load((tmp_path / ".github/workflows/retrieval.yml").read_text())
    steps = {one.get("name", one.get("uses")): one for one in found["jobs"]["gate"]["steps"]}
    moves = steps["Move the baseline of main"]
    assert "calipers gate save" in moves["run"]
    assert "--move-up" in moves["run"]
    assert moves["if"] == "github.event_name != 'pull_request'"
    key = "calipers-baseline-${{ github.sha }}-${{ github.run_id }}"
    assert steps["Keep the baseline"]["with"]["key"] == key
    assert steps["Fetch the baseline of main"]["with"]["restore-keys"] == "calipers-baseline-"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((text, 2) for text in ("1", "search", ":search", "search:")),
        *((text, 0) for text in ("http://127.0.0.1/?q={query}", "cmd:./search", "pack.mod:find")),
    ],
)
def test_what_names_no_retriever_writes_nothing_and_what_names_one_is_not_loaded_yet(
    text, code, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = calipers_command("init", "--retriever", text, "-k", "3")
    assert (done.code, f"The retriever {text!r} cannot be read" in done.err) == (code, code == 2)
    assert (tmp_path / "calipers.toml").exists() == (code == 0)
    assert not (tmp_path / "search.py").exists()
    assert code == 0 or not list(tmp_path.iterdir())
