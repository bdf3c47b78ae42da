"""The fingerprint of a retriever's code: the same for the same code, another for any change."""

import sys
from functools import partial
from pathlib import Path

import pytest

from calipers.retrievers.base import Question
from calipers.retrievers.code import code_of, code_of_files
from calipers.retrievers.recognise import as_retriever

SEARCH = (
    "import helper_of_search\n\ndef search(query, k):\n    return helper_of_search.find(query)\n"
)
HELPER = "import json\n\ndef find(query):\n    return [query]\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("own_search.py").write_text(SEARCH)
    Path("helper_of_search.py").write_text(HELPER)
    yield
    for name in ("own_search", "helper_of_search"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("target", ["own_search:search", "own_search.py:search"])
def test_the_files_of_the_project_and_no_others(target):
    assert list(as_retriever(target).code) == ["helper_of_search.py", "own_search.py"]


@pytest.mark.parametrize("file", ["own_search.py", "helper_of_search.py"])
def test_an_edit_of_any_file_changes_its_fingerprint_alone(file):
    before = as_retriever("own_search:search").code
    assert as_retriever("own_search:search").code == before
    Path(file).write_text(Path(file).read_text() + "\n# edited\n")
    after = as_retriever("own_search:search").code
    assert {name for name in before if before[name] != after[name]} == {file}


def test_an_edited_module_is_loaded_anew_in_the_same_session():
    def answers():
        return as_retriever("own_search:search").open().ask([Question("q", "q")], 1, None)

    assert answers() == [["q"]]
    Path("own_search.py").write_text("def search(query, k):\n    return ['edited', 'now']\n")
    assert answers() == [["edited", "now"]]


def test_an_object_is_known_by_the_module_it_was_found_in():
    Path("own_search.py").write_text("import json\n\nsearch = json.JSONEncoder().encode\n")
    assert list(as_retriever("own_search.py:search").code) == ["own_search.py"]


def defined(text):
    """A function as a notebook has it: of no file."""
    place: dict[str, object] = {"__name__": "no_such_module"}
    exec(text, place)
    return place["search"]


TEXT = "def inner(q):\n    return [q]\ndef search(query, k):\n    return inner(query)\n"


def test_a_function_without_a_file_is_known_by_what_it_does():
    one, same = code_of(defined(TEXT)), code_of(defined(TEXT))
    assert one == same
    assert set(one) == {"search", "inner"}
    other = code_of(defined(TEXT.replace("[q]", "[q, q]")))
    assert other["search"] == one["search"]
    assert other["inner"] != one["inner"]


def test_what_is_wrapped_around_a_function_does_not_hide_it():
    search = defined(TEXT)
    assert code_of(partial(search, k=3)) == code_of(search)


def test_a_command_is_known_by_the_files_it_names():
    assert list(code_of_files(["python", "own_search.py", "--depth", "3"])) == ["own_search.py"]
    assert as_retriever("cmd:python own_search.py").code == code_of_files(["own_search.py"])
    assert as_retriever("http://127.0.0.1:1/?q={query}").code == {}
