"""Ids that differ in how they are written: nothing is matched on a guess, but it is said.

Where nothing at all is in common it is an error, for ids, spans and quotes alike.
"""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import NoCommonIds, command_line
from calipers.match.notes import likely_rule

ALIKE = {
    "case": ("GIL", "gil", "upper and lower case"),
    "white space": ("the  gil", "the gil", "white space"),
    "what cannot be seen": ("gil\u200b", "gil", "cannot be seen"),
    "Unicode": ("caf\u00e9", "cafe\u0301", "form of their Unicode"),
    "leading zeros": ("007", "7", "leading zeros"),
    "decimals": ("7.0", "7", "a trailing '.0'"),
    "extension": ("docs/gil.md", "docs/gil", "the extension of a file name"),
    "path": ("docs/gil.md", "gil.md", "the prefix 'docs/'"),
    "path and extension": ("docs/gil.md", "gil", "the prefix 'docs/' and in the extension"),
}
RULES = ALIKE | {
    "zeros behind letters": ("q01", "q1", "leading zeros"),
    "zeros behind a sign": ("2024-03-q", "2024-3-q", "leading zeros"),
    "prefix with a sign": ("query-1", "1", "the prefix 'query-'"),
    "prefix of letters": ("q12", "12", "the prefix 'q'"),
    "a slash at the end": ("docs/a/", "docs/a", "a slash at the end"),
    "a sign": ("c-1", "c1", "signs such as hyphens"),
    "a percent sign": ("a%20b", "a b", "'%20'"),
    "full width": ("\uff43\uff11", "c1", "form of their Unicode"),
    "a path of Windows": ("docs\\a", "docs/a", "signs such as hyphens, slashes"),
    "quotation marks": ("'q1'", "q1", "quotation marks"),
}
OTHERS = [
    ("a.md", "a.txt"),
    ("x/17", "y/17"),
    ("part.one", "part.two"),
    ("v1.2", "v1"),
    ("7", "70"),
]


def notes(target, result, **options):
    """What is said where another query has ids in common, so that nothing is refused."""
    scores = calipers.evaluate(
        {"q": [result], "other": ["z"]},
        ground_truth={"q": [target], "other": ["z"]},
        metrics="recall@1",
        **options,
    )
    return scores["recall@1"].mean, scores.settings["notes"]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", ALIKE)
def test_a_target_with_nearly_the_name_of_a_result_is_said(case, swapped):
    one, other, said = ALIKE[case]
    mean, (note,) = notes(*((other, one) if swapped else (one, other)))
    assert mean == 0.5
    assert "1 target not found" in note
    assert said in note


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_names_that_may_be_two_things_are_two(one, other):
    assert notes(one, other) == (0.5, [])
    assert notes("docs/gil.md", "gil", map_ids="prefix=docs/,extension") == (1.0, [])


def test_documents_of_spans_are_held_against_each_other_too():
    def place(name):
        return {"document": name, "start": 0, "end": 9}

    rows = [
        {"query": "q", "retrieved": [place("a")], "ground_truth": [place("a.md")]},
        {"query": "other", "retrieved": [place("z")], "ground_truth": [place("z")]},
    ]
    for level in ("evidence", "document"):
        (note,) = calipers.evaluate(rows, metrics="recall@1", level=level).settings["notes"]
        assert "'a' for 'a.md'" in note


@given(st.dictionaries(st.sampled_from("qrs"), st.lists(st.sampled_from("abc"), unique=True)))
def test_nothing_is_said_where_names_are_the_same(run):
    truth = {"q": ["a"], "r": ["b", "c"], "s": ["c"], "other": ["z"]}
    scores = calipers.evaluate({**run, "other": ["z"]}, ground_truth=truth, metrics="recall@1")
    assert not any("nearly" in note for note in scores.settings["notes"])


RECORD = {
    "query": "q",
    "retrieved": ["docs/Secret.md"],
    "ground_truth": [],
    "forbidden": ["secret"],
}
OTHER = {"query": "other", "retrieved": ["docs/z.md"], "ground_truth": ["docs/z.md"]}


def test_what_is_forbidden_is_mapped_as_all_ids_are():
    scores = calipers.evaluate([RECORD, OTHER], metrics="leak@1")
    assert scores["leak@1"].mean == 0
    assert "'docs/Secret.md' for 'secret', query 'q'" in scores.settings["notes"][-1]
    mapped = calipers.evaluate(
        [RECORD, OTHER], metrics="leak@1,recall@1", map_ids="prefix=docs/,extension,case"
    )
    assert (mapped["leak@1"].mean, mapped["recall@1"].mean) == (1, 1)
    assert mapped.settings["notes"] == []


