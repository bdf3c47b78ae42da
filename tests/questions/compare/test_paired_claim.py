"""What is said of one paired test."""

import pytest

from calipers import compare
from calipers.model.fact import Fact
from calipers.questions.compare.paired_claim import claim_of, counts_of, decided, outweighed
from calipers.statistics.paired_rows import paired_rows
from tests.systems import NEW, OLD, records


def changed(better, worse, direction="better"):
    return Fact(about="difference", better=better, worse=worse, queries=9, direction=direction)


@pytest.mark.parametrize(
    ("better", "worse", "text"),
    [
        (None, None, "no query changed"),
        (2, None, "2 of 9 queries better, none worse"),
        (None, 3, "3 of 9 queries worse, none better"),
        (2, 2, "2 of 9 queries better, 2 worse"),
        (1, 2, "2 of 9 queries worse, 1 better"),
    ],
)
def test_the_larger_count_comes_first(better, worse, text):
    assert counts_of(changed(better, worse)) == text


def test_one_query_outweighs_only_where_others_point_the_other_way():
    for better, worse in ((None, 3), (3, None), (1, 1)):
        assert outweighed(changed(better, worse)) is None
    assert outweighed(changed(1, 2)) == "that one decides the mean"


@pytest.mark.parametrize(
    ("better", "worse", "direction", "text"),
    [
        (7, 2, "worse", "those 2 decide the mean"),
        (2, 7, "better", "those 2 decide the mean"),
        (7, 2, "better", None),
        (7, 2, "same", None),
        (2, 2, "worse", None),
    ],
)
def test_few_that_decide_the_mean_are_named(better, worse, direction, text):
    [row] = paired_rows([[0.1, 0.1, -0.1]])
    assert decided(changed(better, worse, direction), row) == text


def test_an_interval_that_one_query_decides_is_doubted_in_compare_as_in_the_gate():
    old, new = records([10] + [9] * 8 + [1] * 9), records([1] + [8] * 8 + [1] * 9)
    comparison = compare({"old": old, "new": new}, metrics="mrr")
    doubt = "; one query outweighs all others together, so more may differ."
    assert doubt in " ".join(str(comparison).split())
    assert comparison.difference("new", "mrr").claim.range.endswith(doubt)


def test_a_difference_names_both_systems():
    comparison = compare({"old": records(OLD), "new": records(NEW)}, metrics="mrr")
    difference = comparison.difference("new", "mrr")
    assert (difference.baseline, difference.system) == ("old", "new")
    assert difference.now - difference.before == pytest.approx(difference.difference)


@pytest.mark.parametrize(
    ("lost", "end"), [(6, "too little for an alarm"), (4, "this may be chance")]
)
def test_what_is_significant_and_rings_no_alarm_is_not_called_chance(lost, end):
    facts = compare({"old": records(OLD), "new": records(NEW)}, metrics="mrr").facts_of("mrr")
    [row] = paired_rows([[-1.0] * lost + [0.0] * 6])
    claim = claim_of(
        row,
        facts,
        1.0,
        0.5,
        over=("nightly", "since 3 November"),
        standing="no clear difference",
    )
    assert claim.fact == f"nightly fell: mrr is 0.500, it was 1.000 since 3 November; {end}."
