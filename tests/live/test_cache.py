from pathlib import Path

import pytest

from calipers.errors import CalipersError
from calipers.live.retrieve import retrieve_to_run as retrieve

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


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(CalipersError, match="cannot be used: file is not a database; name another"):
        retrieve(Counting(), QUESTIONS, cache=path)
    assert path.read_text() == "precious"
    with pytest.raises(CalipersError, match="no folder"):
        retrieve(Counting(), QUESTIONS, cache=tmp_path / "no" / "c.db")
