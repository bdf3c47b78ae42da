"""Which rule would make ids equal, and when none is named."""

import pytest

import calipers
from calipers.match.likely_rule import likely_rule

ALIKE = {
    "case": ("Q1", "q1", "upper and lower case"),
    "white space": ("q1 ", "q1", "white space"),
    "decimals": ("1.0", "1", "a trailing '.0'"),
    "zeros in front": ("007", "7", "leading zeros"),
    "zeros behind letters": ("q01", "q1", "leading zeros"),
    "zeros behind a sign": ("2024-03-q", "2024-3-q", "leading zeros"),
    "prefix with a sign": ("query-1", "1", "the prefix 'query-'"),
    "prefix of letters": ("q12", "12", "the prefix 'q'"),
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
