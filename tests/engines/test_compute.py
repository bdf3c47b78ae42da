"""The metrics over whole runs equal the plain reference, query by query."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from tests.reference import REFERENCE, expected
from tests.strategies import ALL_METRICS, BY_ID, World, worlds


def test_every_metric_has_a_reference() -> None:
    assert set(REFERENCE) == {definition.name for definition in BY_ID}


@given(
    worlds,
    st.sampled_from(["input", "trec"]),
    st.sampled_from(["zero", "exclude"]),
    st.sampled_from(["exclude", "zero"]),
)
def test_equal_to_the_reference(world: World, ties: Any, missing: Any, unanswerable: Any) -> None:
    scores = calipers.evaluate(
        ground_truth=world.ground_truth_value(),
        run=world.run_value(),
        metrics=ALL_METRICS,
        corpus_size=1000,
        ties=ties,
        missing=missing,
        unanswerable=unanswerable,
    )
    for name, row in zip(scores.queries["query"], scores.values.tolist(), strict=True):
        query = world.query(name, ties)
        for metric, found in zip(ALL_METRICS, row, strict=True):
            wanted = expected(metric, query, scores.policy, missing=name not in world.run)
            shown = (name, str(metric), found, wanted)
            assert math.isnan(found) == (wanted is None), shown
            assert wanted is None or math.isclose(found, wanted, abs_tol=1e-12), shown


@settings(max_examples=15)
@given(worlds, st.integers(1, 3))
def test_some_queries_at_a_time_have_the_values_of_all_at_once(world: World, at_once: int) -> None:
    pair = calipers.read(
        ground_truth=world.ground_truth_value(), run=world.run_value(), corpus_size=1000
    )
    whole = compute(pair.matches, ALL_METRICS, pair.policy)
    codes = np.arange(pair.matches.n_queries)
    parts = [
        compute(pair.matches.some(codes[at : at + at_once])[0], ALL_METRICS, pair.policy)
        for at in range(0, codes.size, at_once)
    ]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("highest", [2000.0, 1e308])
def test_huge_grades_stay_in_bounds(highest: float) -> None:
    scores = calipers.evaluate(
        ground_truth={"q": {"a": highest, "b": highest, "c": highest / 2}},
        run={"q": ["c", "a", "b"]},
        metrics="ndcg,ndcg@2,ndcg(gain=exp),err,rbp",
    )
    assert all(0 < value < 1 for value in scores.values[0])


def test_tiny_grades_count() -> None:
    scores = calipers.evaluate(
        ground_truth={"q": {"a": 5e-324}}, run={"q": ["a"]}, metrics="ndcg,ndcg(gain=exp),rbp"
    )
    assert scores.values[0].tolist() == [1.0, pytest.approx(1.0), pytest.approx(0.2)]


@pytest.mark.parametrize("highest", [2000.0, 1e308])
def test_a_sum_of_gains_beyond_all_numbers_is_an_error(highest: float) -> None:
    with pytest.raises(InvalidInput, match=r"too large for dcg\(gain=exp\).* use smaller grades"):
        calipers.evaluate(
            ground_truth={"q": {"a": highest}}, run={"q": ["a"]}, metrics="dcg(gain=exp)"
        )


@pytest.mark.parametrize("beta", ["1e-200", "1e200"])
def test_extreme_beta_is_precision_or_recall(beta: str) -> None:
    scores = calipers.evaluate(
        ground_truth={"q": ["a", "b", "c"]}, run={"q": ["a"]}, metrics=f"f@2(beta={beta})"
    )
    assert scores.values[0, 0] == pytest.approx(1 / 2 if beta == "1e-200" else 1 / 3)


def test_tn_needs_the_size_of_the_corpus() -> None:
    given_pair: dict[str, Any] = {
        "ground_truth": {"q": ["a", "b"]},
        "run": {"q": ["a", "x"]},
        "metrics": "tn@2",
    }
    with pytest.raises(InvalidInput, match=r"size of the corpus is not known.*corpus_size=N"):
        calipers.evaluate(**given_pair)
    with pytest.raises(InvalidInput, match=r"given as 2, but .* alone make 3"):
        calipers.evaluate(**given_pair, corpus_size=2)
    assert calipers.evaluate(**given_pair, corpus_size=9)["tn@2"].mean == 6


@pytest.mark.parametrize("name", ["err", "rbp"])
def test_gmax_cannot_be_below_a_grade(name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"gmax in {name}.* is 2.*holds the grade 3"):
        calipers.evaluate(ground_truth={"q": {"a": 3}}, run={"q": ["a"]}, metrics=f"{name}(gmax=2)")
