"""Many hand in at once; each line is written once, and counts only when it is written."""

import threading
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import RetrieverFailed
from calipers.live.adapters.base import Question
from calipers.live.driver import SAME_FAILURES, Finished, Ledger
from calipers.live.failures import AskFailed
from calipers.live.run_file import AnswerCounts, RunEntry, encode

WORKERS = 4


def answered(number: int) -> Finished:
    entry = RunEntry(f"q{number}", [])
    return Finished(number, Question(f"q{number}", f"q{number}"), entry, encode(entry))


def failed(number: int, kind: str = "timeout") -> Finished:
    question = Question(f"q{number}", f"q{number}")
    entry = RunEntry.failed(question, f"{kind}: no")
    return Finished(number, question, entry, encode(entry), AskFailed(kind, "no"))


class Place:
    """Where lines go; slow, so that others come meanwhile."""

    def __init__(self, counts: AnswerCounts, seconds: float = 0.0) -> None:
        self.numbers: list[int] = []
        self.counts = counts
        self.seconds = seconds
        self.inside = 0

    def write(self, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        self.inside += 1
        assert self.inside == 1, "one at a time"
        assert self.counts.done == len(self.numbers), "counted only when written"
        time.sleep(self.seconds)
        assert len(numbers) == len(lines)
        self.numbers += numbers
        self.inside -= 1


def test_each_line_is_written_once_whoever_comes_meanwhile() -> None:
    counts = AnswerCounts(1)
    place = Place(counts, 0.001)
    ledger = Ledger("search", counts, place.write, threading.Event())

    def work(first: int) -> None:
        for number in range(first, 200, WORKERS):
            ledger.add(answered(number))

    workers = [threading.Thread(target=work, args=(first,)) for first in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(place.numbers) == list(range(200))
    assert counts.answered == 200


@given(st.lists(st.sampled_from(["answer", "timeout", "reset"]), max_size=30))
def test_errors_are_held_back_until_something_works(plan: list[str]) -> None:
    counts, stop = AnswerCounts(1), threading.Event()
    place = Place(counts)
    ledger = Ledger("search", counts, place.write, stop)
    for number, todo in enumerate(plan):
        ledger.add(answered(number) if todo == "answer" else failed(number, todo))
        before = plan[: number + 1]
        works = "answer" in before
        assert place.numbers == (list(range(number + 1)) if works else [])
    first = plan.index("answer") if "answer" in plan else len(plan)
    gave_up = len(set(plan[:SAME_FAILURES])) == 1 and first >= SAME_FAILURES
    assert stop.is_set() == gave_up
    if gave_up or (plan and "answer" not in plan):
        with pytest.raises(RetrieverFailed, match="cannot be asked" if gave_up else "failed on"):
            ledger.settle()
    else:
        ledger.settle()
        assert counts.done == len(plan)
