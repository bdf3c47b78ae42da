"""Tokens beside the means of a leaderboard."""

import pytest

import calipers


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


def test_tokens_are_the_mean_over_the_results_that_the_metric_reads():
    cheap = pair_of([[(0, 10), (1, 10), (2, 10), (3, 10)]] * 8)
    dear = pair_of([[(1, 25), (0, 25), (3, 25)]] * 8)
    board = calipers.compare({"cheap": cheap, "dear": dear}, k=3, anyway=True).leaderboard
    tokens = {one.system: one.tokens for one in board.rows}
    assert tokens == {"cheap": pytest.approx((8 * 30 + 5) / 9), "dear": pytest.approx(605 / 9)}


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
