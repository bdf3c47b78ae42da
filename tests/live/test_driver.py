"""The driver against everything that may go wrong."""

# mypy: disable-error-code="arg-type"

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import retrieve
from calipers.errors import CalipersError, RetrieverFailed
from calipers.live import driver as driver_module
from calipers.live.adapters.base import Question, Retriever, Session
from calipers.live.adapters.callable import from_callable
from calipers.live.driver import SAME_FAILURES, Driver, Limits, Pace
from calipers.live.failures import AskFailed
from calipers.live.keywords import RetrieverOptions
from calipers.live.retrieve import retrieve_to_report
from calipers.live.run_file import AnswerCounts
from tests.live.server import SLOW_SECONDS, Server, answer_to
from tests.live.test_run_file import interrupt

FINE = "fine slow few twice many unsorted none once busy resetonce"
TROUBLES: dict[str, str | None] = {
    **dict.fromkeys(FINE.split()),
    **dict.fromkeys(("hang", "drip"), "timeout"),
    **dict.fromkeys(("broken", "types", "keys"), "bad answer"),
    "fail": "http 500",
    "missing": "http 404",
    "reset": "reset",
}
"""What the server does for a word in the question, and as what it is counted."""


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("quick")
def test_every_trouble_at_once(server: Server, tmp_path: Path) -> None:
    times = 3
    questions = [f"{word} {i}" for i in range(times) for word in TROUBLES]
    output = tmp_path / "run.jsonl"
    report = retrieve_to_report(
        server.search,
        questions,
        k=5,
        output=output,
        limits=Limits(workers=8, timeout=1, retries=1),
        options=RetrieverOptions(results="$.hits[*]"),
    )
    expected = Counter(kind for kind in TROUBLES.values() for _ in range(times) if kind)
    assert dict(report.errors) == dict(expected)
    assert report.answered == len(questions) - expected.total()
    written = records(output)
    assert [one["query"] for one in written] == questions
    for one in written:
        word = one["query"].split()[0]
        assert (one.get("error") or ": ").split(":")[0] == (TROUBLES[word] or "")
        if word in ("fine", "slow", "once", "busy", "resetonce"):
            assert one["retrieved"] == answer_to(one["query"], 5)
    assert (
        max(server.answered[q] for q in questions if q.split()[0] not in ("broken", "types")) == 1
    )
    attempts = {"fine": 1, "once": 2, "busy": 2, "fail": 2, "hang": 2, "missing": 1}
    for word, asked in attempts.items():
        assert {server.asked[f"{word} {i}"] for i in range(times)} == {asked}, word
    for name in ("short", "empty", "unsorted"):
        assert getattr(report, name) == times, name
    assert report.latency_ms["count"] == report.answered - sum("warm_up" in one for one in written)


def test_as_many_at_a_time_as_workers_and_no_more(server: Server) -> None:
    questions = [f"slow {i}" for i in range(40)]
    report = retrieve_to_report(
        server.search,
        questions,
        k=2,
        limits=Limits(8),
        options=RetrieverOptions(results="$.hits[*]"),
    )
    assert server.most_at_once == 8
    assert server.connections == 8
    assert 40 / 8 * SLOW_SECONDS <= report.seconds < 40 * SLOW_SECONDS
    assert report.latency_ms["p50"] >= SLOW_SECONDS * 1000


def test_calls_that_hang_are_left_behind_and_the_others_go_on() -> None:
    release = threading.Event()

    def search(query: str, k: int) -> list[str]:
        if "hang" in query:
            release.wait(20)
        return ["a"]

    questions = [f"{'hang' if i % 4 == 1 else 'fine'} {i}" for i in range(20)]
    begun = time.monotonic()
    run = retrieve(search, questions, k=1, workers=2, timeout=0.3, retries=5)
    assert time.monotonic() - begun < 10
    release.set()
    assert dict(run.report.errors) == {"timeout": 5}
    assert run.report.answered == 15


def test_a_late_answer_does_not_count() -> None:
    release, late = threading.Event(), threading.Event()

    def search(query: str, k: int) -> list[str]:
        if query == "hang":
            release.wait(20)
            late.set()
        elif query == "last":
            release.set()
            late.wait(20)
        return ["a"]

    run = retrieve(search, ["fine", "hang", "last"], k=1, workers=1, timeout=0.5)
    assert dict(run.report.errors) == {"timeout": 1}
    assert run.report.answered == 2


def test_whatever_a_function_raises_or_returns_is_one_error() -> None:
    class Hostile:
        @property
        def id(self) -> str:
            raise RuntimeError("no id for you")

        def __repr__(self) -> str:
            raise RuntimeError("no words either")

    raised = (KeyError("x"), SystemExit(1), RecursionError(), KeyboardInterrupt())
    answers: dict[str, Any] = {type(error).__name__: error for error in raised}
    answers |= {"object": [Hostile()], "surrogate": ["\ud800"], "fine": ["a"]}

    def search(query: str, k: int) -> Any:
        if isinstance(answers[query], BaseException):
            raise answers[query]
        return answers[query]

    run = retrieve(search, list(answers), k=1, workers=1)
    assert run.report.answered == 1
    kinds = [*(type(error).__name__ for error in raised), "RuntimeError", "bad answer"]
    assert dict(run.report.errors) == dict.fromkeys(sorted(kinds), 1)


