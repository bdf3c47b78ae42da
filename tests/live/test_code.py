"""The fingerprint of a retriever's code: the same for the same code, another for any change."""

import importlib
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calipers.live.adapters.base import Question
from calipers.live.adapters.recognise import as_retriever
from calipers.live.code import StaleCodeWarning, code_of, code_of_files, digest, forget_bytecode

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


@pytest.mark.parametrize("file", ["own_search.py", "helper_of_search.py"])
def test_a_file_edited_after_its_import_is_said_and_known_by_what_was_imported(file):
    search = imported().search
    before = code_of(search)
    Path(file).write_text(Path(file).read_text().replace("query", "asked"))
    with pytest.warns(StaleCodeWarning, match=rf"^{file} has changed since it was imported"):
        assert code_of(search) == before


def test_a_file_edited_before_it_was_ever_looked_at_is_noticed():
    search = imported().search
    Path("own_search.py").write_text(SEARCH.replace("find(query)", "find(query)[:k]"))
    with pytest.warns(StaleCodeWarning, match=r"^own_search.py has changed"):
        # Neither the code of before, which is gone, nor that of now: a later session asks again.
        assert code_of(search)["own_search.py"] != digest(Path("own_search.py"))
    # Named as a text it is loaded as it is now, and then nothing is left to say.
    as_retriever("own_search:search")
    assert list(code_of(imported().search)) == ["helper_of_search.py", "own_search.py"]


def test_a_function_kept_over_a_reload_is_not_taken_for_the_new_one():
    module = imported()
    old = module.search
    Path("own_search.py").write_text(SEARCH.replace("find(query)", "find(query)[:k]"))
    forget_bytecode(Path("own_search.py"))
    importlib.reload(module)
    with pytest.warns(StaleCodeWarning):
        assert code_of(old) != code_of(module.search)


def test_the_order_of_a_set_in_the_code_says_nothing_of_an_edit():
    """That of a set of texts is another in every session; of these numbers, in either spelling."""
    sets = ("{0, 8, 16}", "{16, 8, 0}")
    searches = [defined(f"def search(query, k):\n    return k in {one}\n") for one in sets]
    assert len({repr(one.__code__.co_consts) for one in searches}) == 2
    assert len({code_of(one)["search"] for one in searches}) == 1


def test_a_function_of_a_notebook_is_known_by_the_files_it_uses_too():
    place = {"__name__": "no_such_module", "helper": importlib.import_module("helper_of_search")}
    exec("def search(query, k):\n    return helper.find(query)\n", place)
    assert set(code_of(place["search"])) == {"search", "helper_of_search.py"}


def test_an_object_is_known_by_the_module_it_was_found_in():
    Path("own_search.py").write_text("import json\n\nsearch = json.JSONEncoder().encode\n")
    assert list(as_retriever("own_search.py:search").code) == ["own_search.py"]


def defined(text):
    """A function as a notebook has it: of no file."""
    place: dict[str, Any] = {"__name__": "no_such_module"}
    exec(text, place)
    return place["search"]


TEXT = "def inner(q):\n    return [q]\ndef search(query, k):\n    return inner(query)\n"


def test_a_function_without_a_file_is_known_by_what_it_does():
    search = defined(TEXT)
    one = code_of(search)
    assert one == code_of(defined(TEXT)) == code_of(partial(search, k=3))
    assert set(one) == {"search", "inner"}
    other = code_of(defined(TEXT.replace("[q]", "[q, q]")))
    assert other["search"] == one["search"]
    assert other["inner"] != one["inner"]


def test_a_command_is_known_by_the_files_it_names():
    assert list(code_of_files(["python", "own_search.py", "--depth", "3"])) == ["own_search.py"]
    assert as_retriever("cmd:python own_search.py").code == code_of_files(["own_search.py"])
    assert as_retriever("http://127.0.0.1:1/?q={query}").code == {}


def test_an_installed_package_is_hashed_as_a_whole_and_not_parsed(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "my_library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from my_library.inner import search\n")
    (package / "inner.py").write_text("def search(query, k):\n    return []\n")
    (package / "deep.py").write_text("DEPTH = 1\n")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    search = importlib.import_module("my_library").search
    monkeypatch.setattr("calipers.live.code._imported_names", None)
    before = code_of(search)
    assert [*before] == ["my_library", "my_library/inner.py"]
    (package / "deep.py").write_text("DEPTH = 2\n")
    after = code_of(search)
    assert [name for name in before if before[name] != after[name]] == ["my_library"]
