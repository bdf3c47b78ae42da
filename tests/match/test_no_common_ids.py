"""Nothing in common is an error, for ids, spans and quotes alike."""

from typing import Any

import pytest

import calipers
from calipers.errors import NoCommonIds

WANTED = "only one thread runs Python code at a time"


def records(result: dict[str, Any], target: Any) -> list[dict[str, Any]]:
    return [{"query": "q", "retrieved": [result], "ground_truth": [target]}]


def span(document: str, start: int = 0, end: int = 9) -> dict[str, Any]:
    return {"document": document, "start": start, "end": end}


CASES: dict[str, tuple[dict[str, Any], Any, tuple[str, ...]]] = {
    "extension": (
        span("a.md"),
        span("a"),
        ("no document in common", "'a.md'", "'a'", "extension", "--map-ids extension"),
    ),
    "case": (span("A"), span("a"), ("no document in common", "--map-ids case")),
    "prefix": (
        span("docs/a"),
        span("a"),
        ("prefix 'docs/'", "--map-ids prefix=docs/"),
    ),
    "number": (span("17"), span("a"), ("all numbers",)),
    "ids taken as quotes": (
        {"id": "a#6", "text": "a lock"},
        "chunk-a#6",
        ("'a#6'", "'chunk-a#6'", "--map-ids prefix=chunk-"),
    ),
    "quotes": (
        {"text": "Nothing of it."},
        {"quote": WANTED},
        ("no text in common", "'Nothing of it.'", "same documents"),
    ),
    "quotes in capitals": (
        {"text": WANTED.upper()},
        {"quote": WANTED},
        ("no text in common", "quote(case=ignore)"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_shows_both_sides_and_the_likely_rule(name: str) -> None:
    result, target, words = CASES[name]
    with pytest.raises(NoCommonIds) as caught:
        calipers.evaluate(records(result, target), metrics="recall@1")
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_zero_for_those_who_want_it(name: str) -> None:
    result, target, _ = CASES[name]
    scores = calipers.evaluate(records(result, target), metrics="mrr", nothing_in_common="zero")
    assert scores["mrr"].mean == 0
    assert scores.policy.nothing_in_common == "zero"


def test_trec_eval_gives_zeros() -> None:
    scores = calipers.evaluate(
        ground_truth={"q": ["a"]}, run={"q": ["b"]}, metrics="map", like="trec_eval"
    )
    assert scores["map"].mean == 0


FOUND_NOTHING = {
    "another place of the document": (span("a", 50, 59), span("a")),
    "another part of the document": (
        {"text": "Nothing.", "document": "a"},
        {"quote": WANTED, "document": "a"},
    ),
    "a part of the quote": ({"text": f"It says that {WANTED[:30]}"}, {"quote": WANTED}),
}


@pytest.mark.parametrize("name", FOUND_NOTHING)
def test_a_retriever_that_finds_nothing_scores_0(name: str) -> None:
    result, target = FOUND_NOTHING[name]
    assert calipers.evaluate(records(result, target), metrics="mrr")["mrr"].mean == 0


def test_the_rule_is_found_among_many_ids() -> None:
    run = {"q": [f"x{n}" for n in range(50)] + ["corpus:17"]}
    with pytest.raises(NoCommonIds, match=r"prefix 'corpus:'"):
        calipers.evaluate(ground_truth={"q": ["3", "4", "5", "17"]}, run=run)
