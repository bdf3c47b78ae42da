"""Callbacks for progress: what a watch must return, and what is said where it does not."""

from contextlib import nullcontext

import pytest

import calipers
from calipers.errors import InvalidInput

RECORDS = [{"query": "a", "retrieved": [], "ground_truth": ["x"]}]


@pytest.mark.parametrize(
    ("watch", "sentence"),
    [
        (lambda: None, "watch returned None; it returns a context manager"),
        (nullcontext, "watch returned None"),
        (lambda: nullcontext((1, 2, 3)), r"watch returned \(1, 2, 3\)"),
        (lambda needed: needed, "watch failed: TypeError"),
    ],
)
def test_a_watch_that_gives_no_callbacks_gets_a_sentence(watch, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        calipers.evaluate(RECORDS, retriever=lambda query, k: ["x"], watch=watch)


def test_a_watch_is_told_how_many_questions_there_are():
    told: list[int] = []
    watch = lambda: nullcontext((told.append, None))  # noqa: E731
    calipers.evaluate(RECORDS, retriever=lambda query, k: ["x"], watch=watch)
    assert told == [1]
