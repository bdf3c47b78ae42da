"""The first sentence of a comparison, and its standing."""

import pytest

from calipers import compare
from calipers.questions.compare.answer import answer
from tests.systems import records

SMALL_LOSSES = ([3] * 6 + [None] + [2] * 13, [4] * 6 + [1] + [2] * 13)
"""Ranks of 20 queries: six lose a little, and one gains more than all of them lost."""


def said_of(metrics="mrr", **systems):
    comparison = compare({name: records(ranks) for name, ranks in systems.items()}, metrics=metrics)
    return answer(comparison)


def test_what_is_worse_is_said_and_not_what_is_better_elsewhere():
    expected = ("worse", "new is worse than old: mrr is 0.333, it was 1.000.")
    assert said_of(old=[1] * 20, new=[3] * 20) == expected
    standing, sentence = said_of(old=[3] * 20, new=[1] * 20)
    assert (standing, sentence.split(":")[0]) == ("better", "new is better than old")


@pytest.mark.parametrize("way", ["worse", "better"])
def test_one_query_that_outweighs_the_others_is_said(way):
    old, new = SMALL_LOSSES if way == "worse" else SMALL_LOSSES[::-1]
    other = "better" if way == "worse" else "worse"
    counts = f"6 of 20 queries {way}, 1 {other}; that one decides the mean."
    assert said_of(old=old, new=new)[1] == f"mrr: {counts}"
    assert said_of(old=old, new=new, same=old)[1] == f"mrr of new: {counts}"


def test_where_most_queries_and_the_mean_agree_nothing_is_hidden():
    sentence = said_of(old=[3] * 5 + [1] + [2] * 14, new=[4] * 5 + [2] + [2] * 14)[1]
    assert "decides the mean" not in sentence


def test_systems_that_moved_alike_stand_together_and_others_do_not():
    before = [1] * 4 + [None] * 4
    fell = [None, None, 1, 1] + [None] * 4
    rose = [1] * 6 + [None] * 2
    alone = "mrr of fell fell from 0.500 to 0.250 on 8 queries; this may be chance."
    assert said_of(before=before, fell=fell, rose=rose)[1] == alone
    both = said_of(before=before, fell=fell, again=fell)[1]
    assert both.startswith("mrr of fell and again fell from 0.500 to 0.250")


def test_of_changes_that_may_be_chance_the_primary_metric_leads_and_then_the_larger_fall():
    before = [1] * 4 + [None] * 4
    rose = [1] * 6 + [None] * 2
    fell = [None, None, 1, 1] + [None] * 4
    lower = [None] * 3 + [1] + [None] * 4
    sentence = said_of("mrr,hit_rate@1", before=before, rose=rose, fell=fell)[1]
    assert sentence.startswith("mrr of fell fell from 0.500 to 0.250")
    # The one that fell further stands first among those that fell.
    sentence = said_of(before=before, fell=fell, lower=lower)[1]
    assert sentence.startswith("mrr of lower and fell fell from 0.500 to 0.125 and 0.250")
