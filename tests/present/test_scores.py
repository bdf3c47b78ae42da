"""Each case that was counted is said once."""

from typing import Any

import pytest

import calipers
from calipers.model.document import in_order
from calipers.present.scores import notes_of, verdict


def note_lines(notes):
    return [one.text for one in in_order(notes)]


TRUTH: dict[str, Any] = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
RUN: dict[str, Any] = {"q": ["a", "b"], "r": ["b"]}


def said(**changes: Any) -> str:
    given = {"ground_truth": TRUTH, "run": RUN, "metrics": "mrr", **changes}
    return " | ".join(note_lines(notes_of(calipers.evaluate(**given))))


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"run": {"q": ["a"]}}, "1 query missing from the run (r): scored 0."),
    "excluded": ({"run": {"q": ["a"]}, "missing": "exclude"}, "(r): left out."),
    "empty": ({"run": {"q": ["a"], "r": []}}, "1 query without results: scored 0."),
    "unknown": ({"run": {**RUN, "s": ["a"]}}, "not in the ground truth (s): not measured."),
    "hopeless": (
        {"ground_truth": {**TRUTH, "r": {}}},
        "1 query without any relevant target: left out; something was returned for it.",
    ),
    "hopeless and silent": (
        {"ground_truth": {**TRUTH, "r": {}}, "run": {"q": ["a"], "r": []}},
        "left out; nothing was returned for it.",
    ),
    "several hopeless": (
        {"ground_truth": {**TRUTH, "r": {}, "s": {}}, "run": {**RUN, "s": []}},
        "2 queries without any relevant target: left out; nothing was returned for 1 of them.",
    ),
    "hopeless and zero": (
        {"ground_truth": {**TRUTH, "r": {}}, "unanswerable": "zero"},
        ": scored 0;",
    ),
    "hopeless and empty": (
        {"ground_truth": {**TRUTH, "r": {}}, "run": {"q": ["a"], "r": []}},
        "1 query without results: scored 0 where there was something to find.",
    ),
    "failed": (
        {"run": [{"query": "q", "retrieved": ["a"]}, {"query": "r", "error": "timeout"}]},
        "1 query on which the retriever failed: scored 0. r (timeout)",
    ),
    "duplicates": ({"run": {**RUN, "q": ["a", "a"]}}, "1 result returned a second time"),
    "ties": (
        {"run": {"q": {"a": 1.0, "b": 1.0}, "r": {"b": 1.0}}},
        "1 target found among equal scores: their rank is decided by ties=trec.",
    ),
    "repeated": ({"ground_truth": {"q": ["a", "a"], "r": ["a"]}}, "1 judgement given twice"),
    "unjudged": ({"metrics": "recall@1"}, "50% of the first results were never judged"),
    "one query": (
        {"ground_truth": {"q": ["a"]}, "run": {"q": ["a"]}},
        "No intervals: they need at least two",
    ),
    "confidence": ({"confidence": 0.999}, "Each mean with its 99.9% interval"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_case_in_words(case: str) -> None:
    changes, words = CASES[case]
    assert words in said(**changes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"like": "trec_eval"}, "missing=exclude, unanswerable=zero, nothing_in_common=zero"),
        ({"like": "trec_eval", "missing": "zero"}, "unanswerable=zero, nothing_in_common=zero"),
        ({"errors": "exclude", "ties": "error"}, "errors=exclude, ties=error"),
    ],
)
def test_policies_that_were_chosen_are_named_also_where_nothing_came_under_them(given, words):
    data: dict[str, Any] = {"ground_truth": {"q": {"a": 1}}, "run": {"q": {"a": 1.0}}}
    assert f"Policies other than the usual ones: {words}." in note_lines(
        notes_of(calipers.evaluate(**data, **given))
    )
    # The custom of the run's format decides among equal scores; nobody has chosen it.
    assert not [
        line for line in note_lines(notes_of(calipers.evaluate(**data))) if "Policies" in line
    ]


def test_a_retriever_that_failed_stands_in_the_first_line() -> None:
    def search(question: str) -> list[str]:
        if question == "who is 1?":
            raise ValueError("closed")
        return ["a"]

    truth = {f"who is {i}?": ["a"] for i in range(3)}
    scores = calipers.evaluate(ground_truth=truth, retriever=search, metrics="recall@10")
    assert verdict(scores).endswith("3 queries); the retriever failed on 1 of 3 (scored 0).")


def test_what_is_nearly_all_is_not_called_all():
    truth = {f"q{n}": ["a"] for n in range(40)}
    run = {query: [f"x{n}" for n in range(10)] for query in truth} | {"q0": ["a"]}
    printed = str(calipers.evaluate(ground_truth=truth, run=run, metrics="recall@10"))
    assert "Over 99% of the first 10 results were never judged" in printed
    assert "100%" not in printed