def drive(search: Any, n: int, write: Any, **pace: Any) -> AnswerCounts:
    counts = AnswerCounts(1)
    questions = [(i, Question(f"{i}", f"{i}")) for i in range(n)]
    retriever = from_callable(search, name="search")
    checked = lambda numbers, lines: write(counts, numbers, lines)  # noqa: E731
    Driver(retriever, questions, 1, Pace(**pace), counts, checked).run()
    return counts


def test_each_line_is_written_once_whoever_comes_meanwhile() -> None:
    written: list[int] = []
    inside = threading.Lock()

    def write(counts: AnswerCounts, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        assert inside.acquire(blocking=False), "one at a time"
        assert counts.done == len(written), "counted only when written"
        time.sleep(0.001)
        written.extend(numbers)
        inside.release()

    assert drive(lambda query, k: ["a"], 100, write, workers=4).answered == 100
    assert sorted(written) == list(range(100))


@given(st.lists(st.sampled_from(["answer", "late", "lost"]), min_size=1, max_size=30))
def test_errors_are_held_back_until_something_works(plan: list[str]) -> None:
    written: list[int] = []
    right: list[bool] = []

    def search(query: str, k: int) -> list[str]:
        before = plan[: int(query)]
        right.append(written == (list(range(len(before))) if "answer" in before else []))
        if plan[int(query)] != "answer":
            raise AskFailed(plan[int(query)], "no")
        return ["a"]

    def write(_: AnswerCounts, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        written.extend(numbers)

    first = plan.index("answer") if "answer" in plan else len(plan)
    gave_up = len(set(plan[:SAME_FAILURES])) == 1 and first >= SAME_FAILURES
    if gave_up or "answer" not in plan:
        with pytest.raises(RetrieverFailed, match="cannot be asked" if gave_up else "failed on"):
            drive(search, len(plan), write, workers=1)
    else:
        assert drive(search, len(plan), write, workers=1).done == len(plan)
        assert written == list(range(len(plan)))
    assert all(right)


def test_errors_can_be_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []
    healthy = False

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        if query in ("3", "7") and not healthy:
            raise KeyError(query)
        return [query]

    questions, output = [f"{i}" for i in range(10)], tmp_path / "run.jsonl"
    first = retrieve(search, questions, k=1, output=output)
    assert dict(first.report.errors) == {"KeyError": 2}
    assert Counter(asked) == Counter(questions)
    healthy = True
    last = retrieve(search, questions, k=1, output=output, retry_errors=True)
    assert (last.report.asked, last.report.failed, last.report.answered) == (2, 0, 10)
    assert [one["query"] for one in records(output)] == questions


def test_a_retriever_that_never_works_leaves_no_file(tmp_path: Path) -> None:
    asked = []

    def search(query: str, k: int) -> None:
        asked.append(query)

    output = tmp_path / "run.jsonl"
    with pytest.raises(RetrieverFailed, match=r"cannot be asked.*returned None.* No file"):
        retrieve(search, [f"q{i}" for i in range(1000)], output=output, workers=2)
    assert list(tmp_path.iterdir()) == []
    assert len(asked) <= SAME_FAILURES + 2


def test_a_dead_server_does_not_spoil_a_run_that_was_begun(server: Server, tmp_path: Path) -> None:
    questions, output = [f"fine {i}" for i in range(20)], tmp_path / "run.jsonl"
    about: Any = {"k": 2, "output": output, "results": "$.hits[*]", "retries": 0}
    retrieve(server.search, questions, **about)
    before = b"".join(output.read_bytes().splitlines(keepends=True)[:11])
    output.write_bytes(before)
    interrupt(output)
    server.shutdown()
    server.server_close()
    with pytest.raises(RetrieverFailed, match=r"unreachable: .* 11 of 20 questions are finished"):
        retrieve(server.search, questions, **about)
    assert output.read_bytes() == before


@given(
    st.lists(st.sampled_from(["answer", "raise", "none", "empty"]), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_no_question_is_lost_whatever_happens(plan: list[str], workers: int) -> None:
    """Every question is counted once: answered or failed, as the plan says."""

    def search(query: str, k: int) -> Any:
        todo = plan[int(query)]
        if todo == "raise":
            raise KeyError(query)
        return {"answer": [query], "none": None, "empty": []}[todo]

    good = sum(todo in ("answer", "empty") for todo in plan)
    questions = [str(i) for i in range(len(plan))]
    try:
        run = retrieve(search, questions, k=1, workers=workers)
    except CalipersError:
        # Where nothing at all was found there is nothing to measure, and that is said.
        assert "answer" not in plan or len(plan) - good >= SAME_FAILURES
        return
    assert "answer" in plan
    assert run.report.answered == good
    assert run.report.failed == len(plan) - good
    assert run.queries is not None
    assert run.queries["query"].to_list() == questions


def test_an_interruption_closes_what_hangs_and_records_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "GOODBYE_SECONDS", 0.1)
    closed = threading.Event()

    class Hanging(Session):
        def ask(self, question: Question, k: int, timeout: float | None) -> list[str]:
            if question.text == "hang":
                closed.wait(20)
                raise ConnectionError("closed")
            return ["a"]

        def close(self) -> None:
            closed.set()

    def interrupt(counts: AnswerCounts, _: int) -> None:
        if counts.done:
            raise KeyboardInterrupt

    output = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        retrieve(
            Retriever("hanging", {}, Hanging),
            ["fine", "hang"],
            k=1,
            workers=1,
            output=output,
            watch=interrupt,
        )
    assert closed.is_set()
    assert [one["query"] for one in records(output)] == ["fine"]
