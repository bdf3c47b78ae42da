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


def test_thirteen_worse_and_three_better_of_twenty_are_named():
    old = {"table": [1] * 15 + [None] * 5, "text": [1, 1, 1, None] * 15}
    new = {"table": [None] * 13 + [1, 1] + [1] * 3 + [None] * 2, "text": [1, 1, 1, None] * 15}
    [text] = moved(old, new)
    assert "(type=table) fell from 0.750 to 0.250; 13 of 20 queries worse, 3 better" in text


def test_six_lost_of_a_slice_are_named_and_five_may_be_chance():
    old = {"table": [1] * 10, "text": [1] * 80}
    six, five = ({**old, "table": [None] * lost + [1] * (10 - lost)} for lost in (6, 5))
    assert len(moved(old, six)) == 1
    assert moved(old, five) == ()


def test_what_chance_does_in_one_of_many_slices_is_not_named():
    """Six lost, none won in one of ten slices: p = .03 by itself, and the others change more."""
    halves = {f"s{at}": [1] * 9 + [None] * 7 for at in range(9)}
    turned = {name: [None] * 9 + [1] * 7 for name in halves}
    old, new = ({"table": [1] * 16, **halves}, {"table": [None] * 6 + [1] * 10, **turned})
    systems = {"old": tagged(old), "new": tagged(new)}
    for record in (*systems["old"], *systems["new"]):
        record["query"] = record["id"]  # equal texts would be one cluster
    assert compare(systems, metrics="recall@5").moved_slices == ()


def test_a_stricter_level_names_less():
    old = {"table": [1] * 10, "text": [1] * 80}
    new = {**old, "table": [None] * 7 + [1] * 3}
    assert len(moved(old, new)) == 1
    assert moved(old, new, confidence=0.99) == ()


def test_of_several_systems_the_one_is_named():
    systems = {name: tagged(found) for name, found in zip("abc", (GOOD, GOOD, BROKEN), strict=True)}
    [text] = compare(systems, metrics="recall@5").moved_slices
    assert text.startswith("recall@5 of c (type=table) fell")