@pytest.mark.parametrize(
    "record",
    [
        {"retrieved": ["a.md", "a.txt"], "ground_truth": [], "forbidden": ["a.md"]},
        {"retrieved": ["a.md"], "ground_truth": ["a.txt"], "forbidden": ["a.md"]},
    ],
)
def test_a_map_that_makes_the_forbidden_and_the_allowed_one_is_refused(record):
    with pytest.raises(calipers.errors.InvalidInput, match="both become 'a'"):
        calipers.evaluate([{"query": "q", **record}, OTHER], metrics="leak@1", map_ids="extension")


WANTED = "only one thread runs Python code at a time"


def records(result: dict[str, Any], target: Any) -> list[dict[str, Any]]:
    return [{"query": "q", "retrieved": [result], "ground_truth": [target]}]


def span(document: str, start: int = 0, end: int = 9) -> dict[str, Any]:
    return {"document": document, "start": start, "end": end}


CASES: dict[str, tuple[dict[str, Any], Any, tuple[str, ...]]] = {
    "extension": (
        span("a.md"),
        span("a"),
        ("no document in common", "'a.md'", "'a'", "extension", 'map_ids="extension"'),
    ),
    "case": (span("A"), span("a"), ("no document in common", 'map_ids="case"')),
    "prefix": (span("docs/a"), span("a"), ("prefix 'docs/'", 'map_ids="prefix=docs/"')),
    "number": (span("17"), span("a"), ("all numbers",)),
    "ids taken as quotes": (
        {"id": "a#6", "text": "a lock"},
        "chunk-a#6",
        ("'a#6'", "'chunk-a#6'", 'map_ids="prefix=chunk-"'),
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
    "ids with blanks beside texts": (
        {"id": "Hand%20book%201.pdf", "text": "Nothing of it."},
        "Hand book 1.pdf",
        ("no id in common", 'map_ids="percent"'),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_shows_both_sides_and_the_likely_rule_unless_zero_is_wanted(name: str) -> None:
    result, target, words = CASES[name]
    with pytest.raises(NoCommonIds) as caught:
        calipers.evaluate(records(result, target), metrics="recall@1")
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "--" not in str(caught.value)  # Python has keywords
    with command_line(), pytest.raises(NoCommonIds) as caught:
        calipers.evaluate(records(result, target), metrics="recall@1")
    typed = [re.sub(r'map_ids="(.*)"', r"--map-ids \1", word) for word in words]
    assert all(word in str(caught.value) for word in typed), str(caught.value)
    scores = calipers.evaluate(records(result, target), metrics="mrr", nothing_in_common="zero")
    assert (scores["mrr"].mean, scores.policy.nothing_in_common) == (0, "zero")


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


UNLIKE = [("abc", "bc"), ("q112", "12"), ("1.05", "1.5"), ("q10", "q1"), ("one", "two")]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", RULES)
def test_the_rule_is_named_from_either_side(case, swapped):
    one, other, said = RULES[case]
    sides = ([other, "x"], ["y", one]) if swapped else ([one, "x"], ["y", other])
    assert said in likely_rule(*sides)
    if case == "path and extension":
        assert "give --map-ids prefix=docs/,extension," in likely_rule(*sides)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_what_is_not_alike_has_no_rule(one, other):
    assert likely_rule([one], [other]) is None
    assert likely_rule([other], [one]) is None


@pytest.mark.parametrize("case", RULES)
def test_queries_that_are_named_in_two_ways_are_said_and_not_matched(case):
    ours, theirs, said = RULES[case]
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


def test_a_map_that_is_proposed_can_be_carried_out():
    """Two targets differ in their endings alone, so that these cannot be taken off."""
    truth = {"q": ["x.md", "x.txt"], "r": ["y.md"]}
    run = {"q": ["x"], "r": ["y"]}
    with pytest.raises(NoCommonIds) as caught:
        calipers.evaluate(ground_truth=truth, run=run)
    assert "They differ in the extension of a file name: write them alike" in str(caught.value)
    found = calipers.evaluate(ground_truth=truth, run={**run, "r": ["y.md"]})
    assert "extension of a file name: write them alike" in " ".join(found.settings["notes"])


def test_what_is_said_of_ids_already_stays_in_the_next_map():
    truth = {"q": ["a.md", "b.md"]}
    with pytest.raises(NoCommonIds, match=r'map_ids="prefix=docs/,case", or'):
        calipers.evaluate(ground_truth=truth, run={"q": ["docs/A.md"]}, map_ids="prefix=docs/")
    run = {"q": ["docs/A.md"]}
    both = "prefix=docs/,case"
    result = calipers.evaluate(ground_truth=truth, run=run, map_ids=both, metrics="recall@1")
    assert result["recall@1"].mean == 0.5
