# mypy: disable-error-code="arg-type"

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calipers
from calipers import retrieve
from calipers.errors import InvalidInput, UnknownArgument
from calipers.live.adapters import recognise
from calipers.live.adapters.recognise import as_retriever

MODULE = """
class Index:
    def search(self, query, k):
        return [query]
index = Index()
def search(query, k):
    return [query]
answer = 42
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (tmp_path / "my_searching.py").write_text(MODULE)
    (tmp_path / "my_broken.py").write_text("raise RuntimeError('no index')")
    (tmp_path / "my_needing.py").write_text("import not_installed_anywhere")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "target", ["my_searching:search", "my_searching:index.search", "my_searching.py:search"]
)
def test_a_function_by_name(target: str) -> None:
    run = retrieve(target, ["a"])
    assert run.frame["item"].to_list() == ["a"]
    assert run.name == target
    assert as_retriever(target).settings["retriever"] == target


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nonsense", "cannot be read; write an address"),
        ("my_serching:search", "there is no module 'my_serching' here"),
        ("my_searching:serch", "no 'serch' in my_searching.*Did you mean search"),
        ("my_searching:answer", "is a int, which Calipers does not know"),
        ("my_broken:search", "it raises RuntimeError: no index while it is imported"),
        ("my_broken.py:search", "it raises RuntimeError: no index while it is imported"),
        ("my_needing:search", "no module 'not_installed_anywhere'"),
        ("not_there.py:search", "no file not_there.py"),
    ],
)
def test_names_that_lead_nowhere(target: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        retrieve(target, ["a"])


def test_an_option_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'headers' means nothing for a function"):
        retrieve(lambda query, k: [], ["a"], headers={"X": "y"})
    with pytest.raises(UnknownArgument, match=r"takes no argument 'reqest'.*Did you mean request"):
        retrieve("http://host/?q={query}", ["a"], reqest="{}")  # type: ignore[call-arg]


def test_two_files_have_each_their_own_helper(tmp_path):
    for folder, found in (("old", "a"), ("new", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside.py").write_text(f"FOUND = [{found!r}]")
        (tmp_path / folder / "search.py").write_text(
            "import beside\n\n\ndef search(query, k):\n    return beside.FOUND\n"
        )
    places = (f"{tmp_path / one / 'search.py'}:search" for one in ("old", "new"))
    old, new = (recognise.load_target(place)[0] for place in places)
    assert (old("q", 1), new("q", 1)) == (["a"], ["b"])


SHADOWED = "raise RuntimeError('a file of the user was taken for a library')\n"


def test_files_with_names_of_libraries_do_not_stand_in_for_them(tmp_path):
    """Libraries that are loaded later are the real ones; the user's own code has its own file."""
    for name in ("html", "rich", "jinja2", "csv", "sqlite3"):
        (tmp_path / f"{name}.py").write_text(SHADOWED)
    (tmp_path / "shelve.py").write_text("ITEM = 'd1'\n")
    (tmp_path / "search.py").write_text(
        "from shelve import ITEM\n\n\ndef search(query, k):\n    return [ITEM]\n"
    )
    (tmp_path / "q.jsonl").write_text('{"query": "Who?", "ground_truth": ["d1"]}\n')
    line = "eval q.jsonl --retriever search:search --html page.html --save first"
    root = Path(__file__).parents[3] / "src"
    ended = subprocess.run(
        [sys.executable, "-m", "calipers", *line.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, "Finds all" in ended.stdout) == (0, True), ended.stderr


def test_what_cannot_be_asked_is_a_sentence():
    for value in (np.array([]), np.array([1.0]), 7, [], {"a": 1}, object()):
        with pytest.raises(InvalidInput):
            calipers.retrieve(value, ["Who?"])
    with pytest.raises(InvalidInput):
        calipers.explain("Who?", retriever=np.array([]))
    with pytest.raises(InvalidInput):
        calipers.evaluate({"Who is it?": ["d1"]}, retriever=np.array([]))
