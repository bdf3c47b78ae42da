"""The queries that contrast most come first, as a loop over them says."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.compare.query_differences import ONLY, contrast

RANKS = st.lists(st.integers(1, 4), min_size=3, max_size=9)


def comparison(first, second):
    def run(ranks):
        return [
            {
                "query": f"what is {n}",
                "retrieved": [*"xyzw"[: rank - 1], "hit"],
                "ground_truth": ["hit"],
            }
            for n, rank in enumerate(ranks)
        ]

    return calipers.compare({"a": run(first), "b": run(second)}, metrics="mrr", anyway=True)


@settings(max_examples=25)
@given(st.data(), RANKS, st.sampled_from(list(ONLY)), st.integers(1, 4))
def test_a_page_is_what_a_loop_gives(data, first, only, size):
    second = data.draw(st.lists(st.integers(1, 4), min_size=len(first), max_size=len(first)))
    apart = [1 / b - 1 / a for a, b in zip(first, second, strict=True)]
    order = sorted(range(len(first)), key=lambda n: (-abs(apart[n]), n))
    asked = {"": lambda _: True, "worse": lambda one: one < 0, "better": lambda one: one > 0}
    order = [n for n in order if asked.get(only, bool)(apart[n])]
    page = data.draw(st.integers(1, 3))
    found = contrast(comparison(first, second), "mrr", only=only, page=page, size=size)
    pages = max(1, -(-len(order) // size))
    at = min(page, pages)
    assert [one.query for one in found.rows] == [
        f"what is {n}" for n in order[(at - 1) * size : at * size]
    ]
    assert (found.found, found.pages, found.page) == (len(order), pages, at)
    for one in found.rows:
        n = int(one.query.split()[-1])
        assert one.values == (1 / first[n], 1 / second[n])
        assert one.difference == one.values[1] - one.values[0]
        assert (one.worse, one.better) == (("b",) * (apart[n] < 0), apart[n] > 0)


@pytest.mark.parametrize("asked", [{"text": "IS 2"}, {"among": pl.Series(["what is 2", "x"])}])
def test_other_queries_are_left_out(asked):
    found = contrast(comparison([1, 2, 3], [2, 2, 1]), "mrr", **asked)
    assert [one.query for one in found.rows] == ["what is 2"]


def test_of_a_metric_of_which_less_is_better_more_is_worse():
    records = [{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}]
    better = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]
    made = calipers.compare({"a": better, "b": records}, metrics="first_rank")
    assert [one.worse for one in contrast(made, "first_rank", only="worse").rows] == [("b",)]
    assert contrast(made, "first_rank", only="better").rows == ()


def test_a_choice_that_does_not_exist_gets_a_sentence():
    with pytest.raises(InvalidInput, match="choose worse, better, different"):
        contrast(comparison([1], [2]), "mrr", only="odd")


def test_a_text_is_looked_for_as_it_is_written():
    pair = comparison([1, 2], [2, 1])
    assert contrast(pair, "mrr", text="what.is").found == 0
    assert contrast(pair, "mrr", text=" What IS 1 ").found == 1
