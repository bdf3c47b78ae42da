"""Tokens and recall at equal budget, held to a loop over the results."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.questions.compare.leaderboard import at_equal_budget, recall_within

result = st.tuples(st.integers(0, 9), st.integers(1, 30))
one_list = st.lists(result, max_size=8, unique_by=lambda one: one[0])
lists = st.lists(one_list, min_size=1, max_size=5)


def pair_of(queries):
    made = [
        {
            "query": f"q{i}",
            "ground_truth": ["0", "3"],
            "retrieved": [{"id": f"{item}", "tokens": tokens} for item, tokens in results],
        }
        for i, results in enumerate(queries)
    ]
    found = {"query": "found", "ground_truth": ["0"], "retrieved": [{"id": "0", "tokens": 5}]}
    return calipers.read([*made, found])


@settings(max_examples=20)
@given(lists, st.integers(1, 100))
def test_recall_within_a_budget_takes_results_while_they_fit(queries, budget):
    expected: list[float] = []
    for results in [*queries, [(0, 5)]]:
        wanted = {0, 3} if len(expected) < len(queries) else {0}
        used, found = 0, set()
        for item, tokens in results:
            used += tokens
            if used > budget:
                break
            found.add(item)
        expected.append(len(wanted & found) / len(wanted))
    assert recall_within(pair_of(queries), budget) == pytest.approx(np.mean(expected))


def test_the_budget_is_that_of_the_dearest_system():
    cheap = pair_of([[(0, 10), (1, 10), (2, 10), (3, 10)]] * 8)
    dear = pair_of([[(1, 25), (0, 25), (3, 25)]] * 8)
    pairs = {"cheap": cheap, "dear": dear}
    compared = calipers.compare(pairs, k=3, anyway=True)
    board = at_equal_budget(compared, pairs).leaderboard
    tokens = {one.system: one.tokens for one in board.rows}
    assert tokens == {"cheap": pytest.approx((8 * 30 + 5) / 9), "dear": pytest.approx(605 / 9)}
    assert board.budget == 75
    means = {one.system: one.mean for one in board.rows}
    assert means == {"cheap": pytest.approx(5 / 9), "dear": 1.0}
    assert {one.system: one.at_budget for one in board.rows} == {"cheap": 1.0, "dear": 1.0}


def test_without_texts_there_are_no_tokens():
    truth = {f"q{i}": ["a"] for i in range(6)}
    runs = {"x": {q: ["a", "b"] for q in truth}, "y": {q: ["b", "a"] for q in truth}}
    board = calipers.compare(runs, truth, k=1).leaderboard
    assert {one.tokens for one in board.rows} == {None}


def test_tokens_are_those_of_the_primary_metric_however_it_is_spelled():
    queries = [[(0, 10), (1, 20), (3, 30)]] * 4
    systems = {name: pair_of(queries) for name in ("a", "b")}
    board = calipers.compare(systems, primary="R@1").leaderboard
    assert [one.tokens for one in board.rows] == [pytest.approx((4 * 10 + 5) / 5)] * 2
