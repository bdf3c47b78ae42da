"""Several calls for one query as one ranking, in the order of calls and of ranks within them."""

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load_run
from calipers.match.calls import numbered, one_ranking

RESULTS = [
    {"id": "b", "call": 2},
    {"id": "a", "call": 1},
    {"id": "c", "call": 2},
    {"id": "d", "call": 1},
]


def run_of(**results):
    return load_run([{"query": query, "retrieved": some} for query, some in results.items()])


def test_ranks_begin_anew_with_each_call():
    rows = numbered(run_of(q=RESULTS, r=[{"id": "x"}, {"id": "y"}]))
    assert rows.select("query", "call", "rank", "item").rows() == [
        ("q", 1, 1, "a"),
        ("q", 1, 2, "d"),
        ("q", 2, 1, "b"),
        ("q", 2, 2, "c"),
        ("r", 1, 1, "x"),
        ("r", 1, 2, "y"),
    ]


@pytest.mark.parametrize(("how", "items"), [("all", "adbc"), ("last", "bc")])
def test_all_calls_or_the_last_one_are_the_ranking(how, items):
    ranking = one_ranking(run_of(q=RESULTS), how).frame
    assert "".join(ranking["item"]) == items


@pytest.mark.parametrize("odd", [0, None])
def test_a_call_that_has_no_number_from_1_on_is_named(odd):
    results = [{"id": "a", "call": 1}, {"id": "b", "call": odd}]
    with pytest.raises(InvalidInput, match=f"A result of query 'r' has the call {odd};"):
        numbered(run_of(q=RESULTS, r=results))


def test_a_call_of_0_alone_is_refused():
    with pytest.raises(InvalidInput, match="calls are numbered from 1"):
        calipers.calls(
            [{"query": "q", "ground_truth": ["a"], "retrieved": [{"id": "a", "call": 0}]}]
        )
