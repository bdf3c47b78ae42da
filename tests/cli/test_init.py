"""calipers init: what cannot be a retriever is refused before a file is written."""

import pytest

from tests.command import calipers_command


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["1", "search", ":search", "search:"])
def test_what_names_no_retriever_writes_nothing(text, folder):
    done = calipers_command("init", "--retriever", text, "-k", "3")
    assert done.code == 2
    assert f"The retriever {text!r} cannot be read" in done.err
    assert not list(folder.iterdir())


@pytest.mark.parametrize("text", ["http://127.0.0.1/?q={query}", "cmd:./search", "pack.mod:find"])
def test_what_names_one_is_not_loaded_yet(text, folder):
    done = calipers_command("init", "--retriever", text, "-k", "3")
    assert done.code == 0
    assert text in (folder / "calipers.toml").read_text()
    assert not (folder / "search.py").exists()
