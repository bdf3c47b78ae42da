from pathlib import Path
from random import Random
from typing import Any

import pytest

from calipers.errors import CalipersError
from calipers.live.settings import retrieve

QUESTIONS = {"q1": "one", "q2": "two"}


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, query: str, k: int) -> list[tuple[str, float]]:
        self.asked.append(query)
        if query == "bad":
            raise KeyError(query)
        return [(f"{query}{i}", 1.0 - i) for i in range(k)]


def test_an_answer_is_asked_for_once(tmp_path: Path) -> None:
    search, cache = Counting(), tmp_path / "cache.db"
    first = retrieve(search, QUESTIONS | {"q0": "bad"}, k=2, cache=cache)
    retrieve(search, ["two", "bad"], k=2, cache=cache)
    second = retrieve(search, {"other id": "one", "q3": "three"}, k=2, cache=cache)
    # Errors are not kept.
    assert sorted(search.asked) == ["bad", "bad", "one", "three", "two"]
    assert (first.report.cached, second.report.cached, second.report.asked) == (0, 1, 1)
    assert second.frame.filter(query="other id")["item"].to_list() == ["one0", "one1"]
    assert second.queries is not None
    cached = second.queries.filter(query="other id")
    assert cached["latency_ms"].to_list() == [None]


def test_other_settings_are_other_answers(tmp_path: Path) -> None:
    asked = []

    def search(query: str, k: int, x: int = 0) -> list[str]:
        asked.append(query)
        return ["a"]

    changes: list[dict[str, Any]] = [{}, {"k": 3}, {"label": "v2"}, {"params": {"x": 1}}]
    for number, changed in enumerate(changes, 1):
        settings: dict[str, Any] = {"k": 2, "cache": tmp_path / "c.db", **changed}
        retrieve(search, QUESTIONS, **settings)
        assert len(asked) == 2 * number


def test_other_code_gives_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "cached_search.py"
    about: Any = {"k": 1, "cache": tmp_path / "c.db"}
    found = []
    for answer in ("old", "new", "new"):
        module.write_text(f"def search(query, k):\n    return ['{answer}']\n")
        run = retrieve("cached_search.py:search", QUESTIONS, **about)
        found.append((run.frame["item"].unique().to_list(), run.report.cached))
    assert found == [(["old"], 0), (["new"], 0), (["new"], 2)]


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(CalipersError, match="cannot be used: file is not a database; name another"):
        retrieve(Counting(), QUESTIONS, cache=path)
    assert path.read_text() == "precious"
    with pytest.raises(CalipersError, match="no folder"):
        retrieve(Counting(), QUESTIONS, cache=tmp_path / "no" / "c.db")


def test_a_damaged_cache_gives_no_wrong_answer(tmp_path: Path) -> None:
    cache = tmp_path / "cache.db"
    retrieve(Counting(), QUESTIONS, k=2, cache=cache)
    content, random, refused = cache.read_bytes(), Random(1), 0
    for _ in range(20):
        size, at = random.choice((1, 300)), random.randrange(16, len(content))
        cache.write_bytes(content[:at] + random.randbytes(size) + content[at + size :])
        try:
            found = retrieve(Counting(), QUESTIONS, k=2, cache=cache)
        except CalipersError:
            refused += 1
        else:
            assert sorted(found.frame["item"].to_list()) == ["one0", "one1", "two0", "two1"]
    assert refused
