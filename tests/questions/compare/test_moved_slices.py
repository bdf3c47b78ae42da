"""A comparison names a slice that moved much more than all queries together."""

from calipers import compare
from calipers.model.fact import facts_of
from tests.systems import tagged

WORDS = "recall@5 (type=table) fell from 1.000 to 0.200; 8 of 10 queries worse, none better."
GOOD = {"table": [1] * 10, "text": [1, 1, 1, None] * 20}
BROKEN = {"table": [None] * 8 + [1] * 2, "text": [1, 1, 1, None] * 18 + [1] * 8}


def moved(old, new, **more):
    systems = {"old": tagged(old), "new": tagged(new)}
    return compare(systems, metrics="recall@5", **more).moved_slices


def test_a_slice_that_collapsed_is_named_though_the_mean_moves_little():
    [text] = moved(GOOD, BROKEN)
    assert text == f"{WORDS} Which: `calipers compare --where type=table --explain`"
    [fact] = [fact for fact in facts_of(text) if fact.about == "difference"]
    assert (fact.system, fact.against, fact.slice) == ("new", "old", "type=table")
    assert (fact.before, fact.value, fact.worse, fact.sure) == (1.0, 0.2, 8, True)


def test_exchanging_the_systems_exchanges_the_directions():
    [text] = moved(BROKEN, GOOD)
    assert text.startswith("recall@5 (type=table) rose from 0.200 to 1.000; 8 of 10 queries better")


def test_a_fall_and_a_rise_that_cancel_are_both_named():
    old = {"table": [1] * 12, "text": [None] * 12}
    new = {"table": [None] * 12, "text": [1] * 12}
    assert [text.split(";")[0] for text in moved(old, new)] == [
        "recall@5 (type=table) fell from 1.000 to 0.000",
        "recall@5 (type=text) rose from 0.000 to 1.000",
    ]


def test_a_loss_that_all_slices_share_is_no_matter_of_a_slice():
    lost = [None] * 15 + [1] * 5
    assert moved({"a": [1] * 20, "b": [1] * 20}, {"a": lost, "b": lost}) == ()


def test_seven_lost_of_a_slice_may_be_chance_at_the_level_for_slices():
    old = {"table": [1] * 7, "text": [1] * 80}
    assert moved(old, {**old, "table": [None] * 7}) == ()


def test_of_several_systems_the_one_is_named():
    systems = {name: tagged(found) for name, found in zip("abc", (GOOD, GOOD, BROKEN), strict=True)}
    [text] = compare(systems, metrics="recall@5").moved_slices
    assert text.startswith("recall@5 of c (type=table) fell")
