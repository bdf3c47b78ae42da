"""Tokens of the first k results: given, estimated, unknown."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput

ESTIMATED = "Tokens are estimated as characters / 4; 'tokens' in the results are exact."


def record(query: str, results: list[dict[str, object]]) -> dict[str, object]:
    return {"query": query, "retrieved": results, "ground_truth": ["a0"]}


def values(records: list[dict[str, object]], k: int, **settings: Any) -> list[float | None]:
    scores = calipers.evaluate(records, metrics=f"tokens@{k}", **settings)
    return scores.per_query[f"tokens@{k}"].to_list()


lists = st.lists(st.lists(st.integers(0, 90), max_size=5), min_size=1, max_size=4)


@given(lists, st.integers(1, 6))
def test_tokens_are_those_that_a_loop_counts(lengths: list[list[int]], k: int) -> None:
    lengths = [[7], *lengths]
    given_tokens = [
        record(f"q{i}", [{"id": f"a{j}", "tokens": n, "text": "x"} for j, n in enumerate(several)])
        for i, several in enumerate(lengths)
    ]
    assert values(given_tokens, k) == [float(sum(several[:k])) for several in lengths]
    texts = [
        record(f"q{i}", [{"id": f"a{j}", "text": "x" * (n + 1)} for j, n in enumerate(several)])
        for i, several in enumerate(lengths)
    ]
    expected = [float(sum(math.ceil((n + 1) / 4) for n in several[:k])) for several in lengths]
    assert values(texts, k) == expected


def test_where_tokens_are_not_known() -> None:
    some = [
        record("q0", [{"id": "a0", "tokens": 5}, {"id": "a1"}]),
        record("q1", [{"id": "a0", "tokens": 3}]),
        record("q2", []),
    ]
    assert values(some, 1) == [5.0, 3.0, 0.0]
    assert values(some, 2) == [None, 3.0, 0.0]
    with pytest.raises(InvalidInput, match="no result has any, nor a text"):
        values([record("q0", [{"id": "a0"}])], 1)


def test_what_was_never_answered_is_no_saving() -> None:
    run = {"q0": [{"id": "a0", "tokens": 5}]}
    truth = {"q0": ["a0"], "q1": ["a0"]}
    scores = calipers.evaluate(ground_truth=truth, run=run, metrics="tokens@5,recall@5")
    assert scores.per_query["tokens@5"].to_list() == [5.0, None]
    assert scores.per_query["recall@5"].to_list() == [1.0, 0.0]


def test_an_estimate_is_said() -> None:
    texts = [record("q0", [{"id": "a0", "text": "four"}])]
    assert ESTIMATED in calipers.evaluate(texts, metrics="tokens@1").settings["notes"]
    assert ESTIMATED not in calipers.evaluate(texts, metrics="recall@1").settings["notes"]
    exact = [record("q0", [{"id": "a0", "tokens": 3}])]
    assert ESTIMATED not in calipers.evaluate(exact, metrics="tokens@1").settings["notes"]


def test_fewer_tokens_are_better() -> None:
    long = [record(f"q{i}", [{"id": "a0", "tokens": 400 + i}]) for i in range(12)]
    short = [record(f"q{i}", [{"id": "a0", "tokens": 100 + i}]) for i in range(12)]
    found = calipers.compare({"long": long, "short": short}, metrics="tokens@1")
    assert found.difference("short", "tokens@1").verdict == "better"
    before = calipers.evaluate(long, metrics="tokens@1")
    assert calipers.gate(short, baseline=before, metrics="tokens@1").passed
    assert not calipers.gate(long, require="tokens@1 <= 300", metrics="tokens@1").passed
    sweep = calipers.sweep(long, metrics="recall,tokens")
    assert sweep.points[0].values["tokens"].mean == pytest.approx(405.5)
