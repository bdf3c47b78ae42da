from pathlib import Path
from typing import Any

import pytest

from calipers.errors import InvalidInput, UnknownArgument
from calipers.live.adapters import recognise
from calipers.live.adapters.recognise import as_retriever
from calipers.live.settings import retrieve

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
        ("my_needing:search", "needs the module 'not_installed_anywhere'"),
        ("not_there.py:search", "no file not_there.py"),
    ],
)
def test_names_that_lead_nowhere(target: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        retrieve(target, ["a"])


@pytest.mark.parametrize("value", [None, 7, {"a": 1}, object()])
def test_what_cannot_be_asked(value: Any) -> None:
    with pytest.raises(InvalidInput, match="does not know how to ask"):
        retrieve(value, ["a"])


def test_an_option_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'embed' means nothing for a function"):
        retrieve(lambda query, k: [], ["a"], embed=len)
    with pytest.raises(InvalidInput, match=r"'reqest' means nothing.*Did you mean request"):
        as_retriever("http://host/?q={query}", reqest="{}")


class Collection:
    """What a collection of Chroma can do."""

    def query(self, **asked: Any) -> Any:
        return {"ids": [["a"]]}

    upsert = peek = query


def small(text: str) -> list[float]:
    return [1.0]


def large(text: str) -> list[float]:
    return [2.0]


def test_another_function_that_embeds_is_another_retriever(tmp_path: Path) -> None:
    cache = tmp_path / "answers.db"
    for embed, asked in ((small, 1), (small, 0), (large, 1)):
        run = retrieve(Collection(), ["Who?"], k=1, embed=embed, cache=cache)
        assert run.report.asked == asked


def test_an_option_of_no_kind_is_refused_by_the_operation() -> None:
    with pytest.raises(UnknownArgument, match=r"takes no argument 'reqest'.*Did you mean request"):
        retrieve("http://host/?q={query}", ["a"], reqest="{}")  # type: ignore[call-arg]


def test_two_files_have_each_their_own_helper(tmp_path):
    for folder, found in (("old", "a"), ("new", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside.py").write_text(f"FOUND = [{found!r}]")
        (tmp_path / folder / "search.py").write_text(
            "import beside\n\n\ndef search(query, k):\n    return beside.FOUND\n"
        )
    old, new = (recognise.find(f"{tmp_path / one / 'search.py'}:search") for one in ("old", "new"))
    assert (old("q", 1), new("q", 1)) == (["a"], ["b"])
