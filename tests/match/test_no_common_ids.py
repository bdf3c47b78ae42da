"""Nothing in common is an error, for ids, spans and quotes alike."""

from typing import Any

import pytest

import calipers
from calipers.errors import NoCommonIds
from calipers.match.notes import likely_rule

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


ALIKE = {
    "case": ("Q1", "q1", "upper and lower case"),
    "white space": ("q  1", "q 1", "white space"),
    "decimals": ("1.0", "1", "a trailing '.0'"),
    "zeros in front": ("007", "7", "leading zeros"),
    "zeros behind letters": ("q01", "q1", "leading zeros"),
    "zeros behind a sign": ("2024-03-q", "2024-3-q", "leading zeros"),
    "prefix with a sign": ("query-1", "1", "the prefix 'query-'"),
    "prefix of letters": ("q12", "12", "the prefix 'q'"),
    "a slash at the end": ("docs/a/", "docs/a", "a slash at the end"),
    "a path of Windows": ("docs\\a", "docs/a", "slashes and backslashes"),
    "quotation marks": ("'q1'", "q1", "quoted on one side"),
}
OTHERS = [("abc", "bc"), ("q112", "12"), ("1.05", "1.5"), ("q10", "q1"), ("one", "two")]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", ALIKE)
def test_the_rule_is_named_from_either_side(case, swapped):
    one, other, said = ALIKE[case]
    sides = ([other, "x"], ["y", one]) if swapped else ([one, "x"], ["y", other])
    assert said in likely_rule(*sides)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_what_is_not_alike_has_no_rule(one, other):
    assert likely_rule([one], [other]) is None
    assert likely_rule([other], [one]) is None


@pytest.mark.parametrize("case", ALIKE)
def test_queries_that_are_named_in_two_ways_are_said_and_not_matched(case):
    ours, theirs, said = ALIKE[case]
    scores = calipers.evaluate(
        {ours: ["a"], "shared": ["b"]},
        ground_truth={theirs: ["a"], "shared": ["b"]},
        metrics="recall@1",
    )
    assert scores["recall@1"].mean == 0.5
    (note,) = scores.settings["notes"]
    assert note.startswith("Some queries seem to be named in two ways")
    assert said in note


@pytest.mark.parametrize(
    ("ours", "theirs"), [(["Q1", "q1"], ["q1"]), (["q1"], ["q1", "Q1"]), (["x"], ["y"])]
)
def test_nothing_is_said_where_one_side_lacks_nothing_or_nothing_is_alike(ours, theirs):
    run, truth = ({one: ["a"] for one in ("shared", *side)} for side in (ours, theirs))
    scores = calipers.evaluate(run, ground_truth=truth, metrics="recall@1")
    assert not scores.settings["notes"]
