"""The fingerprint of a retriever's code: the same for the same code, another for any change."""

import importlib
import linecache
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calipers.live.adapters.base import Question
from calipers.live.adapters.recognise import as_retriever
from calipers.live.code import code_of

SEARCH = (
    "import helper_of_search\n\ndef search(query, k):\n    return helper_of_search.find(query)\n"
)
HELPER = "import json\n\ndef find(query):\n    return [query]\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    Path("own_search.py").write_text(SEARCH)
    Path("helper_of_search.py").write_text(HELPER)
    yield
    for name in ("own_search", "helper_of_search", "limit_of_search"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("target", ["own_search:search", "own_search.py:search"])
def test_an_edit_of_any_file_of_the_project_changes_its_fingerprint_alone(target):
    before = as_retriever(target).code
    assert list(before) == ["helper_of_search.py", "own_search.py"]
    for file in before:
        assert as_retriever(target).code == before
        Path(file).write_text(Path(file).read_text() + "\n# edited\n")
        after = as_retriever(target).code
        assert {name for name in before if before[name] != after[name]} == {file}
        before = after


def answers(target):
    return as_retriever(target).open().ask(Question("q", "q"), 1, None)


@pytest.mark.parametrize("target", ["own_search:search", "own_search.py:search"])
def test_an_edited_helper_is_loaded_anew_with_all_that_import_it(target):
    Path("own_search.py").write_text(
        "from helper_of_search import find\n\ndef search(query, k):\n    return find(query)\n"
    )
    Path("helper_of_search.py").write_text(
        "from limit_of_search import TOP\n\ndef find(query):\n    return [query] * TOP\n"
    )
    # Edits of one size within a second: what Python keeps of a compiled file does not show them.
    for top in (1, 2, 3):
        Path("limit_of_search.py").write_text(f"TOP = {top}\n")
        assert answers(target) == ["q"] * top
    assert "limit_of_search.py" in as_retriever(target).code


def test_a_module_of_another_folder_does_not_serve_for_one_of_the_same_name(tmp_path, monkeypatch):
    assert answers("own_search:search") == ["q"]
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    Path("own_search.py").write_text(SEARCH)
    Path("helper_of_search.py").write_text(HELPER.replace("[query]", "['other']"))
    assert answers("own_search:search") == ["other"]


def imported():
    return importlib.import_module("own_search")


def test_a_file_edited_after_its_import_is_known_by_what_was_imported():
    search = imported().search
    before = code_of(search)
    Path("helper_of_search.py").write_text(HELPER.replace("query", "asked"))
    assert code_of(search) == before
    # Named as a text it is loaded as it is now.
    assert as_retriever("own_search:search").code != before


TEXT = "def search(query, k):\n    return [query]\n"


def defined(text):
    """A function as a notebook has it: with a source, and of no file."""
    place: dict[str, Any] = {"__name__": "no_such_module"}
    name = f"<cell {text!r}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), place)
    return place["search"]


def test_a_function_without_a_file_is_known_by_its_source():
    one = code_of(defined(TEXT))
    assert one == code_of(defined(TEXT)) == code_of(partial(defined(TEXT), k=3))
    assert set(one) == {"search"}
    assert code_of(defined(TEXT.replace("query", "asked"))) != one
