"""How much of a ranking was judged: the two shares never add up to more than all results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import evaluate

K = 4
ids = st.sampled_from("abcdef")
grades = st.sampled_from([-2, -1, 0, 1, 2])


@given(st.lists(ids, min_size=1, max_size=8), st.dictionaries(ids, grades, max_size=6))
def test_every_result_is_judged_or_not(ranking, judgements) -> None:
    scores = evaluate(
        ground_truth={"q": judgements},
        run={"q": ranking},
        metrics=f"judged@{K},unjudged@{K}",
        nothing_in_common="zero",
        unanswerable="zero",
    )
    shown = min(K, len(ranking))
    judged = scores[f"judged@{K}"].mean * shown
    unjudged = scores[f"unjudged@{K}"].mean * K
    assert judged + unjudged == pytest.approx(shown)
    known = {item for item in ranking[:K] if judgements.get(item, -1) >= 0}
    assert judged == pytest.approx(len(known))


def test_a_text_of_negative_grade_is_not_judged() -> None:
    quotes = [{"quote": "one"}, {"quote": "two", "grade": -1}]
    texts = [{"text": "one two"}, {"text": "two"}, {"text": "three"}, {"text": "two, again"}]
    record = {"query": "q", "retrieved": texts, "ground_truth": quotes}
    scores = evaluate([record], metrics=f"judged@{K},unjudged@{K}")
    assert scores[f"judged@{K}"].mean == 0.25
    assert scores[f"unjudged@{K}"].mean == 0.75
