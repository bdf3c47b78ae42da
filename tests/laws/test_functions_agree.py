"""Every one-query function gives what the whole evaluation gives for that query."""

import math
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import functions
from tests.strategies import ids, judgements

# Each function with the metric it is the one-query form of.
PAIRS: dict[Callable[..., Any], str] = {
    calipers.precision_at_k: "precision@{k}",
    calipers.recall_at_k: "recall@{k}",
    calipers.hit_rate_at_k: "hit_rate@{k}",
    calipers.f1_at_k: "f1@{k}",
    calipers.reciprocal_rank: "mrr@{k}",
    calipers.average_precision: "map@{k}",
    calipers.ndcg_at_k: "ndcg@{k}",
}
COUNTS = ("tp", "fp", "fn", "tn")


def test_no_function_is_left_out() -> None:
    public = {name for name in calipers.__all__ if hasattr(functions, name) and name.islower()}
    assert public == {function.__name__ for function in PAIRS} | {"confusion_at_k"}


@given(
    st.lists(ids, max_size=10),
    judgements,
    st.sampled_from([1, 2, 5, 40]),
)
def test_one_query_equals_the_batch(ranking, grades, k) -> None:
    names = {function: name.format(k=k) for function, name in PAIRS.items()}
    plain = [*names.values(), *(f"{count}@{k}" for count in COUNTS)]
    whole = ["mrr", "map", f"ndcg@{k}(gain=exp)"]
    scores = calipers.evaluate(
        ground_truth={"anchor": ["z"], "q": grades},
        run={"anchor": ["z"], "q": ranking},
        metrics=[*plain, *whole],
        corpus_size=50,
        unanswerable="zero",
    )
    batch = dict(zip([*plain, *whole], scores.values[1].tolist(), strict=True))

    def agrees(value: float, name: str) -> None:
        assert math.isclose(value, batch[name], abs_tol=1e-12), (name, value, batch[name])

    for function, name in names.items():
        agrees(function(ranking, grades, k), name)
    agrees(calipers.reciprocal_rank(ranking, grades), "mrr")
    agrees(calipers.average_precision(ranking, grades), "map")
    agrees(calipers.ndcg_at_k(ranking, grades, k, gain="exp"), whole[2])
    counts = calipers.confusion_at_k(ranking, grades, k, corpus_size=50)
    assert [float(n or 0) for n in counts] == [batch[f"{count}@{k}"] for count in COUNTS]
    assert sum(n or 0 for n in counts) == 50
